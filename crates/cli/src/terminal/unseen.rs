//! What a person types without seeing it, and what a pipe holds instead.
//!
//! Invariant: the terminal shows what is typed again once this is left, also by Ctrl-C.

use std::io::{self, IsTerminal, Read};
use std::os::fd::BorrowedFd;

use palyra_types::Redacted;
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::interrupts::Interrupts;
use super::output::Output;
use super::typed_lines::TypedLines;

/// Bytes that are read from a pipe, at most; a value is refused long before.
const PIPED_BYTES_MAX: u64 = 128 * 1024;

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Unseen {
    /// It was given.
    Given(Redacted<String>),
    /// Two answers that should be the same are not.
    Differ,
    /// Ctrl-C, or the end of the input.
    Left,
}

/// How often a person is asked for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    Once,
    /// It cannot be looked at, so it is typed twice.
    Twice,
}

/// Asks for a text: at a terminal without showing it, from a pipe all there is but for one end of a line.
///
/// # Errors
/// What the system says of the pipe, or that it holds no text; that the terminal goes on showing what is typed, and then
/// nothing was asked.
pub(crate) async fn ask_unseen(
    output: &Output,
    interrupts: &Interrupts,
    what: &str,
    times: Times,
) -> io::Result<Unseen> {
    if !io::stdin().is_terminal() {
        return tokio::task::spawn_blocking(piped).await.map_err(io::Error::other)?;
    }
    let _quiet = Quiet::keep(interrupts, stdin())?;
    interrupts.begin("");
    let mut lines = TypedLines::of_process();
    let mut given: Option<String> = None;
    let rounds: &[&str] = match times {
        Times::Once => &[""],
        Times::Twice => &["", " once more"],
    };
    for round in rounds {
        output.prompt(&format!("{what}{round}: "));
        let line = tokio::select! {
            line = lines.next() => line,
            () = interrupts.pressed() => None,
        };
        output.close_line();
        match (line, &given) {
            (None, _) => return Ok(Unseen::Left),
            (Some(line), Some(before)) if line != *before => return Ok(Unseen::Differ),
            (Some(line), _) => given = Some(line),
        }
    }
    Ok(given.map_or(Unseen::Left, |given| Unseen::Given(Redacted::new(given))))
}

fn piped() -> io::Result<Unseen> {
    let mut text = String::new();
    io::stdin().lock().take(PIPED_BYTES_MAX).read_to_string(&mut text)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    Ok(Unseen::Given(Redacted::new(line.to_owned())))
}

/// A terminal that shows nothing of what is typed.
struct Quiet<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
    interrupts: Interrupts,
}

impl<'a> Quiet<'a> {
    /// # Errors
    /// When the terminal goes on showing it.
    fn keep(interrupts: &Interrupts, terminal: BorrowedFd<'a>) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        quiet.local_modes.remove(LocalModes::ECHONL);
        let undo = before.clone();
        interrupts.at_parting(Some(Box::new(move || restore(stdin(), &undo))));
        let kept = Self { terminal, before, interrupts: interrupts.clone() };
        tcsetattr(terminal, OptionalActions::Flush, &quiet)?;
        // It is enough for a success that some of it was changed.
        if tcgetattr(terminal)?.local_modes.contains(LocalModes::ECHO) {
            return Err(io::Error::other("the terminal goes on showing what is typed"));
        }
        Ok(kept)
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        restore(self.terminal, &self.before);
        self.interrupts.at_parting(None);
    }
}

fn restore(terminal: BorrowedFd<'_>, before: &Termios) {
    // Nobody to tell when the terminal is gone.
    let _ = tcsetattr(terminal, OptionalActions::Now, before);
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_would_be_shown_is_not_asked() {
        let nothing = std::fs::File::open("/dev/null").unwrap();
        assert!(Quiet::keep(&Interrupts::default(), nothing.as_fd()).is_err());
    }
}
