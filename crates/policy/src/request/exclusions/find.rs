//! Which patterns of a `find` only exclude paths.
//!
//! Owns the part of the expression language that is read: tests joined by and. Invariant: an unknown word, and
//! every way to join other than and, leaves out nothing, except a leading `-path PATTERN -prune -o`.

use palyra_types::shell_line::LineWord;

use super::is_pattern;

/// Options before the paths.
const LEADING: [&str; 3] = ["-H", "-L", "-P"];
/// Tests that compare a path or a name with a pattern.
const PATTERN_TESTS: [&str; 8] =
    ["-path", "-wholename", "-ipath", "-iwholename", "-name", "-iname", "-regex", "-iregex"];
/// Tests of a whole path by a pattern of a shell: only these can exclude all that is below a folder.
const PATH_TESTS: [&str; 4] = ["-path", "-wholename", "-ipath", "-iwholename"];
/// Options of the whole search, which one word follows.
const DEPTHS: [&str; 2] = ["-maxdepth", "-mindepth"];
/// Other tests and options that one word follows.
const ONE_WORD: [&str; 20] = [
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-inum",
    "-links",
    "-mmin",
    "-mtime",
    "-newer",
    "-perm",
    "-printf",
    "-regextype",
    "-size",
    "-type",
    "-user",
];
/// Tests, options and ways to print without a value.
const ALONE: [&str; 16] = [
    "-a",
    "-and",
    "-empty",
    "-executable",
    "-follow",
    "-ls",
    "-mount",
    "-nogroup",
    "-nouser",
    "-print",
    "-print0",
    "-readable",
    "-true",
    "-writable",
    "-xdev",
    "-daystart",
];

/// What an expression has been read to mean so far.
#[derive(Default)]
struct Expression {
    /// Negated patterns.
    excluded: Vec<usize>,
    /// The pattern of a leading `-path PATTERN -prune -o`.
    pruned: Option<usize>,
    /// Whether it acts on what it finds.
    acts: bool,
}

/// Returns which words of a `find` are patterns of what is excluded, in order.
pub(super) fn excluded_patterns(words: &[LineWord]) -> Vec<usize> {
    let is_leading = |word: &&LineWord| LEADING.contains(&word.text.as_str());
    let leading = 1 + words[1..].iter().take_while(is_leading).count();
    let is_path = |word: &&LineWord| !word.text.starts_with(['-', '(', '!', ',']);
    let mut at = leading + words[leading..].iter().take_while(is_path).count();
    while words.get(at).is_some_and(|word| DEPTHS.contains(&word.text.as_str())) {
        at += 2;
    }
    let mut expression = Expression::default();
    if let Some((pattern, behind)) = leading_prune(words, at) {
        expression.pruned = Some(pattern);
        at = behind;
    }
    while at < words.len() {
        match expression.read_term(words, at) {
            Some(behind) => at = behind,
            None => return Vec::new(),
        }
    }
    expression.patterns(words)
}

/// Reads `-path PATTERN -prune -o`: the pattern, and where the rest of the expression begins.
fn leading_prune(words: &[LineWord], at: usize) -> Option<(usize, usize)> {
    let [test, pattern, prune, or] = words.get(at..at + 4)? else { return None };
    let is_prune = PATTERN_TESTS.contains(&test.text.as_str()) && prune.text == "-prune";
    let is_or = matches!(or.text.as_str(), "-o" | "-or");
    (is_prune && is_or && is_pattern(pattern, &pattern.text)).then_some((at + 1, at + 4))
}

impl Expression {
    /// Reads one test, option or action, and returns where the next begins; `None` where it is not known.
    fn read_term(&mut self, words: &[LineWord], at: usize) -> Option<usize> {
        let text = words[at].text.as_str();
        let one_word = |at: usize| words.get(at).map(|_| at + 1);
        if matches!(text, "!" | "-not") {
            words.get(at + 1).filter(|test| PATTERN_TESTS.contains(&test.text.as_str()))?;
            let pattern = words.get(at + 2)?;
            if !self.acts && is_pattern(pattern, &pattern.text) {
                self.excluded.push(at + 2);
            }
            return Some(at + 3);
        }
        if [&PATTERN_TESTS[..], &ONE_WORD, &DEPTHS].iter().any(|known| known.contains(&text)) {
            return one_word(at + 1);
        }
        if ALONE.contains(&text) {
            return Some(at + 1);
        }
        self.acts = true;
        match text {
            "-delete" => Some(at + 1),
            "-exec" => {
                let end = words[at..].iter().position(|word| matches!(word.text.as_str(), ";" | "+"))?;
                Some(at + end + 1)
            }
            _ => None,
        }
    }

    /// Returns the patterns that keep the expression away from what they name. An expression that acts needs a pattern for all
    /// that is below the folder, and `-delete` undoes `-prune`.
    fn patterns(self, words: &[LineWord]) -> Vec<usize> {
        if !self.acts {
            return self.pruned.into_iter().chain(self.excluded).collect();
        }
        let is_whole =
            |at: &usize| PATH_TESTS.contains(&words[at - 1].text.as_str()) && words[*at].text.ends_with("/*");
        if self.pruned.is_some() { Vec::new() } else { self.excluded.into_iter().filter(is_whole).collect() }
    }
}
