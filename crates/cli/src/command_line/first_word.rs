//! A command line that names no verb: one quoted question is `run`.

use std::ffi::{OsStr, OsString};

use clap::Command;

/// Returns the arguments with `run` before a first word that holds a blank: no verb does, and a quoted question does.
pub(super) fn with_verb(mut arguments: Vec<OsString>, definition: &Command) -> Vec<OsString> {
    let question = first_word(&arguments, definition)
        .filter(|at| arguments[*at].to_string_lossy().trim().contains(char::is_whitespace));
    if let Some(at) = question {
        arguments.insert(at, "run".into());
    }
    arguments
}

/// Returns the position of the first word that is neither an option nor the value of one.
fn first_word(arguments: &[OsString], definition: &Command) -> Option<usize> {
    let mut at = 1;
    while let Some(argument) = arguments.get(at) {
        let text = argument.to_string_lossy();
        if text == "--" {
            return None;
        }
        if !text.starts_with('-') {
            return Some(at);
        }
        at += if takes_next(&text, definition) { 2 } else { 1 };
    }
    None
}

/// Returns the first word if it is not a verb.
pub(super) fn unknown_verb(arguments: &[OsString], definition: &Command) -> Option<String> {
    let word: &OsStr = arguments.get(first_word(arguments, definition)?)?;
    let word = word.to_str()?;
    definition.find_subcommand(word).is_none().then(|| word.to_owned())
}

fn takes_next(option: &str, definition: &Command) -> bool {
    let Some(name) = option.strip_prefix("--").filter(|name| !name.contains('=')) else { return false };
    definition
        .get_arguments()
        .any(|argument| argument.get_long() == Some(name) && argument.get_action().takes_values())
}
