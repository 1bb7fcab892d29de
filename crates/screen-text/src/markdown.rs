//! What a model says, as a terminal shows it: Markdown with styles where those are shown, its own characters elsewhere.
//!
//! Owns the part of a line whose look is not known yet: the begin of a line until its kind is known, an emphasis that
//! is open until it ends or the line does, a row of a table until the table ends. It never writes the same
//! text again. Pure: knows no terminal.
//!
//! Invariant: each word of the text is written once, even if a construct is left open, wherever the text is cut and wherever it
//! pauses. Begin at [`Markdown::piece`].

mod inline;
mod line_start;
mod table;

use crate::palette::TextStyle;
use crate::prose::{ProseRows, RowFrame, StyleMode};
use inline::{TextEnd, parse};
use line_start::{FENCE_SIGNS_MIN, LineKind, line_kind};
pub(crate) use table::Table;

/// A line whose look is not known after so much is written as it is.
const LINE_PENDING_BYTES_MAX: usize = 1_024;
/// What may begin or end an emphasis, program text or a link.
const OPENING: [char; 9] = ['*', '_', '`', '[', ']', '(', ')', '~', '\\'];

/// A text that comes in pieces.
#[derive(Debug, Default)]
pub struct Markdown {
    place: LinePosition,
    /// The open line from where nothing is decided, and how much of that was written already.
    pending: String,
    written: usize,
    /// A construct in the pending text is open, as far as it was read.
    is_open: bool,
    fence: Option<CodeFence>,
    table: Table,
    rows: ProseRows,
}

/// The position of the text in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LinePosition {
    /// Its kind is not known.
    #[default]
    Begin,
    /// In words of this style.
    Words(TextStyle),
    /// In a line that is only read as a whole.
    Fence,
    Row,
    /// In a line of program text that does not end it.
    Code,
}

/// What ends program text.
#[derive(Debug, Clone, Copy)]
struct CodeFence {
    sign: char,
    count: usize,
}

impl Markdown {
    /// Returns what is to be written of the next piece of a text whose control characters are made visible.
    pub fn piece(&mut self, text: &str, frame: RowFrame<'_>) -> String {
        text.chars().for_each(|c| self.character(c, frame));
        self.rows.take()
    }

    /// Returns what was kept back, as it is: the text pauses, or something else is written.
    pub fn flush(&mut self, frame: RowFrame<'_>) -> String {
        self.end_table(frame);
        match self.place {
            LinePosition::Begin if self.pending.trim().is_empty() => {}
            LinePosition::Begin if self.fence.is_some() => self.write_code(frame),
            // More of the same sign would make it the begin of program text.
            LinePosition::Begin if self.pending.ends_with(['`', '~']) => {
                self.place = LinePosition::Fence;
                self.write_code(frame);
            }
            LinePosition::Begin => {
                self.place = LinePosition::Words(TextStyle::default());
                self.flush_pending(TextEnd::No, frame);
            }
            LinePosition::Words(_) => self.flush_pending(TextEnd::No, frame),
            LinePosition::Fence | LinePosition::Code => self.write_code(frame),
            LinePosition::Row => {
                for c in self.pending[self.written..].chars() {
                    self.rows.character(c, TextStyle::default(), frame);
                }
                self.written = self.pending.len();
            }
        }
        self.rows.flush(frame);
        self.rows.take()
    }

    /// Ends the text: the next one begins with nothing open. Returns what was kept back.
    pub fn end(&mut self, frame: RowFrame<'_>) -> String {
        let last = self.flush(frame);
        (self.fence, self.place) = (None, LinePosition::Begin);
        self.pending.clear();
        (self.written, self.is_open) = (0, false);
        self.rows.forget_line();
        last
    }

    /// Takes note that something else ended the row.
    pub fn end_row(&mut self) {
        self.rows.end_row();
    }

    /// Returns whether a row is open.
    pub fn is_row_open(&self) -> bool {
        self.rows.is_open()
    }

    fn character(&mut self, c: char, frame: RowFrame<'_>) {
        if c == '\n' {
            return self.line_end(frame);
        }
        match self.place {
            LinePosition::Code => return self.rows.verbatim(c, frame),
            LinePosition::Words(style) if frame.styles == StyleMode::AsWritten => {
                return self.rows.character(c, style, frame);
            }
            _ => self.pending.push(c),
        }
        match self.place {
            LinePosition::Begin if self.fence.is_some() => self.code_begin(frame),
            LinePosition::Begin => self.begin(frame),
            LinePosition::Words(style) => self.words(style, frame),
            LinePosition::Fence | LinePosition::Row => {
                if self.pending.len() > LINE_PENDING_BYTES_MAX {
                    self.give_up(frame);
                }
            }
            LinePosition::Code => {}
        }
    }

    fn line_end(&mut self, frame: RowFrame<'_>) {
        match self.place {
            LinePosition::Begin if self.fence.is_some() => self.code_line_end(frame),
            LinePosition::Begin => {
                // A blank decides what a lone sign is.
                self.pending.push(' ');
                self.begin(frame);
                if self.place == LinePosition::Begin {
                    self.end_table(frame);
                    self.place = LinePosition::Words(TextStyle::default());
                }
                self.flush_pending(TextEnd::Yes, frame);
            }
            LinePosition::Words(_) => self.flush_pending(TextEnd::Yes, frame),
            LinePosition::Fence => self.fence_begins(frame),
            LinePosition::Row => return self.row_end(frame),
            LinePosition::Code => {}
        }
        self.next_line(frame);
    }

    fn next_line(&mut self, frame: RowFrame<'_>) {
        self.rows.end_line(frame);
        self.pending.clear();
        (self.place, self.written, self.is_open) = (LinePosition::Begin, 0, false);
    }

    /// Finds out what kind of line it is, as soon as that can be known.
    fn begin(&mut self, frame: RowFrame<'_>) {
        let kind = line_kind(&self.pending);
        if !matches!(kind, LineKind::Unknown | LineKind::Row) {
            self.end_table(frame);
        }
        match kind {
            LineKind::Unknown if self.pending.len() > LINE_PENDING_BYTES_MAX => self.give_up(frame),
            LineKind::Unknown => {}
            LineKind::Row => self.place = LinePosition::Row,
            LineKind::Fence => self.place = LinePosition::Fence,
            LineKind::Words { signs, hang, heading } => {
                let level = heading.filter(|_| frame.styles == StyleMode::Shown);
                let style =
                    TextStyle { bold: level.is_some(), underlined: level == Some(1), ..Default::default() };
                let shown = level.map_or(signs, |level| signs - usize::from(level) - 1);
                let words = self.pending.split_off(signs);
                let before = std::mem::replace(&mut self.pending, words);
                for c in before[..shown].chars() {
                    self.rows.character(c, TextStyle::default(), frame);
                }
                self.rows.set_hang(&hang);
                self.place = LinePosition::Words(style);
                self.is_open = true;
                if frame.styles == StyleMode::AsWritten {
                    self.flush_pending(TextEnd::No, frame);
                } else {
                    self.words(style, frame);
                }
            }
        }
    }

    /// Writes words up to a blank behind which nothing is open.
    fn words(&mut self, style: TextStyle, frame: RowFrame<'_>) {
        self.is_open |= self.pending.ends_with(OPENING);
        let is_known = self.pending.ends_with(char::is_whitespace)
            && !(self.is_open && parse(&self.pending, style).is_open);
        if is_known || self.pending.len() > LINE_PENDING_BYTES_MAX {
            self.flush_pending(TextEnd::No, frame);
        }
    }

    fn flush_pending(&mut self, ended: TextEnd, frame: RowFrame<'_>) {
        let held = std::mem::take(&mut self.pending);
        let style = if let LinePosition::Words(style) = self.place { style } else { TextStyle::default() };
        if frame.styles == StyleMode::AsWritten {
            held.chars().for_each(|c| self.rows.character(c, style, frame));
        } else {
            let text = if ended == TextEnd::Yes { held.trim_end() } else { &held };
            parse(text, style).text.into_iter().for_each(|(c, style)| self.rows.character(c, style, frame));
        }
        self.is_open = false;
    }

    fn give_up(&mut self, frame: RowFrame<'_>) {
        self.end_table(frame);
        let rest = self.pending.split_off(self.written);
        self.pending = rest;
        (self.place, self.written) = (LinePosition::Words(TextStyle::default()), 0);
        self.flush_pending(TextEnd::No, frame);
    }

    fn row_end(&mut self, frame: RowFrame<'_>) {
        if self.written > 0 {
            let rest = self.pending[self.written..].to_owned();
            rest.chars().for_each(|c| self.rows.character(c, TextStyle::default(), frame));
            return self.next_line(frame);
        }
        let row = std::mem::take(&mut self.pending);
        self.place = LinePosition::Begin;
        let before = self.table.push(row);
        self.write_table(before, frame);
    }

    fn end_table(&mut self, frame: RowFrame<'_>) {
        let table = std::mem::take(&mut self.table);
        self.write_table(table, frame);
    }

    fn write_table(&mut self, table: Table, frame: RowFrame<'_>) {
        for line in table.lines(frame) {
            line.into_iter().for_each(|(c, style)| self.rows.character(c, style, frame));
            self.rows.end_line(frame);
        }
    }

    fn fence_begins(&mut self, frame: RowFrame<'_>) {
        if let Some(fence) = fence_of(&self.pending) {
            self.fence = Some(fence);
            self.write_code(frame);
        } else if self.written == 0 {
            self.place = LinePosition::Words(TextStyle::default());
            self.flush_pending(TextEnd::Yes, frame);
        } else {
            self.write_code(frame);
        }
    }

    /// Keeps the begin of a line of program text while it may end that.
    fn code_begin(&mut self, frame: RowFrame<'_>) {
        let sign = self.fence.map_or('`', |fence| fence.sign);
        let signs = self.pending.trim_start_matches(BEFORE_FENCE);
        let may_end = signs.trim_start_matches(sign).chars().all(|c| c == ' ');
        if !may_end || self.pending.len() > LINE_PENDING_BYTES_MAX {
            self.write_code(frame);
            self.pending.clear();
            (self.place, self.written) = (LinePosition::Code, 0);
        }
    }

    fn code_line_end(&mut self, frame: RowFrame<'_>) {
        self.write_code(frame);
        let signs = self.pending.trim_start_matches(BEFORE_FENCE).trim_end();
        let ends = |fence: CodeFence| signs.len() >= fence.count && signs.chars().all(|c| c == fence.sign);
        if self.fence.is_some_and(ends) {
            self.fence = None;
        }
    }

    fn write_code(&mut self, frame: RowFrame<'_>) {
        for c in self.pending[self.written..].chars() {
            self.rows.verbatim(c, frame);
        }
        self.written = self.pending.len();
    }
}

/// What can precede the signs of a fence: it can be quoted, or belong to an item.
const BEFORE_FENCE: [char; 2] = [' ', '>'];

/// Reads the line that begins program text; what looks like it and goes on with the same sign is none.
fn fence_of(line: &str) -> Option<CodeFence> {
    let at = line.find(['`', '~'])?;
    let sign = line[at..].chars().next()?;
    let info = line[at..].trim_start_matches(sign);
    let count = line.len() - at - info.len();
    let is_fence = count >= FENCE_SIGNS_MIN && !(sign == '`' && info.contains('`'));
    is_fence.then_some(CodeFence { sign, count })
}

#[cfg(test)]
mod tests;
