//! What `palyra help` shows: the verbs by task, on one screen.

use std::fmt::Write as _;

use clap::Command;

/// The tasks in the order of a first day, and the verbs for each.
pub(super) const TASKS: [(&str, &[&str]); 4] = [
    ("Ask", &["chat", "run", "runs", "sessions"]),
    ("Allow", &["approve", "policy", "tools"]),
    ("Look", &["status", "logs", "doctor", "journal", "explain"]),
    ("Set up", &["init", "model", "config", "serve", "admin"]),
];

const BOLD: &str = "\u{1b}[1m";
const PLAIN: &str = "\u{1b}[0m";

/// Returns the overview of a command line.
pub(super) fn overview(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!(
        "{about}\n  palyra                       chat in this folder, at a terminal\n  \
         palyra \"QUESTION\" [OPTIONS]  ask once: short for palyra run \"QUESTION\"\n\n"
    );
    for (task, verbs) in TASKS {
        for (at, name) in verbs.iter().enumerate() {
            let task = if at == 0 { task } else { "" };
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "{BOLD}{task:<8}{PLAIN}{name:<10}{about}");
        }
    }
    text + "\n`palyra help VERB` shows a verb (also api, backup, budget, console, memory,\n\
            usage, version), `help options` the options of all, `help topics` other topics.\n"
}

/// Returns the options that every verb takes, a line each.
pub(crate) fn shared_options(command: &Command) -> Vec<String> {
    let mut lines: Vec<String> = command
        .get_arguments()
        .filter(|argument| argument.is_global_set())
        .map(|argument| {
            let long = argument.get_long().unwrap_or_default();
            let value = argument.get_value_names().filter(|_| argument.get_action().takes_values());
            let value = value.and_then(|names| names.first()).map(|name| format!(" <{name}>"));
            let option = format!("--{long}{}", value.unwrap_or_default());
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            format!("{option:<18} {help}")
        })
        .collect();
    lines.push(format!("{:<18} Print the help of the verb", "-h, --help"));
    lines
}
