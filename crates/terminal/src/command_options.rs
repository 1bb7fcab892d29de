//! Commands that messages name, with the options that lead them to the same daemon.
//!
//! Owns where such a command begins in a text, and which verbs take the options. Knows no parser.

use std::borrow::Cow;
use std::ffi::OsString;

use palyra_screen_text::shell_word;

/// Options of every verb that choose the daemon or its configuration, and take a value.
const STATE_DIR: &str = "--state-dir";
const CONFIG: &str = "--config";
const CONNECT: &str = "--connect";
/// How a message begins a command to type.
const COMMAND_BEGIN: &str = "`palyra ";
/// Verbs that ask no daemon and read no configuration.
const WITHOUT_DAEMON: [&str; 3] = ["explain", "help", "version"];
/// Verbs that a token of a program may call over a network. The others are about the machine of the daemon, and approvals
/// are decided there.
const OVER_NETWORK: [&str; 6] = ["budget", "chat", "memory", "run", "runs", "sessions"];

/// The options of the command line at work that choose its daemon, as they are typed again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandOptions {
    /// Each with a blank behind it.
    typed: String,
    is_remote: bool,
}

impl CommandOptions {
    /// Reads the arguments of the process. A path is made whole, so that it fits in every folder.
    #[must_use]
    pub fn of_arguments(arguments: &[OsString]) -> Self {
        let mut options = Self::default();
        let mut rest = arguments.iter().skip(1);
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if text == "--" {
                break;
            }
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (text.into_owned(), None),
            };
            if ![STATE_DIR, CONFIG, CONNECT].contains(&name.as_str()) {
                continue;
            }
            let value = value.or_else(|| rest.next().map(|value| value.to_string_lossy().into_owned()));
            let Some(value) = value else { break };
            options.is_remote |= name == CONNECT;
            let value = if name == CONNECT { value } else { whole_path(value) };
            options.typed.push_str(&format!("{name} {} ", shell_word(&value)));
        }
        options
    }

    /// Returns a text with these options in each command that it names.
    #[must_use]
    pub fn complete<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.typed.is_empty() || !text.contains(COMMAND_BEGIN) {
            return text.into();
        }
        let mut parts = text.split(COMMAND_BEGIN);
        let mut completed = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            completed.push_str(COMMAND_BEGIN);
            if self.fits(part) {
                completed.push_str(&self.typed);
            }
            completed.push_str(part);
        }
        completed.into()
    }

    /// Returns whether a command, given from its verb on, takes the options.
    fn fits(&self, command: &str) -> bool {
        let end = |c: char| c.is_whitespace() || c == '`';
        let verb = command.split(end).next().unwrap_or_default();
        let is_verb = verb.starts_with(|c: char| c.is_ascii_lowercase());
        is_verb && !WITHOUT_DAEMON.contains(&verb) && (!self.is_remote || OVER_NETWORK.contains(&verb))
    }
}

fn whole_path(path: String) -> String {
    let whole = std::path::absolute(&path).ok().and_then(|path| path.into_os_string().into_string().ok());
    whole.unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> CommandOptions {
        let arguments: Vec<OsString> = ["palyra"].iter().chain(arguments).map(OsString::from).collect();
        CommandOptions::of_arguments(&arguments)
    }

    #[test]
    fn a_command_that_a_message_names_has_the_options_in_use() {
        for (arguments, text, wanted) in [
            (
                &["--state-dir", "/a b", "run", "x"][..],
                "waits; `palyra approve yes 3B7Q` or `palyra runs cancel 3B7Q`",
                "waits; `palyra --state-dir '/a b' approve yes 3B7Q` or `palyra --state-dir '/a b' runs cancel 3B7Q`",
            ),
            (
                &["status", "--config=/c.toml"],
                "`palyra admin stop`, see `palyra explain PLY-1401`",
                "`palyra --config /c.toml admin stop`, see `palyra explain PLY-1401`",
            ),
            (
                &["--connect", "http://127.0.0.1:1", "runs", "list"],
                "`palyra run \"...\"`; `palyra approve yes 3B7Q`",
                "`palyra --connect http://127.0.0.1:1 run \"...\"`; `palyra approve yes 3B7Q`",
            ),
            (&["run", "--", "--state-dir", "/a"], "`palyra chat`", "`palyra chat`"),
            (&["run", "x"], "`palyra chat`", "`palyra chat`"),
            (&["--state-dir", "/a", "run"], "`palyra` and palyra runs", "`palyra` and palyra runs"),
        ] {
            assert_eq!(options(arguments).complete(text), wanted);
        }
        let here = std::env::current_dir().unwrap();
        let relative = options(&["--state-dir", "state", "run"]);
        assert!(relative.complete("`palyra chat`").contains(here.join("state").to_str().unwrap()));
    }
}
