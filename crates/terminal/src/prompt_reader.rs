//! Asks a person at a terminal: the thin shell around [`PromptGate`].
//!
//! Owns the only place where an answer is read from a terminal. Nothing reads ahead: a thread reads while a prompt
//! settles or is drawn, and ends with it, so that input for no prompt stays in the terminal until the next prompt drops
//! it. Invariant: the terminal is as it was once the prompt is over, also when the program is ended before that.

use std::io::{self, IsTerminal};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use tokio::sync::oneshot;

use palyra_screen_text::count;

use super::interrupts::{InterruptListener, UndoId};
use super::output::{NoteKind, Output};
use super::prompt_gate::{GateAction, GateReply, PromptGate};

/// In a script: the prompt gets no reply.
#[cfg(any(test, feature = "capture"))]
const UNANSWERED: &str = "<unanswered>";
/// Said above a prompt before which something was typed.
const TYPED_TOO_EARLY: &str =
    "what was typed before this question is dropped, since it cannot be an answer to it";

/// How the answer to a prompt is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingMode {
    /// As a line that is shown while it is typed.
    Shown,
    /// As a line that is not shown.
    Hidden,
    /// By another reader, such as an editor, once the prompt is drawn.
    Elsewhere,
}

/// What came of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptReply {
    /// A line without its end, typed after the prompt was drawn.
    Line(String),
    /// The end of the input.
    End,
    /// The prompt is drawn; the answer is read elsewhere.
    Drawn,
}

/// A person at a terminal who is asked one thing at a time.
pub struct PromptReader {
    output: Output,
    interrupts: InterruptListener,
    open: Option<OpenPrompt>,
    /// Between prompts nothing that is typed is shown: it would move the cursor out of a marked row.
    _silent: Option<KeptTerminal<'static>>,
    #[cfg(any(test, feature = "capture"))]
    script: Option<std::collections::VecDeque<String>>,
}

/// Its thread ends when this is dropped.
struct OpenPrompt {
    reply: oneshot::Receiver<io::Result<PromptReply>>,
    /// Closed to withdraw the prompt.
    cancel: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for OpenPrompt {
    fn drop(&mut self) {
        self.cancel = None;
        // A panic there has put the terminal back.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl PromptReader {
    /// Asks at the terminal of this process; `None` where no person can be asked.
    pub fn of_process(output: &Output, interrupts: &InterruptListener) -> Option<Self> {
        // A job in the background is stopped by the system when it changes the terminal or reads from it.
        let asks = io::stdin().is_terminal() && output.can_ask() && is_in_foreground();
        asks.then(|| Self {
            output: output.clone(),
            interrupts: interrupts.clone(),
            open: None,
            _silent: KeptTerminal::silent(interrupts).ok(),
            #[cfg(any(test, feature = "capture"))]
            script: None,
        })
    }

    /// Answers each prompt with the next line of a script, and those after it with the end of the input.
    #[cfg(any(test, feature = "capture"))]
    pub fn scripted(output: &Output, lines: &[&str]) -> Self {
        let script = Some(lines.iter().map(|line| (*line).to_owned()).collect());
        Self {
            output: output.clone(),
            interrupts: InterruptListener::default(),
            open: None,
            _silent: None,
            script,
        }
    }

    /// Begins a prompt in place of the one before. It is drawn after a silence; what was typed until then is dropped.
    ///
    /// # Errors
    /// What the system says when it has no pipe left.
    pub fn begin(&mut self, text: &str, reading: ReadingMode) -> io::Result<()> {
        self.open = None;
        let (cancelled, cancel) = rustix::pipe::pipe()?;
        let (sender, reply) = oneshot::channel();
        let (output, interrupts, text) = (self.output.clone(), self.interrupts.clone(), text.to_owned());
        #[cfg(any(test, feature = "capture"))]
        if let Some(script) = &mut self.script {
            output.prompt(&text);
            match script.pop_front() {
                // It stays open until it is withdrawn.
                Some(line) if line == UNANSWERED => std::mem::forget(sender),
                line => drop(sender.send(Ok(line.map_or(PromptReply::End, PromptReply::Line)))),
            }
            self.open = Some(OpenPrompt { reply, cancel: Some(cancel), thread: None });
            return Ok(());
        }
        let thread = std::thread::spawn(move || {
            let asked = TerminalPrompt::begin(stdin(), &interrupts, reading)
                .and_then(|mut prompt| prompt.converse(&text, &output, &cancelled));
            // Nobody waits for a prompt that was withdrawn.
            let _ = asked.transpose().map(|reply| sender.send(reply));
        });
        self.open = Some(OpenPrompt { reply, cancel: Some(cancel), thread: Some(thread) });
        Ok(())
    }

    /// Returns what came of the prompt; never where there is none. Dropping the future loses nothing.
    ///
    /// # Errors
    /// What the system says of the terminal.
    pub async fn replied(&mut self) -> io::Result<PromptReply> {
        let Some(open) = &mut self.open else { return std::future::pending().await };
        let reply = (&mut open.reply).await;
        self.open = None;
        reply.unwrap_or_else(|_| Err(io::Error::other("the prompt's thread ended without a reply")))
    }

    /// Ends the prompt without an answer.
    pub fn withdraw(&mut self) {
        if self.open.take().is_some() {
            self.output.close_line();
        }
    }

    /// Asks for one line; `None` at Ctrl-C and at the end of the input.
    ///
    /// # Errors
    /// What the system says of the terminal.
    pub async fn ask(&mut self, text: &str, reading: ReadingMode) -> io::Result<Option<String>> {
        self.interrupts.begin("");
        self.begin(text, reading)?;
        let interrupts = self.interrupts.clone();
        let reply = tokio::select! {
            biased;
            () = interrupts.pressed() => None,
            reply = self.replied() => Some(reply?),
        };
        self.withdraw();
        Ok(match reply {
            Some(PromptReply::Line(line)) => Some(line),
            Some(PromptReply::End | PromptReply::Drawn) => {
                self.output.close_line();
                None
            }
            None => None,
        })
    }
}

/// Returns whether this process may use the terminal on its standard input, as a shell's jobs in the foreground may.
fn is_in_foreground() -> bool {
    // Without job control there is no background.
    tcgetpgrp(stdin()).map_or(true, |foreground| foreground == getpgrp())
}

/// Says that input is piped in which a question on the command line does not take; reads none and waits for none.
#[must_use]
pub fn unread_input_note() -> Option<String> {
    let bytes = if io::stdin().is_terminal() { 0 } else { rustix::io::ioctl_fionread(stdin()).unwrap_or(0) };
    let what = count(bytes, "byte");
    (bytes > 0).then(|| {
        format!(
            "standard input has {what} that are not read; a `-` behind the question sends them along: palyra run \"...\" -"
        )
    })
}

/// A terminal that is put back as it was: when this is dropped, and when the program is ended before that.
struct KeptTerminal<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
    interrupts: InterruptListener,
    undo: UndoId,
}

impl Drop for KeptTerminal<'_> {
    fn drop(&mut self) {
        restore(self.terminal, &self.before);
        self.interrupts.forget(self.undo);
    }
}

impl<'a> KeptTerminal<'a> {
    fn keep(terminal: BorrowedFd<'a>, interrupts: &InterruptListener) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let at_parting = before.clone();
        let undo = interrupts.at_parting(Box::new(move || restore(stdin(), &at_parting)));
        Ok(Self { terminal, before, interrupts: interrupts.clone(), undo })
    }
}

impl KeptTerminal<'static> {
    /// The terminal on standard input, which shows nothing of what is typed.
    fn silent(interrupts: &InterruptListener) -> io::Result<Self> {
        let kept = Self::keep(stdin(), interrupts)?;
        let mut modes = kept.before.clone();
        modes.local_modes.remove(LocalModes::ECHO);
        modes.local_modes.remove(LocalModes::ECHONL);
        tcsetattr(kept.terminal, OptionalActions::Now, &modes)?;
        Ok(kept)
    }
}

/// The terminal while a prompt settles and is answered.
struct TerminalPrompt<'a> {
    kept: KeptTerminal<'a>,
    reading: ReadingMode,
    gate: PromptGate,
    /// Whether input came before the prompt was drawn.
    typed_too_early: bool,
}

impl<'a> TerminalPrompt<'a> {
    fn begin(
        terminal: BorrowedFd<'a>,
        interrupts: &InterruptListener,
        reading: ReadingMode,
    ) -> io::Result<Self> {
        let kept = KeptTerminal::keep(terminal, interrupts)?;
        Ok(Self { kept, reading, gate: PromptGate::default(), typed_too_early: false })
    }

    /// Asks until there is a reply; `None` when the prompt was withdrawn.
    fn converse(
        &mut self,
        text: &str,
        output: &Output,
        cancelled: &OwnedFd,
    ) -> io::Result<Option<PromptReply>> {
        let began = Instant::now();
        let actions = self.gate.ask(began.elapsed());
        self.perform(actions, text, output)?;
        loop {
            // Taken first: what arrived before this moment is seen by the look.
            let now = began.elapsed();
            let mut ready = self.look(cancelled, Some(Duration::ZERO))?;
            if ready == ReadyEvent::Nothing {
                let actions = self.gate.nothing_to_read(now);
                self.perform(actions, text, output)?;
                if self.gate.is_open() && self.reading == ReadingMode::Elsewhere {
                    output.close_line();
                    return Ok(Some(PromptReply::Drawn));
                }
                ready = self.look(cancelled, self.gate.wait(began.elapsed()))?;
            }
            match ready {
                ReadyEvent::Cancelled => {
                    self.gate.withdraw();
                    return Ok(None);
                }
                ReadyEvent::Nothing => {}
                ReadyEvent::Input => {
                    let mut bytes = [0_u8; 4096];
                    // A terminal that is gone has ended.
                    let count = rustix::io::read(self.kept.terminal, &mut bytes).unwrap_or(0);
                    self.typed_too_early |= !self.gate.is_open();
                    if let Some(reply) = self.gate.received(&bytes[..count], began.elapsed()) {
                        return Ok(Some(self.reply(reply, output)));
                    }
                }
            }
        }
    }

    fn reply(&self, reply: GateReply, output: &Output) -> PromptReply {
        match reply {
            GateReply::End => PromptReply::End,
            GateReply::Answer(line) => {
                match self.reading {
                    ReadingMode::Hidden => output.close_line(),
                    ReadingMode::Shown | ReadingMode::Elsewhere => output.line_was_typed(),
                }
                PromptReply::Line(String::from_utf8_lossy(&line).into_owned())
            }
        }
    }

    fn perform(&mut self, actions: &[GateAction], text: &str, output: &Output) -> io::Result<()> {
        for action in actions {
            match action {
                GateAction::Discard => self.discard()?,
                GateAction::Draw => {
                    if std::mem::take(&mut self.typed_too_early) {
                        output.note(NoteKind::Info, TYPED_TOO_EARLY);
                    }
                    output.prompt(text);
                }
                GateAction::Mark if self.reading == ReadingMode::Elsewhere => output.mark_prompt(),
                GateAction::Mark => output.mark_answer_row(),
            }
        }
        Ok(())
    }

    /// Drops all input, and sets how the terminal takes what follows.
    fn discard(&mut self) -> io::Result<()> {
        let reads_lines = self.gate.is_open() && self.reading != ReadingMode::Elsewhere;
        let mut modes = self.kept.before.clone();
        if reads_lines {
            modes.local_modes.insert(LocalModes::ICANON | LocalModes::ECHO);
        } else {
            modes.local_modes.remove(LocalModes::ICANON);
            modes.special_codes[SpecialCodeIndex::VMIN] = 1;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        }
        if !reads_lines || self.reading == ReadingMode::Hidden {
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
        }
        if !self.gate.is_open() {
            // As long as input is gathered into lines, a part of one is not seen.
            tcsetattr(self.kept.terminal, OptionalActions::Now, &modes)?;
            self.typed_too_early |= self.has_input();
        }
        tcsetattr(self.kept.terminal, OptionalActions::Flush, &modes)?;
        // It is enough for a success that some of it was changed.
        let shows = tcgetattr(self.kept.terminal)?.local_modes.contains(LocalModes::ECHO);
        if shows && self.reading == ReadingMode::Hidden {
            return Err(io::Error::other("the terminal goes on showing what is typed"));
        }
        Ok(())
    }

    fn has_input(&self) -> bool {
        let mut watched = [PollFd::new(&self.kept.terminal, PollFlags::IN)];
        matches!(poll(&mut watched, Some(&Timespec::default())), Ok(1..))
    }

    /// Waits for input or the end of the prompt, at most so long.
    fn look(&self, cancelled: &OwnedFd, limit: Option<Duration>) -> io::Result<ReadyEvent> {
        let mut watched =
            [PollFd::new(&self.kept.terminal, PollFlags::IN), PollFd::new(cancelled, PollFlags::IN)];
        let limit = limit.map(|limit| Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        });
        // A look that was interrupted has seen nothing.
        while let Err(error) = poll(&mut watched, limit.as_ref()) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
        Ok(match (watched[1].revents().is_empty(), watched[0].revents().is_empty()) {
            (false, _) => ReadyEvent::Cancelled,
            (true, false) => ReadyEvent::Input,
            (true, true) => ReadyEvent::Nothing,
        })
    }
}

/// The terminal may be gone; then there is no place for an error.
fn restore(terminal: BorrowedFd<'_>, before: &Termios) {
    let _ = tcsetattr(terminal, OptionalActions::Now, before);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadyEvent {
    Nothing,
    Input,
    Cancelled,
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_would_be_shown_is_not_asked() {
        let nothing = std::fs::File::open("/dev/null").unwrap();
        assert!(
            TerminalPrompt::begin(nothing.as_fd(), &InterruptListener::default(), ReadingMode::Hidden)
                .is_err()
        );
    }
}
