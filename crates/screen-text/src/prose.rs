//! Rows of a model's text: wraps it between words, marks each row, and keeps the indentation of what goes on.
//!
//! Owns the word that is not complete yet, and nothing else is kept back. Pure: knows no terminal and no Markdown.
//!
//! Invariant: each row begins with its mark and ends before the terminal would end it, however the text is cut. Begin
//! at [`ProseRows::character`].

use unicode_width::UnicodeWidthChar;

use crate::palette::{PLAIN, TextStyle};
use crate::rows::RowWidth;

const TAB_COLUMNS: usize = 8;
/// Joins two pictures to one.
const JOINER: char = '\u{200d}';
/// Wide characters that do not begin a row.
const CLOSING: &str = "、。，．：；！？）」』】〉》〕］｝・ー々";

/// What each row begins with and how wide it is.
#[derive(Debug, Clone, Copy)]
pub struct RowFrame<'a> {
    /// What each row begins with.
    pub mark: &'a str,
    /// Columns of the terminal.
    pub width: RowWidth,
    /// Whether Markdown is shown as styles.
    pub styles: StyleMode,
}

impl RowFrame<'_> {
    /// Returns how many columns the mark takes.
    pub(crate) fn mark_columns(&self) -> usize {
        if self.mark.is_empty() { 0 } else { self.width.of_mark() }
    }
}

/// Whether a terminal gets styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StyleMode {
    /// As escape sequences.
    Shown,
    /// As the signs that were written.
    AsWritten,
}

/// Text that becomes rows, character by character.
#[derive(Debug, Default)]
pub(crate) struct ProseRows {
    /// Columns of the open row that are written; 0 where no row is open.
    column: usize,
    /// The column that the open row's words begin in.
    begin: usize,
    /// What further rows of this line begin with.
    hang: String,
    /// Something of this line was written, so that its next row is a further one.
    goes_on: bool,
    /// Its program text is past its indentation.
    has_words: bool,
    /// Blanks that are written once something follows them.
    gap: usize,
    gap_style: TextStyle,
    word: Vec<(char, TextStyle)>,
    word_columns: usize,
    /// The word was begun, so that the rest of it stays with it.
    is_begun: bool,
    /// The style that the terminal is in.
    active: TextStyle,
    rows: String,
}

impl ProseRows {
    /// Returns what is to be written since the last time.
    pub(crate) fn take(&mut self) -> String {
        self.switch_to(TextStyle::default());
        std::mem::take(&mut self.rows)
    }

    /// Returns whether a row is open that something was written to.
    pub(crate) fn is_open(&self) -> bool {
        self.column > 0
    }

    /// Sets what further rows of this line begin with.
    pub(crate) fn set_hang(&mut self, hang: &str) {
        hang.clone_into(&mut self.hang);
    }

    /// Takes the next character of a line.
    pub(crate) fn character(&mut self, c: char, style: TextStyle, frame: RowFrame<'_>) {
        match c {
            ' ' => self.blanks(1, style, frame),
            '\t' => {
                let taken = self.column.max(frame.mark_columns()) - frame.mark_columns()
                    + self.gap
                    + self.word_columns;
                self.blanks(TAB_COLUMNS - taken % TAB_COLUMNS, style, frame);
            }
            c => self.letter(c, style, frame),
        }
    }

    /// Takes the next character of program text, which keeps its indentation and is broken between words where there are
    /// blanks.
    pub(crate) fn verbatim(&mut self, c: char, frame: RowFrame<'_>) {
        if self.has_words {
            return self.character(c, TextStyle::CODE, frame);
        }
        let mark = frame.mark_columns();
        let blanks = TAB_COLUMNS - self.column.saturating_sub(mark) % TAB_COLUMNS;
        let count = if c == '\t' { blanks.min(frame.width.columns() - mark) } else { 1 };
        let is_blank = matches!(c, ' ' | '\t');
        if !is_blank {
            self.has_words = true;
            // A word that fits in no row begins behind the indentation, not below it.
            if self.column <= mark + indent_max(frame) {
                self.begin = self.begin.max(self.column);
            }
            return self.character(c, TextStyle::CODE, frame);
        }
        for _ in 0..count {
            self.put(' ', TextStyle::CODE, frame);
        }
        self.hang.push_str(&" ".repeat(count));
    }

    /// Ends the line.
    pub(crate) fn end_line(&mut self, frame: RowFrame<'_>) {
        self.end_word(frame);
        self.switch_to(TextStyle::default());
        if self.column == 0 {
            self.rows.push_str(frame.mark.trim_end());
        }
        self.rows.push('\n');
        self.column = 0;
        self.forget_line();
    }

    /// Begins a new line.
    pub(crate) fn forget_line(&mut self) {
        self.hang.clear();
        (self.gap, self.goes_on) = (0, false);
        (self.has_words, self.is_begun) = (false, false);
    }

    /// Writes the word that is not complete yet, the rest of which stays with it, or the blanks behind a word.
    pub(crate) fn flush(&mut self, frame: RowFrame<'_>) {
        if !self.word.is_empty() {
            self.place_word(frame);
            self.is_begun = true;
        } else if self.column > 0 && self.column + self.gap <= frame.width.columns() {
            self.rows.push_str(&" ".repeat(self.gap));
            self.column += std::mem::take(&mut self.gap);
        }
    }

    /// Takes note that something else ended the row.
    pub(crate) fn end_row(&mut self) {
        (self.column, self.active) = (0, TextStyle::default());
        if self.goes_on {
            self.gap = 0;
        }
    }

    fn blanks(&mut self, count: usize, style: TextStyle, frame: RowFrame<'_>) {
        self.end_word(frame);
        self.gap += count;
        self.gap_style = style;
    }

    fn letter(&mut self, c: char, style: TextStyle, frame: RowFrame<'_>) {
        if self.can_break_before(c) {
            self.end_word(frame);
        }
        self.word.push((c, style));
        self.word_columns += frame.width.of(c);
        // What fits in no row is broken where a row ends; until it is written, no more than a row is kept.
        if self.is_begun || self.word_columns > self.room(frame) {
            self.place_word(frame);
            self.is_begun = true;
        }
    }

    /// Wide letters have no blanks between them.
    fn can_break_before(&self, c: char) -> bool {
        let Some((last, _)) = self.word.last() else { return self.is_begun && c.width() == Some(2) };
        let is_wide = |c: char| c.width() == Some(2);
        (is_wide(c) || is_wide(*last))
            && *last != JOINER
            && c.width() != Some(0)
            && !CLOSING.contains(c)
            && (c.is_alphanumeric() || is_wide(c))
    }

    fn end_word(&mut self, frame: RowFrame<'_>) {
        self.place_word(frame);
        self.is_begun = false;
    }

    fn place_word(&mut self, frame: RowFrame<'_>) {
        if self.word.is_empty() {
            return;
        }
        let (word, columns) = (std::mem::take(&mut self.word), std::mem::take(&mut self.word_columns));
        let fits = self.column + self.gap + columns <= frame.width.columns();
        if self.column > self.begin && !fits && !self.is_begun {
            self.break_row();
        }
        if self.column == 0 {
            self.open_row(frame);
        } else {
            if self.gap > 0 && frame.styles == StyleMode::Shown {
                self.switch_to(self.gap_style);
            }
            self.rows.push_str(&" ".repeat(self.gap));
            self.column += self.gap;
        }
        self.gap = 0;
        word.into_iter().for_each(|(c, style)| self.put(c, style, frame));
    }

    fn put(&mut self, c: char, style: TextStyle, frame: RowFrame<'_>) {
        let columns = frame.width.of(c);
        if self.column > self.begin && self.column + columns > frame.width.columns() {
            self.break_row();
        }
        if self.column == 0 {
            self.open_row(frame);
        }
        if frame.styles == StyleMode::Shown {
            self.switch_to(style);
        }
        self.rows.push(c);
        self.column += columns;
        self.goes_on = true;
    }

    fn break_row(&mut self) {
        self.switch_to(TextStyle::default());
        self.rows.push('\n');
        (self.column, self.gap) = (0, 0);
    }

    /// Begins a row: a further one of its line with its indentation, the first with the blanks that it begins with.
    fn open_row(&mut self, frame: RowFrame<'_>) {
        self.rows.push_str(frame.mark);
        let indent = if self.goes_on { self.hang.clone() } else { " ".repeat(self.gap) };
        let indent: String = indent.chars().take(indent_max(frame)).collect();
        self.rows.push_str(&indent);
        self.column = frame.mark_columns() + indent.chars().count();
        (self.begin, self.gap) = (self.column, 0);
    }

    fn room(&self, frame: RowFrame<'_>) -> usize {
        let indent = self.hang.chars().count().min(indent_max(frame));
        frame.width.columns() - frame.mark_columns() - indent
    }

    fn switch_to(&mut self, style: TextStyle) {
        if style == self.active {
            return;
        }
        if self.active != TextStyle::default() {
            self.rows.push_str(PLAIN);
        }
        self.rows.push_str(&style.begin());
        self.active = style;
    }
}

/// Narrow rows are for words.
fn indent_max(frame: RowFrame<'_>) -> usize {
    (frame.width.columns() - frame.mark_columns()) / 2
}
