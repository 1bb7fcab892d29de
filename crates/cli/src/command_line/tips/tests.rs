//! What is said after each command line of the table, and after others.

use std::ffi::OsString;

use super::*;
use crate::command_line::parse;

fn error(words: &[&str]) -> String {
    let typed = ["palyra"].iter().chain(words).map(OsString::from).collect();
    parse(typed).map(|(line, _)| format!("{:?}", line.verb)).unwrap_err().to_string()
}

/// Returns a command of the table as it is typed.
fn filled(command: &str) -> Vec<&str> {
    command.split(' ').map(|word| if ["*", "@"].contains(&word) { "XN8H9D" } else { word }).collect()
}

#[test]
fn each_command_line_of_the_table_names_one_that_exists() {
    for (typed, command, effect) in TYPED {
        let command = filled(command);
        let parsed = parse(command.iter().map(OsString::from).collect());
        let incomplete = |error: &clap::Error| {
            [ErrorKind::MissingRequiredArgument, ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand]
                .contains(&error.kind())
        };
        assert!(parsed.as_ref().err().is_none_or(incomplete), "{command:?}");
        let told = error(&filled(typed));
        let tip = format!("tip: `{}` {effect}\n", command.join(" "));
        assert!(told.contains(&tip) && told.matches("tip:").count() == 1, "{typed}: {told}");
    }
}

#[test]
fn a_tip_names_the_word_that_was_typed_as_a_shell_takes_it() {
    assert!(error(&["sessions", "search", "my moon"]).contains("--search 'my moon'`"));
    assert!(error(&["--no-start", "chat", "notes", "--json"]).contains("`palyra chat --session notes`"));
    assert!(error(&["undo", "that"]).contains("`palyra runs undo last`"));
    assert!(error(&["undo", "XN8H9D"]).contains("`palyra runs undo XN8H9D`"));
}

#[test]
fn no_tip_names_a_verb_that_acts_or_an_option_that_is_not_alike() {
    for (words, unwanted) in [
        (&["sessions", "serch", "moon"][..], "archive"),
        (&["sessions", "archiv", "x"], "archive"),
        (&["journal", "erasing"], "erase"),
        (&["chat", "--continues"], "--connect"),
        (&["resumed"], "serve"),
        (&["approve", "no", "--whole"], "-- --whole"),
        (&["runs", "cancl"], "cancel"),
    ] {
        let told = error(words);
        assert!(!told.contains(unwanted), "{words:?}: {told}");
    }
    for (words, wanted) in [
        (&["statsu"][..], "the nearest verb is 'status'"),
        (&["rum"], "the nearest verb is 'run'"),
        (&["runs", "lits"], "'list'"),
        (&["sesions", "list"], "'sessions'"),
        (&["runs", "list", "--jsn"], "'--json'"),
        (&["run", "what", "--is-this"], "'-- --is-this'"),
        (&["xyzzy"], "`palyra run xyzzy` asks a model"),
    ] {
        let told = error(words);
        assert!(told.contains(wanted), "{words:?}: {told}");
    }
}
