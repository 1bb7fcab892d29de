//! Standard output and standard error, as verbs see them.
//!
//! Owns cleaning for terminals, colour, and closed pipes. Text of models goes out raw where no terminal
//! is, so that pipes and files get exactly what was said; notes are always cleaned.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_types::ErrorCode;
use serde_json::Value;

use super::clean::{Cleaner, clean_line, escape_json};
use crate::failure::{Failure, error_lines};

const NOTE_CHARS_MAX: usize = 600;
const DIM: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const PLAIN: &str = "\u{1b}[0m";
const ERASE_LINE: &str = "\r\u{1b}[K";

/// What kind of note it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Something happened.
    Info,
    /// Something went well.
    Good,
    /// Something did not.
    Bad,
    /// Something wants attention.
    Doubt,
}

impl Mark {
    /// Returns its sign.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Info => "·",
            Self::Good => "✓",
            Self::Bad => "✗",
            Self::Doubt => "!",
        }
    }

    fn color(self) -> &'static str {
        match self {
            Self::Info => DIM,
            Self::Good => GREEN,
            Self::Bad => RED,
            Self::Doubt => YELLOW,
        }
    }
}

/// Where one of the two streams goes.
pub(crate) struct Sink {
    pub(crate) writer: Box<dyn Write + Send>,
    pub(crate) terminal: bool,
    pub(crate) color: bool,
}

/// Both streams; clones write to the same.
#[derive(Clone)]
pub(crate) struct Output {
    streams: Arc<Mutex<Streams>>,
}

struct Streams {
    out: Sink,
    err: Sink,
    cleaner: Cleaner,
    /// Standard output stands in the middle of a line.
    line_open: bool,
    /// A progress line stands on standard error.
    progress: bool,
}

impl Output {
    /// The streams of this process.
    pub(crate) fn of_process() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self::new(
            Sink { writer: Box::new(io::stdout()), terminal: out, color: out && wanted },
            Sink { writer: Box::new(io::stderr()), terminal: err, color: err && wanted },
        )
    }

    /// Streams of any kind.
    pub(crate) fn new(out: Sink, err: Sink) -> Self {
        let streams = Streams { out, err, cleaner: Cleaner::default(), line_open: false, progress: false };
        Self { streams: Arc::new(Mutex::new(streams)) }
    }

    /// Writes a piece of a model's text to standard output, at once.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        let mut streams = self.lock();
        let text = if streams.out.terminal { streams.cleaner.piece(text) } else { text.to_owned() };
        if let Some(last) = text.chars().next_back() {
            streams.line_open = last != '\n';
        }
        streams.write_out(&text)
    }

    /// Ends the line that text left open; on a terminal a note may have done so.
    pub(crate) fn end_line(&self) -> Result<(), Failure> {
        let mut streams = self.lock();
        let open = std::mem::take(&mut streams.line_open);
        if open || !streams.out.terminal { streams.write_out("\n") } else { Ok(()) }
    }

    /// Writes a line of our own to standard output; what it quotes is cleaned on a terminal.
    pub(crate) fn line(&self, line: &str) -> Result<(), Failure> {
        let mut streams = self.lock();
        let line = if streams.out.terminal { Cleaner::default().piece(line) } else { line.to_owned() };
        streams.line_open = false;
        streams.write_out(&format!("{line}\n"))
    }

    /// Writes a value as one line of JSON to standard output.
    pub(crate) fn json(&self, value: &Value) -> Result<(), Failure> {
        self.lock().write_out(&format!("{}\n", escape_json(&value.to_string())))
    }

    /// Writes a note to standard error.
    pub(crate) fn note(&self, mark: Mark, text: &str) {
        let mut streams = self.lock();
        let line = format!("{} {}", mark.sign(), clean_line(text, NOTE_CHARS_MAX));
        streams.write_err(&line, mark.color());
    }

    /// Writes an error and its mend to standard error.
    pub(crate) fn error(&self, code: ErrorCode, message: &str) {
        self.error_lines(&error_lines(code, message));
    }

    /// Writes why a verb failed to standard error.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.error_lines(&failure.lines());
    }

    fn error_lines(&self, lines: &[String]) {
        let mut streams = self.lock();
        for (at, line) in lines.iter().enumerate() {
            let line = Cleaner::default().piece(line);
            streams.write_err(&line, if at == 0 { RED } else { DIM });
        }
    }

    /// Asks for a line on standard error, where that is a terminal.
    pub(crate) fn prompt(&self, prompt: &str) {
        let mut streams = self.lock();
        if streams.err.terminal {
            streams.close_line();
            let _ = write!(streams.err.writer, "{prompt}");
            let _ = streams.err.writer.flush();
            streams.line_open = true;
        }
    }

    /// Takes note that a person ended the line of a prompt.
    pub(crate) fn line_was_typed(&self) {
        self.lock().line_open = false;
    }

    /// Shows how far long work is, where standard error is a terminal; the next note replaces it.
    pub(crate) fn progress(&self, text: &str) {
        let mut streams = self.lock();
        if streams.err.terminal {
            streams.progress = true;
            let _ = write!(streams.err.writer, "{ERASE_LINE}{}", clean_line(text, 70));
            let _ = streams.err.writer.flush();
        }
    }

    /// Returns whether standard error is a terminal.
    pub(crate) fn can_ask(&self) -> bool {
        self.lock().err.terminal
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    fn write_out(&mut self, text: &str) -> Result<(), Failure> {
        self.erase_progress();
        let written = self.out.writer.write_all(text.as_bytes()).and_then(|()| self.out.writer.flush());
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::Output(error),
        })
    }

    /// Nobody to tell when standard error is closed.
    fn write_err(&mut self, line: &str, color: &str) {
        self.erase_progress();
        self.close_line();
        let _ = if self.err.color {
            writeln!(self.err.writer, "{color}{line}{PLAIN}")
        } else {
            writeln!(self.err.writer, "{line}")
        };
        let _ = self.err.writer.flush();
    }

    /// On a terminal both streams share the line; a note begins its own.
    fn close_line(&mut self) {
        if self.line_open && self.out.terminal && self.err.terminal {
            let _ = writeln!(self.err.writer);
            self.line_open = false;
        }
    }

    fn erase_progress(&mut self) {
        if std::mem::take(&mut self.progress) {
            let _ = write!(self.err.writer, "{ERASE_LINE}");
            let _ = self.err.writer.flush();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What was written to one stream.
    #[derive(Clone, Default)]
    pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

    impl Written {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct ClosedPipe;

    impl Write for ClosedPipe {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn sink(writer: impl Write + Send + 'static, terminal: bool) -> Sink {
        Sink { writer: Box::new(writer), terminal, color: false }
    }

    /// An output and what is written to its two streams.
    pub(crate) fn captured(terminal: bool) -> (Output, Written, Written) {
        let (out, err) = (Written::default(), Written::default());
        (Output::new(sink(out.clone(), terminal), sink(err.clone(), terminal)), out, err)
    }

    #[test]
    fn a_pipe_gets_exactly_what_was_said_and_a_terminal_what_is_harmless() {
        for (terminal, expect) in [(false, "\u{1b}[31mred\r\n"), (true, "␛[31mred\n")] {
            let (output, out, err) = captured(terminal);
            output.text("\u{1b}[31m").unwrap();
            output.text("red\r").unwrap();
            output.text("\n").unwrap();
            output.note(Mark::Info, "a \u{1b}]0;title\u{7} note\nof two lines");
            assert_eq!(out.text(), expect);
            assert_eq!(err.text(), "· a ␛]0;title␇ note of two lines\n");
        }
    }

    #[test]
    fn on_a_terminal_a_note_begins_its_own_line() {
        let (output, out, err) = captured(true);
        output.text("half a line").unwrap();
        output.note(Mark::Good, "12 B");
        output.end_line().unwrap();
        assert_eq!((out.text().as_str(), err.text().as_str()), ("half a line", "\n✓ 12 B\n"));
        output.text("more").unwrap();
        output.end_line().unwrap();
        assert_eq!(out.text(), "half a linemore\n");
    }

    #[test]
    fn a_note_does_not_stick_to_a_prompt() {
        let (output, _, err) = captured(true);
        output.prompt("> ");
        output.note(Mark::Info, "interrupted");
        output.prompt("> ");
        output.line_was_typed();
        output.note(Mark::Info, "typed");
        assert_eq!(err.text(), "> \n· interrupted\n> · typed\n");
    }

    #[test]
    fn colour_is_only_ours() {
        let (out, err) = (Written::default(), Written::default());
        let colored = Sink { writer: Box::new(err.clone()), terminal: true, color: true };
        let output = Output::new(sink(out, true), colored);
        output.error(ErrorCode::Internal, "a\u{1b}[5m");
        assert!(err.text().starts_with("\u{1b}[31merror[PLY-9001]: a␛[5m\u{1b}[0m\n"), "{}", err.text());
    }

    #[test]
    fn a_closed_pipe_is_told_apart() {
        let output = Output::new(sink(ClosedPipe, false), sink(Written::default(), false));
        assert!(matches!(output.text("x"), Err(Failure::OutputClosed)));
        output.note(Mark::Info, "still fine");
    }

    #[test]
    fn progress_is_replaced_and_only_for_terminals() {
        let (output, _, err) = captured(true);
        output.progress("10 of 20");
        output.note(Mark::Good, "done");
        assert_eq!(err.text(), "\r\u{1b}[K10 of 20\r\u{1b}[K✓ done\n");
        let (output, _, err) = captured(false);
        output.progress("10 of 20");
        assert_eq!(err.text(), "");
    }
}
