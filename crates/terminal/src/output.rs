//! Standard output and standard error, as verbs see them.
//!
//! Owns cleaning for terminals, colour, and closed pipes. Text of models goes out raw where no terminal
//! is, so that pipes and files get exactly what was said; notes are always cleaned.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::builder::StyledStr;
use palyra_types::ErrorCode;
use serde_json::Value;

use palyra_screen_text::{
    ATTENTION, AmbiguousWidth, BAD, GOOD, LineLook, MODEL_MARK, Markdown, MarkedRows, PLAIN, RowFrame,
    RowWidth, StyleMode, TOOL_MARK, TextCleaner, USUAL, clean_line, clean_styled, diff_rows, escape_json,
    indented_rows, short_id, styled_rows,
};

use crate::command_options::CommandOptions;
use crate::output_error::{OutputError, error_json, error_lines};

/// The width of a terminal that does not say.
const COLUMNS_USUAL: usize = 80;
const NOTE_CHARS_MAX: usize = 600;
/// Columns of a page of the documentation, at most, on every terminal.
const PAGE_COLUMNS_MAX: usize = 80;
const ROW_UP: &str = "\u{1b}[A";
const ERASE_LINE: &str = "\r\u{1b}[K";

/// What kind of note it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// Something happened.
    Info,
    /// Something went well.
    Good,
    /// Something did not.
    Bad,
    /// Something wants attention.
    Doubt,
    /// Something is asked; no other line begins with its sign.
    Ask,
}

impl NoteKind {
    /// Returns its sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Info => "·",
            Self::Good => "✓",
            Self::Bad => "✗",
            Self::Doubt => "!",
            Self::Ask => "?",
        }
    }

    fn color(self) -> &'static str {
        match self {
            Self::Info => USUAL,
            Self::Good => GOOD,
            Self::Bad => BAD,
            Self::Doubt | Self::Ask => ATTENTION,
        }
    }
}

/// What a stream leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StreamKind {
    /// A pipe or a file.
    Plain,
    /// A terminal that takes no escape codes.
    Dumb,
    /// A terminal whose person wants no colours.
    Colorless,
    /// A terminal with colours.
    Colored,
}

impl StreamKind {
    fn of(terminal: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        match (terminal, dumb, wanted) {
            (false, _, _) => Self::Plain,
            (true, true, _) => Self::Dumb,
            (true, false, false) => Self::Colorless,
            (true, false, true) => Self::Colored,
        }
    }

    fn is_terminal(self) -> bool {
        self > Self::Plain
    }
}

/// The form of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorFormat {
    /// For people: lines.
    Text,
    /// For programs: one line of JSON.
    Json,
}

impl From<bool> for ErrorFormat {
    /// Reads the flag `--json`.
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// Where one of the two streams goes.
pub struct Sink {
    pub writer: Box<dyn Write + Send>,
    pub kind: StreamKind,
    /// How wide it is, where the terminal is not asked.
    pub columns: Option<usize>,
}

/// Both streams; clones write to the same.
#[derive(Clone)]
pub struct Output {
    streams: Arc<Mutex<Streams>>,
}

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

struct Streams {
    out: Sink,
    err: Sink,
    errors: ErrorFormat,
    cleaner: TextCleaner,
    /// A model's text on a terminal.
    markdown: Markdown,
    ambiguous: AmbiguousWidth,
    /// The last line of standard output is open.
    line_open: bool,
    /// Whether the prompt that was drawn last has several rows.
    prompt_wraps: bool,
    /// A progress line is on standard error.
    progress: bool,
    /// A program reads standard output and may write to the terminal of standard error at any time.
    piped_out: bool,
    /// What commands that messages name are typed with.
    options: CommandOptions,
}

impl Output {
    /// The streams of this process.
    pub fn of_process(errors: ErrorFormat) -> Self {
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self::new(
            Sink { writer: Box::new(io::stdout()), kind: StreamKind::of(out), columns: None },
            Sink { writer: Box::new(io::stderr()), kind: StreamKind::of(err), columns: None },
            errors,
        )
    }

    /// Streams of any kind.
    pub fn new(out: Sink, err: Sink, errors: ErrorFormat) -> Self {
        let streams = Streams {
            out,
            err,
            errors,
            cleaner: TextCleaner::default(),
            markdown: Markdown::default(),
            ambiguous: AmbiguousWidth::of(|name| std::env::var(name).ok()),
            line_open: false,
            prompt_wraps: false,
            progress: false,
            piped_out: false,
            options: CommandOptions::default(),
        };
        Self { streams: Arc::new(Mutex::new(streams)) }
    }

    /// Has the commands that messages name typed with these options.
    pub fn set_options(&self, options: CommandOptions) {
        self.lock().options = options;
    }

    /// Returns a message of our own with the options in use in each command that it names.
    pub fn completed(&self, text: &str) -> String {
        self.lock().options.complete(text).into_owned()
    }

    /// Returns a command to type, given from its verb on, with the options in use.
    pub fn command(&self, words: &str) -> String {
        self.completed(&format!("`palyra {words}`")).trim_matches('`').to_owned()
    }

    /// Writes a piece of a model's text to standard output: to a pipe at once and as it is; to a terminal in rows with
    /// marks, but for what may still look different, such as a word that is not complete.
    pub fn text(&self, text: &str) -> Result<(), OutputError> {
        let mut streams = self.lock();
        if text.is_empty() {
            return Ok(());
        }
        if streams.out.kind.is_terminal() {
            let text = streams.cleaner.piece(text);
            let frame = streams.frame();
            let rows = streams.markdown.piece(&text, frame);
            return streams.write_text(&rows);
        }
        streams.line_open = !text.ends_with('\n');
        streams.write_out(text)
    }

    /// Writes what was kept back of a model's text, because nothing has come for a while.
    pub fn flush_text(&self) -> Result<(), OutputError> {
        self.lock().flush_text()
    }

    /// Ends a model's text: the next one has nothing to do with it.
    pub fn end_text(&self) -> Result<(), OutputError> {
        let mut streams = self.lock();
        let frame = streams.frame();
        let rows = streams.markdown.end(frame);
        streams.write_text(&rows)
    }

    /// Writes text of our own to standard output, line breaks and all; what it quotes is cleaned on a terminal.
    pub fn verbatim(&self, text: &str) -> Result<(), OutputError> {
        let mut streams = self.lock();
        let text =
            if streams.out.kind.is_terminal() { TextCleaner::default().piece(text) } else { text.to_owned() };
        streams.write_out(&text)
    }

    /// Ends the line that text left open; on a terminal a note may have done so.
    pub fn end_line(&self) -> Result<(), OutputError> {
        let mut streams = self.lock();
        streams.flush_text()?;
        let open = streams.take_open_line();
        if open || !streams.out.kind.is_terminal() { streams.write_out("\n") } else { Ok(()) }
    }

    /// Writes a remark of our own between a model's texts, where those are watched.
    pub fn remark(&self, text: &str) -> Result<(), OutputError> {
        let mut streams = self.lock();
        streams.flush_text()?;
        let colored = streams.out.kind == StreamKind::Colored;
        let line = format!("{} {}", NoteKind::Doubt.sign(), clean_line(text, NOTE_CHARS_MAX));
        let line = streams.in_rows(&line, Stream::Out);
        let line = if colored { signed(&line, NoteKind::Doubt) } else { line };
        let open = streams.take_open_line();
        streams.write_out(&format!("{}{line}\n", if open { "\n" } else { "" }))
    }

    /// Writes a line of our own to standard output: on a terminal what it quotes is cleaned, and it wraps between words.
    pub fn line(&self, line: &str) -> Result<(), OutputError> {
        self.styled_line(line, "")
    }

    /// Writes such a line with the escape sequence of its look, where standard output has colours.
    pub fn styled_line(&self, line: &str, look: &str) -> Result<(), OutputError> {
        self.write_line(line, look, true)
    }

    /// Writes a line that is copied as it is, or that is cut to the width already: it never wraps by our own row ends.
    pub fn exact_line(&self, line: &str) -> Result<(), OutputError> {
        self.write_line(line, "", false)
    }

    fn write_line(&self, line: &str, look: &str, wraps: bool) -> Result<(), OutputError> {
        let streams = self.lock();
        let is_terminal = streams.out.kind.is_terminal();
        let line = if is_terminal { TextCleaner::default().piece(line) } else { line.to_owned() };
        let rows = if wraps { streams.in_rows(&line, Stream::Out) } else { line };
        drop(streams);
        self.write_rows_out(&rows, look)
    }

    fn write_rows_out(&self, rows: &str, look: &str) -> Result<(), OutputError> {
        let mut streams = self.lock();
        streams.flush_text()?;
        streams.take_open_line();
        let is_styled = !look.is_empty() && streams.out.kind == StreamKind::Colored;
        let rows = if is_styled { format!("{look}{rows}{PLAIN}") } else { rows.to_owned() };
        streams.write_out(&format!("{rows}\n"))
    }

    /// Writes lines of a diff to standard error, behind blanks, each with its look.
    pub fn diff<'l>(&self, lines: impl IntoIterator<Item = (&'l str, LineLook)>) {
        let mut streams = self.lock();
        for (line, look) in lines {
            streams.write_looked(line, look);
        }
    }

    /// Writes such a line to standard output.
    pub fn looked_line(&self, line: &str, look: LineLook) -> Result<(), OutputError> {
        if !look.is_of_diff() || !self.is_watched() {
            return self.styled_line(&format!("  {line}"), look.color());
        }
        let width = self.lock().width(Stream::Out);
        let rows = diff_rows(&TextCleaner::default().piece(line), width);
        self.write_rows_out(&rows, look.color())
    }

    /// Writes a value as one line of JSON to standard output.
    pub fn json(&self, value: &Value) -> Result<(), OutputError> {
        let mut streams = self.lock();
        streams.flush_text()?;
        streams.close_line();
        streams.write_out(&format!("{}\n", escape_json(&value.to_string())))
    }

    /// Writes a note to standard error.
    pub fn note(&self, mark: NoteKind, text: &str) {
        let mut streams = self.lock();
        // A question is shown as it was asked.
        let text = if mark == NoteKind::Ask { text.into() } else { streams.options.complete(text) };
        let line = format!("{} {}", mark.sign(), clean_line(&text, NOTE_CHARS_MAX));
        let rows = streams.in_rows(&line, Stream::Err);
        let rows = if streams.err.kind == StreamKind::Colored { signed(&rows, mark) } else { rows };
        streams.write_rows(&rows, USUAL);
    }

    /// Returns how rows of a page of the documentation are laid out, and the width of its program text, which wraps
    /// on a terminal only.
    pub fn page_frame(&self) -> (RowFrame<'static>, RowWidth) {
        let streams = self.lock();
        let frame = streams.frame();
        let is_terminal = streams.out.kind.is_terminal();
        let columns = if is_terminal { streams.out.columns() } else { PAGE_COLUMNS_MAX + 1 };
        let width = RowWidth::new(columns.min(PAGE_COLUMNS_MAX + 1), streams.ambiguous);
        let code = if is_terminal { width } else { RowWidth::new(usize::from(u16::MAX), streams.ambiguous) };
        (RowFrame { mark: "", width, ..frame }, code)
    }

    /// Returns whether text of so many lines is longer than the screen that standard output leads to.
    pub fn is_longer_than_screen(&self, lines: usize) -> bool {
        let streams = self.lock();
        let rows = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_row));
        streams.out.kind > StreamKind::Dumb && rows > 0 && lines >= rows
    }

    /// Writes the rows of a page to standard output.
    pub fn page(&self, rows: &str) -> Result<(), OutputError> {
        self.lock().write_out(rows)
    }

    /// Writes help to standard output.
    pub fn help(&self, text: &StyledStr) -> Result<(), OutputError> {
        let mut streams = self.lock();
        let text = styled(text, streams.out.kind);
        let text = streams.styled_in_rows(&text, Stream::Out);
        streams.write_out(&text)
    }

    /// Writes to standard error what is wrong with the command line, as its parser tells it.
    pub fn refused_arguments(&self, told: &StyledStr) {
        let mut streams = self.lock();
        let told = match streams.errors {
            // It repeats what was typed, or pasted.
            ErrorFormat::Text => {
                let told = clean_styled(&streams.options.complete(&styled(told, streams.err.kind)));
                streams.styled_in_rows(&told, Stream::Err)
            }
            ErrorFormat::Json => {
                let told = told.to_string();
                let message = told.lines().next().unwrap_or_default().trim_start_matches("error: ");
                let tip = told.lines().find_map(|line| line.trim_start().strip_prefix("tip: "));
                let tip = tip.map(|tip| streams.options.complete(tip).into_owned());
                let told = error_json(Some(ErrorCode::InvalidArgument), message, tip);
                format!("{}\n", escape_json(&told.to_string()))
            }
        };
        let _ = streams.err.writer.write_all(told.as_bytes()).and_then(|()| streams.err.writer.flush());
    }

    /// Writes to standard error what is asked: the first line behind the sign of a question, the others behind blanks;
    /// each line of text with its look.
    pub fn question<'l>(&self, lines: impl IntoIterator<Item = (&'l str, LineLook)>) {
        let mut streams = self.lock();
        let lines = lines.into_iter().flat_map(|(text, look)| text.split('\n').map(move |line| (line, look)));
        for (at, (line, look)) in lines.enumerate() {
            if at > 0 {
                streams.write_looked(line, look);
                continue;
            }
            let line = TextCleaner::default().piece(line);
            streams.write_err(&format!("{} {line}", NoteKind::Ask.sign()), NoteKind::Ask.color());
        }
    }

    /// Writes a line of several columns to standard error.
    pub fn row(&self, text: &str) {
        let mut streams = self.lock();
        let line = TextCleaner::default().piece(text);
        streams.write_err(&line, USUAL);
    }

    /// Writes a line that a tool printed to standard error, where that is a terminal: elsewhere no person reads it.
    pub fn printed(&self, line: &str) {
        let mut streams = self.lock();
        if streams.err.kind.is_terminal() {
            let line = TextCleaner::default().piece(line);
            let upto = line.char_indices().nth(NOTE_CHARS_MAX);
            let line = upto.map_or(line.clone(), |(at, _)| format!("{}…", &line[..at]));
            let mut line =
                MarkedRows::default().piece(&format!("{line}\n"), TOOL_MARK, streams.width(Stream::Err));
            line.pop();
            streams.write_rows(&line, USUAL);
        }
    }

    /// Writes an error and its mend to standard error.
    pub fn error(&self, code: ErrorCode, message: &str) {
        self.error_lines(&error_lines(code, message));
    }

    /// Writes why a command failed to standard error: the lines, or the value where errors are for programs.
    pub fn failure(&self, lines: &[String], value: Option<&Value>) {
        let errors = self.lock().errors;
        match errors {
            ErrorFormat::Text => self.error_lines(lines),
            ErrorFormat::Json => {
                let told = value.map(|told| escape_json(&self.completed_error(told).to_string()));
                told.into_iter().for_each(|told| self.lock().write_err(&told, ""));
            }
        }
    }

    /// Returns an error for programs with the options in use in each command that it names.
    fn completed_error(&self, error: &Value) -> Value {
        let mut error = error.clone();
        for name in ["message", "mend"] {
            if let Some(Value::String(text)) = error.pointer_mut(&format!("/error/{name}")) {
                *text = self.completed(text);
            }
        }
        error
    }

    /// Writes the lines of an error.
    pub fn error_lines(&self, lines: &[String]) {
        let mut streams = self.lock();
        for (at, line) in lines.iter().enumerate() {
            let line = TextCleaner::default().piece(&streams.options.complete(line));
            streams.write_err(&line, if at == 0 { BAD } else { USUAL });
        }
    }

    /// Asks for a line on standard error, where that is a terminal.
    pub fn prompt(&self, prompt: &str) {
        let mut streams = self.lock();
        if streams.err.kind.is_terminal() {
            let _ = streams.flush_text();
            streams.close_line();
            let prompt = streams.in_rows(prompt, Stream::Err);
            let _ = write!(streams.err.writer, "{prompt}");
            let _ = streams.err.writer.flush();
            streams.line_open = true;
            streams.prompt_wraps = prompt.contains('\n');
        }
    }

    /// Shows behind a prompt that its answer can be typed elsewhere.
    pub fn mark_prompt(&self) {
        self.lock().mark_prompt(" ");
    }

    /// Shows that the answer to a prompt can be typed here: behind it, or in a row of its own where it has several.
    pub fn mark_answer_row(&self) {
        let mut streams = self.lock();
        let mark = if streams.prompt_wraps { " \n? " } else { " " };
        streams.mark_prompt(mark);
    }

    /// Begins a new line where one is open.
    pub fn close_line(&self) {
        let mut streams = self.lock();
        streams.erase_progress();
        let _ = streams.flush_text();
        if streams.take_open_line() {
            let _ = streams.write_out("\n");
        }
    }

    /// Goes back to an empty row that a line editor left; only it knows where the cursor is.
    pub fn go_up(&self) {
        let mut streams = self.lock();
        let _ = write!(streams.out.writer, "{ROW_UP}").and_then(|()| streams.out.writer.flush());
    }

    /// Takes note that a person ended the line of a prompt.
    pub fn line_was_typed(&self) {
        self.lock().take_open_line();
    }

    /// Shows how far long work is, where standard error is a terminal; the next note replaces it.
    pub fn progress(&self, text: &str) {
        let mut streams = self.lock();
        let _ = streams.flush_text();
        // Where nothing can be erased, it would only pile up; and text that stands there stays.
        let taken = streams.line_open && streams.out.kind.is_terminal();
        if streams.err.kind > StreamKind::Dumb && !taken && !streams.piped_out {
            let chars_max = streams.err.columns().saturating_sub(2);
            streams.progress = true;
            let _ = write!(streams.err.writer, "{ERASE_LINE}{}", clean_line(text, chars_max));
            let _ = streams.err.writer.flush();
        }
    }

    /// Takes the progress line away.
    pub fn end_progress(&self) {
        self.lock().erase_progress();
    }

    /// Returns how many characters a line of standard output may have; `None` where nothing wraps.
    pub fn columns(&self) -> Option<usize> {
        let streams = self.lock();
        streams.out.kind.is_terminal().then(|| streams.out.columns())
    }

    /// Returns whether text is watched as it comes.
    pub fn is_watched(&self) -> bool {
        self.lock().out.kind.is_terminal()
    }

    /// Returns an id as messages show it: its end where a person watches, the whole of it for programs.
    pub fn id(&self, id: &str) -> String {
        if self.is_watched() { short_id(id) } else { id.to_owned() }
    }

    /// Returns whether both streams lead to a terminal that takes escape codes.
    pub fn is_drawn_on(&self) -> bool {
        let streams = self.lock();
        streams.out.kind.min(streams.err.kind) > StreamKind::Dumb
    }

    /// Returns whether standard error is a terminal.
    pub fn can_ask(&self) -> bool {
        self.lock().err.kind.is_terminal()
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink {
    /// The terminal's width, also where it does not say.
    fn columns(&self) -> usize {
        if let Some(columns) = self.columns {
            return columns;
        }
        let size = rustix::termios::tcgetwinsize(io::stderr())
            .or_else(|_| rustix::termios::tcgetwinsize(io::stdout()));
        let asked = size.ok().map(|size| usize::from(size.ws_col));
        asked.filter(|columns| *columns > 0).unwrap_or(COLUMNS_USUAL)
    }
}

impl Streams {
    fn write_out(&mut self, text: &str) -> Result<(), OutputError> {
        self.erase_progress();
        // `palyra run ... | cat`: the text would be written behind the progress line.
        self.piped_out |= !self.out.kind.is_terminal();
        let written = self.out.writer.write_all(text.as_bytes()).and_then(|()| self.out.writer.flush());
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => OutputError::Closed,
            _ => OutputError::Failed(error),
        })
    }

    /// Writes a line of our own to standard error, in as many rows as it needs on a terminal.
    fn write_err(&mut self, line: &str, color: &str) {
        let rows = self.in_rows(line, Stream::Err);
        self.write_rows(&rows, color);
    }

    /// Writes a line behind blanks to standard error; no row of a diff's line passes for a line of its own.
    fn write_looked(&mut self, line: &str, look: LineLook) {
        let line = TextCleaner::default().piece(line);
        if look.is_of_diff() && self.err.kind.is_terminal() {
            let rows = diff_rows(&line, self.width(Stream::Err));
            self.write_rows(&rows, look.color());
        } else {
            self.write_err(&format!("  {line}"), look.color());
        }
    }

    /// Standard error may be closed; then there is no place for an error.
    fn write_rows(&mut self, rows: &str, color: &str) {
        self.erase_progress();
        let _ = self.flush_text();
        self.close_line();
        let lines = if self.err.kind == StreamKind::Colored && color != USUAL {
            format!("{color}{rows}{PLAIN}\n")
        } else {
            format!("{rows}\n")
        };
        // At once: a note in pieces mixes with what standard output writes to the same terminal.
        let _ = self.err.writer.write_all(lines.as_bytes()).and_then(|()| self.err.writer.flush());
    }

    fn width(&self, stream: Stream) -> RowWidth {
        let sink = match stream {
            Stream::Out => &self.out,
            Stream::Err => &self.err,
        };
        RowWidth::new(sink.columns(), self.ambiguous)
    }

    /// Returns a line of our own as it is written: on a terminal no row of it begins with what it quotes.
    fn in_rows(&self, line: &str, stream: Stream) -> String {
        let kind = match stream {
            Stream::Out => self.out.kind,
            Stream::Err => self.err.kind,
        };
        if kind.is_terminal() { indented_rows(line, self.width(stream)) } else { line.to_owned() }
    }

    /// As [`Self::in_rows`], for each line of a text with colours.
    fn styled_in_rows(&self, text: &str, stream: Stream) -> String {
        let kind = match stream {
            Stream::Out => self.out.kind,
            Stream::Err => self.err.kind,
        };
        if !kind.is_terminal() {
            return text.to_owned();
        }
        let width = self.width(stream);
        let fits = |line: &str| line.chars().count() <= width.columns();
        let row = |line: &str| if fits(line) { line.to_owned() } else { styled_rows(line, width) };
        text.split('\n').map(row).collect::<Vec<_>>().join("\n")
    }

    fn frame(&self) -> RowFrame<'static> {
        let styles =
            if self.out.kind == StreamKind::Colored { StyleMode::Shown } else { StyleMode::AsWritten };
        RowFrame { mark: MODEL_MARK, width: self.width(Stream::Out), styles }
    }

    /// Writes rows of a model's text.
    fn write_text(&mut self, rows: &str) -> Result<(), OutputError> {
        if rows.is_empty() {
            return Ok(());
        }
        self.line_open = self.markdown.is_row_open();
        self.write_out(rows)
    }

    /// Writes what was kept back of a model's text, before anything else is written.
    fn flush_text(&mut self) -> Result<(), OutputError> {
        let frame = self.frame();
        let rows = self.markdown.flush(frame);
        self.write_text(&rows)
    }

    fn mark_prompt(&mut self, mark: &str) {
        if self.err.kind.is_terminal() && self.line_open {
            let _ = write!(self.err.writer, "{mark}").and_then(|()| self.err.writer.flush());
        }
    }

    /// Takes note that the open line ends; returns whether there was one.
    fn take_open_line(&mut self) -> bool {
        self.markdown.end_row();
        std::mem::take(&mut self.line_open)
    }

    /// On a terminal both streams share the line; a note begins its own.
    fn close_line(&mut self) {
        if self.line_open && self.out.kind.is_terminal() && self.err.kind.is_terminal() {
            let _ = writeln!(self.err.writer);
            self.take_open_line();
        }
    }

    fn erase_progress(&mut self) {
        if std::mem::take(&mut self.progress) {
            let _ = write!(self.err.writer, "{ERASE_LINE}");
            let _ = self.err.writer.flush();
        }
    }
}

/// Colours the sign that a line begins with, and leaves its words as they are.
fn signed(rows: &str, mark: NoteKind) -> String {
    match (mark.color(), rows.strip_prefix(mark.sign())) {
        (USUAL, _) | (_, None) => rows.to_owned(),
        (color, Some(words)) => format!("{color}{}{PLAIN}{words}", mark.sign()),
    }
}

fn styled(text: &StyledStr, kind: StreamKind) -> String {
    if kind == StreamKind::Colored { text.ansi().to_string() } else { text.to_string() }
}

#[cfg(any(test, feature = "capture"))]
pub(crate) mod captured;

#[cfg(test)]
mod tests;
