//! The program that shows text which is longer than the screen, page by page.
//!
//! Invariant: it gets the text on standard input only; where it does not start, the caller writes the text itself.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};
use std::process::{Command, Stdio};

/// The variables that name one, the first that is set counts.
const VARIABLES: [&str; 2] = ["PALYRA_PAGER", "PAGER"];
const USUAL: &str = "less";
/// What `less` and `lv` do where the environment does not say: end on one screen, keep colours, leave the text there.
const SETTINGS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];
/// A shell ends with one of these where it cannot run a command.
const NOT_RUN: [i32; 2] = [126, 127];

/// A command for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pager {
    command: OsString,
}

impl Pager {
    /// Returns the one that the environment names; none where that is empty or `cat`.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let command = VARIABLES.into_iter().find_map(variable).unwrap_or_else(|| USUAL.into());
        let is_none = command.is_empty() || command == OsStr::new("cat");
        (!is_none).then_some(Self { command })
    }

    /// Shows a text and waits until it was read.
    ///
    /// # Errors
    /// Where the program does not run; then nothing was shown.
    pub fn show(&self, text: &str) -> io::Result<()> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&self.command).stdin(Stdio::piped());
        let unset = SETTINGS.iter().filter(|(name, _)| std::env::var_os(name).is_none());
        shell.envs(unset.map(|(name, value)| (*name, *value)));
        let mut child = shell.spawn()?;
        // A reader that leaves early closes the pipe.
        let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
        let status = child.wait()?;
        if status.code().is_some_and(|code| NOT_RUN.contains(&code)) {
            return Err(ErrorKind::NotFound.into());
        }
        written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_it() {
        let of = |set: &[(&str, &str)]| {
            let found = Pager::of(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            });
            found.map(|pager| pager.command.into_string().unwrap())
        };
        assert_eq!(of(&[]).as_deref(), Some("less"));
        assert_eq!(of(&[("PAGER", "more -d")]).as_deref(), Some("more -d"));
        assert_eq!(of(&[("PAGER", "more"), ("PALYRA_PAGER", "most")]).as_deref(), Some("most"));
        for none in ["", "cat"] {
            assert_eq!(of(&[("PAGER", "more"), ("PALYRA_PAGER", none)]), None);
        }
    }

    #[test]
    fn a_program_that_does_not_run_shows_nothing_and_one_that_leaves_early_is_no_error() {
        let pager = |command: &str| Pager { command: command.into() };
        assert!(pager("/nothing/here 2>/dev/null").show("text").is_err());
        pager("head -c 1 >/dev/null").show(&"text\n".repeat(100_000)).unwrap();
        pager("exit 3").show("text").unwrap();
    }
}
