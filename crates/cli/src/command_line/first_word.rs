//! A command line that names no verb: one quoted question is `run`.

use std::ffi::OsString;

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

/// Returns what was typed from the first word on, without the options of every verb that take a value.
pub(super) fn own_words(arguments: &[OsString], definition: &Command) -> Vec<String> {
    let mut at = first_word(arguments, definition).unwrap_or(1);
    let mut words = Vec::new();
    while let Some(argument) = arguments.get(at) {
        let text = argument.to_string_lossy();
        at += if takes_next(&text, definition) {
            2
        } else {
            words.push(text.into_owned());
            1
        };
    }
    words
}

fn takes_next(option: &str, definition: &Command) -> bool {
    let Some(name) = option.strip_prefix("--").filter(|name| !name.contains('=')) else { return false };
    definition
        .get_arguments()
        .any(|argument| argument.get_long() == Some(name) && argument.get_action().takes_values())
}
