//! The words behind `palyra run`: a question, a file among them, a verb of another command.
//!
//! Owns how they are read where they may not be what the person had in mind. Starts nothing.

/// Returns the word of a question right after a file of `--attach` and names a file itself.
#[must_use]
pub fn file_after_attach<'a>(
    line: &'a [String],
    words: &[String],
    is_file: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let after = line.iter().enumerate().filter_map(|(at, word)| match word.as_str() {
        "--attach" => line.get(at + 2),
        word if word.starts_with("--attach=") => line.get(at + 1),
        _ => None,
    });
    after.map(String::as_str).find(|word| words.iter().any(|said| said == word) && is_file(word))
}

/// Returns the command that a question of one or two words looks like: a verb of `palyra runs`.
#[must_use]
pub fn verb_of_runs(words: &[String], definition: &clap::Command) -> Option<String> {
    let [verb, rest @ ..] = words else { return None };
    let is_short = rest.len() <= 1 && rest.iter().all(|word| !word.contains(char::is_whitespace));
    definition.find_subcommand("runs")?.find_subcommand(verb).filter(|_| is_short)?;
    Some(format!("palyra runs {}", words.join(" ")))
}

/// Joins the words with spaces; standard input goes into a paragraph of its own.
#[must_use]
pub fn joined_input(words: &[String], typed: Option<&str>) -> String {
    let said: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "-").collect();
    let said = said.join(" ");
    match typed.map(|typed| typed.trim_end_matches('\n')) {
        Some(typed) if said.is_empty() => typed.to_owned(),
        Some(typed) => format!("{said}\n\n{typed}"),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_looks_like_a_verb_of_runs_is_noted() {
        let verbs = ["list", "undo", "show"].map(clap::Command::new);
        let definition =
            clap::Command::new("palyra").subcommand(clap::Command::new("runs").subcommands(verbs));
        for (words, command) in [
            (&["list"][..], Some("palyra runs list")),
            (&["undo", "last"], Some("palyra runs undo last")),
            (&["list", "all the files here"], None),
            (&["show", "me", "this"], None),
            (&["hello"], None),
            (&[], None),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(verb_of_runs(&words, &definition).as_deref(), command, "{words:?}");
        }
    }

    #[test]
    fn a_file_after_a_file_of_attach_is_no_part_of_the_question() {
        for (line, file) in [
            (&["palyra", "run", "what is this?", "--attach", "logo.png", "notes.txt"][..], Some("notes.txt")),
            (&["palyra", "run", "what is this?", "--attach=logo.png", "notes.txt"], Some("notes.txt")),
            (&["palyra", "run", "read", "notes.txt", "--attach", "logo.png"], None),
            (&["palyra", "run", "--attach", "logo.png", "what is this?"], None),
            (&["palyra", "run", "--attach", "logo.png", "--attach", "notes.txt", "hello"], None),
        ] {
            let line: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
            let words: Vec<String> =
                line[2..].iter().filter(|word| !word.starts_with("--")).cloned().collect();
            let is_file = |word: &str| word == "notes.txt";
            assert_eq!(file_after_attach(&line, &words, is_file), file, "{line:?}");
        }
    }

    #[test]
    fn words_and_standard_input_are_joined() {
        for (words, typed, expect) in [
            (&["what", "is", "this?"][..], None, "what is this?"),
            (&["-"], Some("piped\n"), "piped"),
            (&[], Some("piped\n"), "piped"),
            (&["review this:", "-"], Some("a diff\n"), "review this:\n\na diff"),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(joined_input(&words, typed), expect);
        }
    }
}
