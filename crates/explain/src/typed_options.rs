//! Options that people type and no verb has, and the command lines to type instead.
//!
//! Owns the table and writes the command line again as it was typed, but for the option. Knows no parser.

use palyra_screen_text::shell_word;

use crate::typed_commands::completed_command;

/// What to write in the place of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MeantOption {
    /// This one, perhaps with a value of its own.
    Named(&'static str),
    /// None: the verb does it anyway, or in another way.
    LeftOut,
}

/// A verb, options that people type behind it, what to write in their place, and what the command line does then. With a
/// question alone the verb is `run`.
type OptionRow = (&'static [&'static str], &'static [&'static str], MeantOption, &'static str);

const TYPED_OPTIONS: &[OptionRow] = &[
    (
        &["run"],
        &["--file", "--files", "--image", "--images", "--picture", "-f", "-i"],
        MeantOption::Named("--attach"),
        "attaches the file to the question",
    ),
    (&["run"], &["-m"], MeantOption::Named("--model"), "asks that model"),
    (
        &["run"],
        &["--yes", "-y", "--auto-approve", "--force"],
        MeantOption::LeftOut,
        "asks at its prompt before a call that needs it; elsewhere `palyra approve yes last` lets that call run",
    ),
    (
        &["run"],
        &["--quiet", "-q", "--silent"],
        MeantOption::LeftOut,
        "prints the answer to standard output, and all else to standard error",
    ),
    (
        &["run"],
        &["--print", "-p"],
        MeantOption::LeftOut,
        "asks once, prints the answer to standard output, and ends",
    ),
    (
        &["run"],
        &["--dry-run"],
        MeantOption::Named("--approve never"),
        "denies each call that would ask first; `palyra runs undo last --dry-run` shows what a run changed in files",
    ),
    (
        &["run"],
        &["--no-wait", "--detach", "--background"],
        MeantOption::Named("--approve later"),
        "asks a model, and ends at the first call that asks: that call waits for `palyra approve`",
    ),
    (
        &["sessions", "branch"],
        &["--name", "--title"],
        MeantOption::Named("--label"),
        "branches the conversation, and gives the branch that title",
    ),
    (&["logs"], &["--tail"], MeantOption::Named("--lines"), "begins so many lines before the end"),
    (&["runs", "list"], &["-n", "--last"], MeantOption::Named("--limit"), "lists so many runs, newest first"),
    (
        &["runs", "list"],
        &["--all", "-a"],
        MeantOption::Named("--limit 1000"),
        "lists more of the runs; those that are over are listed anyway",
    ),
    (
        &["runs", "tail"],
        &["--follow", "-f"],
        MeantOption::LeftOut,
        "shows the run, and what comes until it ends",
    ),
];

/// Returns the command line with what to write in the place of an option that no verb has, and what that does. `without_verb` are the
/// words of a question that names no verb.
#[must_use]
pub fn with_meant_option(
    option: &str,
    typed: &[String],
    without_verb: Option<&[String]>,
) -> Option<(String, &'static str)> {
    let asked: Vec<String> = match without_verb {
        Some(words) if words.iter().any(|word| word == "run") => return None,
        Some(words) => [&["run".to_owned()][..], words].concat(),
        None => typed.to_vec(),
    };
    let (verb, _, meant, effect) = TYPED_OPTIONS
        .iter()
        .find(|(verb, options, ..)| begins_with(&asked, verb) && options.contains(&option))?;
    let (verb, rest) = asked.split_at(verb.len());
    let mut written: Vec<String> = verb.to_vec();
    // What was typed before the verb is not among the words.
    if !rest.iter().any(|word| value_of(option, word).is_some()) {
        written.extend(meant.words(""));
    }
    for word in rest {
        match value_of(option, word) {
            Some(value) => written.extend(meant.words(value)),
            None => written.push(word.clone()),
        }
    }
    let completed = completed_command(&written).map(|(command, _)| command);
    let shown: Vec<String> = written.iter().map(|word| shell_word(word)).collect();
    Some((completed.unwrap_or_else(|| format!("palyra {}", shown.join(" "))), *effect))
}

impl MeantOption {
    /// Returns how it is written, with the value that the other one had in the same word, if any.
    fn words(self, value: &str) -> Vec<String> {
        match self {
            Self::Named(name) => {
                let words = name.split(' ').chain([value]);
                words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
            }
            Self::LeftOut => Vec::new(),
        }
    }
}

fn begins_with(typed: &[String], verb: &[&str]) -> bool {
    typed.len() >= verb.len() && typed.iter().zip(verb).all(|(typed, verb)| typed == verb)
}

/// Returns the value in the same word, or an empty text, where the word is the option.
fn value_of<'w>(option: &str, word: &'w str) -> Option<&'w str> {
    let rest = word.strip_prefix(option)?;
    let is_long = option.starts_with("--");
    rest.strip_prefix('=').or_else(|| (rest.is_empty() || !is_long).then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(typed: &[&str]) -> Vec<String> {
        typed.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn an_option_that_no_verb_has_is_written_as_the_one_that_was_meant() {
        for (option, typed, wanted) in [
            (
                "--file",
                &["run", "--file", "a b.png", "what is it?"][..],
                "run --attach 'a b.png' 'what is it?'",
            ),
            ("--file", &["run", "what is it?", "--file=a.png"], "run 'what is it?' --attach a.png"),
            ("-f", &["run", "-f", "a.png"], "run --attach a.png"),
            ("--yes", &["run", "--yes", "create q.txt"], "run 'create q.txt'"),
            ("--yes", &["run", "create q.txt"], "run 'create q.txt'"),
            ("--dry-run", &["run", "--dry-run", "create q.txt"], "run --approve never 'create q.txt'"),
            ("--tail", &["logs", "--tail", "3"], "logs --lines 3"),
            ("--no-wait", &["run", "--no-wait", "create q.txt"], "run --approve later 'create q.txt'"),
            ("--detach", &["run", "create q.txt", "--detach"], "run 'create q.txt' --approve later"),
            (
                "--name",
                &["sessions", "branch", "3B7Q2K@5", "--name", "half way"],
                "sessions branch 3B7Q2K@5 --label 'half way'",
            ),
            ("-n", &["runs", "list", "-n3"], "runs list --limit 3"),
            ("--all", &["runs", "list", "--all"], "runs list --limit 1000"),
            ("--follow", &["runs", "tail", "--follow"], "runs tail last"),
            ("--follow", &["runs", "tail", "--follow", "3B7Q2K"], "runs tail 3B7Q2K"),
        ] {
            let (command, _) = with_meant_option(option, &words(typed), None).expect(wanted);
            assert_eq!(command, format!("palyra {wanted}"));
        }
        for (option, typed) in
            [("--file", &["chat"][..]), ("--files-of", &["run", "x"]), ("-n", &["runs", "show"])]
        {
            assert_eq!(with_meant_option(option, &words(typed), None), None, "{option}");
        }
    }

    #[test]
    fn an_option_before_a_question_without_a_verb_is_one_of_run() {
        for (option, typed, wanted) in [
            ("-m", &["demo", "hello"][..], "palyra run --model demo hello"),
            ("-p", &["hello"], "palyra run hello"),
        ] {
            let typed = words(typed);
            assert_eq!(with_meant_option(option, &typed, Some(&typed)).expect(option).0, wanted);
        }
        let behind = words(&["a.png", "run", "hello"]);
        assert_eq!(with_meant_option("--file", &behind, Some(&behind)), None);
    }
}
