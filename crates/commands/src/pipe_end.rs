//! Which program of a pipe an exit code is of.
//!
//! Pure: reads the words of a command. Invariant: says nothing where the line is more than one pipe, or not certain.

use palyra_types::shell_line::{line_for_shell, read_line_words, read_shell_line};

/// Returns what follows the exit code of a command: which program of its pipe that is of, where that is certain.
pub(crate) fn of_last_program(argv: &[String]) -> String {
    last_program(argv)
        .map_or_else(String::new, |name| format!(" (of `{name}`, the last program of the pipe)"))
}

/// Returns the last program of a line that is one pipe; `None` where another one can decide the exit code.
fn last_program(argv: &[String]) -> Option<String> {
    if argv.iter().any(|word| word.contains("pipefail")) {
        return None;
    }
    let line = line_for_shell(argv)?;
    let read = read_shell_line(line);
    if read.unread.is_some() || read.commands.len() < 2 {
        return None;
    }
    let mut rest = line.trim();
    for (at, command) in read.commands.iter().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix('|').filter(|rest| !rest.starts_with('|'))?;
            rest = rest.strip_prefix('&').unwrap_or(rest).trim_start();
        }
        rest = rest.strip_prefix(command.as_str())?.trim_start();
    }
    let words = read_line_words(line)?.pop().filter(|_| rest.is_empty())?;
    let program = words.into_iter().next().filter(|word| word.is_certain())?.text;
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

#[cfg(test)]
mod tests;
