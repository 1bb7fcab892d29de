//! Which words of a command only exclude paths: `grep --exclude-dir=.git`, `find -not -path './.git/*'`.
//!
//! Owns the exclusion options of programs that are known here. Knows no place: the caller judges the words that are left.
//! Invariant: a word is left out only where it is certain that the program takes it for a pattern of what to exclude. A
//! line that is not read to its end, an unknown program, a variable or an option that is not understood leaves out nothing.
//! Begin at [`without_exclusions`].

mod find;

use std::ops::Range;

use palyra_types::shell_line::{LineWord, is_shell_line, line_for_shell, read_line_words};

/// Options of programs before a pattern of paths to leave out.
struct ExclusionOptions {
    programs: &'static [&'static str],
    /// Long options: `--exclude=PATTERN`, `--exclude PATTERN`.
    long: &'static [&'static str],
    /// Short options: `-I PATTERN`.
    short: &'static [&'static str],
    /// How a pattern begins that excludes; one of another kind includes.
    begin: &'static str,
    /// Letters of short options that take no value.
    flags: &'static str,
    /// Options with which the program changes what is excluded, starts another program or writes where the next word says:
    /// a long one by its beginning, short ones by a letter.
    refuses: (&'static [&'static str], &'static str),
    /// The letter that makes of the first operand a pattern of what to leave out.
    inverts: Option<char>,
}

const PROGRAMS: [ExclusionOptions; 7] = [
    ExclusionOptions {
        programs: &["grep", "egrep", "fgrep"],
        long: &["--exclude", "--exclude-dir"],
        short: &[],
        begin: "",
        flags: "EFGPivwxclLqsoanhHrRIUzbT",
        refuses: (&[], ""),
        inverts: Some('v'),
    },
    ExclusionOptions {
        programs: &["rg"],
        long: &["--glob", "--iglob"],
        short: &["-g"],
        begin: "!",
        flags: "acFHhiIlLnNopPqsSuUvVwxz0",
        refuses: (&["--pre"], ""),
        inverts: None,
    },
    ExclusionOptions {
        programs: &["fd", "fdfind"],
        long: &["--exclude"],
        short: &["-E"],
        begin: "",
        flags: "HIusiglaLpF10",
        refuses: (&["--exec"], "xX"),
        inverts: None,
    },
    ExclusionOptions {
        programs: &["tree"],
        long: &[],
        short: &["-I"],
        begin: "",
        flags: "adflxsiupghDFqNQvrtcUSnCAJX",
        refuses: (&["--output"], "oR"),
        inverts: None,
    },
    ExclusionOptions {
        programs: &["du"],
        long: &["--exclude"],
        short: &[],
        begin: "",
        flags: "abchHkLlmPsSxD0",
        refuses: (&[], ""),
        inverts: None,
    },
    ExclusionOptions {
        programs: &["rsync"],
        long: &["--exclude"],
        short: &[],
        begin: "",
        flags: "avqzrntuplogDPHAXSWcCKkLIdRmiE",
        refuses: (&["--delete-e"], ""),
        inverts: None,
    },
    ExclusionOptions {
        programs: &["diff"],
        long: &["--exclude"],
        short: &["-x"],
        begin: "",
        flags: "rqNuabBwiEsylcednptT",
        refuses: (&[], ""),
        inverts: None,
    },
];
/// Long options without a value, often before an exclusion.
const LONG_FLAGS: [&str; 18] = [
    "--all",
    "--archive",
    "--brief",
    "--compress",
    "--count",
    "--delete",
    "--dry-run",
    "--files",
    "--files-with-matches",
    "--hidden",
    "--human-readable",
    "--ignore-case",
    "--line-number",
    "--no-ignore",
    "--progress",
    "--recursive",
    "--summarize",
    "--verbose",
];

/// Returns the words of a command without those that only exclude something, in a line for a shell as well.
pub(crate) fn without_exclusions(argv: &[String]) -> Vec<String> {
    let mut left = argv.to_vec();
    let Some(line) = line_for_shell(argv) else {
        if !is_shell_line(argv) {
            let whole =
                |word: &String| LineWord { text: word.clone(), span: 0..word.len(), certain: word.len() };
            let words: Vec<LineWord> = argv.iter().map(whole).collect();
            excluding(&words).into_iter().for_each(|at| left[at].clear());
        }
        return left;
    };
    let (Some(at), Some(commands)) = (argv.iter().position(|word| word == line), read_line_words(line))
    else {
        return left;
    };
    let spans: Vec<Range<usize>> = commands
        .iter()
        .flat_map(|words| excluding(words).into_iter().map(|at| words[at].span.clone()))
        .collect();
    // From the end, so that what is before keeps its place.
    for span in spans.into_iter().rev() {
        left[at].replace_range(span, " ");
    }
    left
}

/// Returns which words of one command only exclude something, in order.
fn excluding(words: &[LineWord]) -> Vec<usize> {
    let Some((program, rest)) = words.split_first().filter(|(program, _)| program.is_certain()) else {
        return Vec::new();
    };
    if !rest.iter().all(is_one_kind) {
        return Vec::new();
    }
    if program.text == "find" {
        return find::excluded_patterns(words);
    }
    let known = PROGRAMS.iter().find(|known| known.programs.contains(&program.text.as_str()));
    known.map(|known| known.excluded(words)).unwrap_or_default()
}

/// Whether it is certain that a word is an operand, or which option it is: what a shell puts in for a pattern begins alike.
fn is_one_kind(word: &LineWord) -> bool {
    let begin = &word.text[..word.certain];
    word.is_certain() || (!begin.is_empty() && (!begin.starts_with(['-', '!', '(']) || begin.contains('=')))
}

/// Whether a word is one pattern, in every reading of the line.
fn is_pattern(word: &LineWord, text: &str) -> bool {
    word.is_certain() && !text.is_empty() && !text.contains(char::is_whitespace)
}

impl ExclusionOptions {
    fn excluded(&self, words: &[LineWord]) -> Vec<usize> {
        if words.iter().any(|word| self.is_refused(&word.text)) {
            return Vec::new();
        }
        let options = words.iter().take_while(|word| word.text != "--").count();
        (1..options).filter(|at| self.excludes(words, *at)).collect()
    }

    fn is_refused(&self, word: &str) -> bool {
        let (long, letters) = self.refuses;
        let is_cluster = word.starts_with('-') && !word.starts_with("--");
        long.iter().any(|begin| word.starts_with(begin))
            || (is_cluster && word[1..].contains(|letter| letters.contains(letter)))
    }

    /// Whether a word is an exclusion, with its option or as the value of the option before it.
    fn excludes(&self, words: &[LineWord], at: usize) -> bool {
        let text = words[at].text.as_str();
        let joined = self.long.iter().find_map(|long| text.strip_prefix(long)?.strip_prefix('='));
        if let Some(value) = joined {
            return value.starts_with(self.begin) && is_pattern(&words[at], value);
        }
        let before = words[at - 1].text.as_str();
        if at == 2 && self.is_inverting(before) {
            return !text.starts_with('-') && is_pattern(&words[at], text);
        }
        let is_value = at >= 2
            && (self.long.contains(&before) || self.short.contains(&before))
            && !self.may_take_value(&words[at - 2].text);
        is_value && text.starts_with(self.begin) && is_pattern(&words[at], text)
    }

    /// Whether an option makes of the operand behind it a pattern of what to leave out.
    fn is_inverting(&self, option: &str) -> bool {
        let letters = option.strip_prefix('-').unwrap_or_default();
        self.inverts.is_some_and(|letter| letters.contains(letter)) && !self.may_take_value(option)
    }

    /// Whether the word behind an option may be its value and no option of its own.
    fn may_take_value(&self, word: &str) -> bool {
        if !word.starts_with('-') || LONG_FLAGS.contains(&word) {
            return false;
        }
        if word.starts_with("--") {
            return !word.contains('=');
        }
        !word[1..].chars().all(|letter| self.flags.contains(letter))
    }
}
