//! Rows of a terminal: marks each row of a model's or a tool's text, and ends it before the terminal would.
//!
//! Pure. Invariant: a row of such text begins with its mark and never with a sign of ours, wherever the text was cut,
//! and however it is wrapped: what a terminal wraps by itself begins in the first column, where only we write.

use unicode_width::UnicodeWidthChar;

/// The mark of each row of a model's text.
pub const MODEL_MARK: &str = "│ ";
/// The mark of each row that a tool printed.
pub const TOOL_MARK: &str = "┊ ";
/// The prefix of each further row of our own lines, at least.
const INDENT: &str = "  ";
/// In the column of signs: this row goes on with the line of a diff above it. No line of a diff begins with it.
const CONTINUED_MARK: char = '┊';
/// The prefixes of our own lines.
const SIGNS: [&str; 5] = ["· ", "✓ ", "✗ ", "! ", "? "];
/// Words that stay with the number before them.
const UNITS: [&str; 10] = ["ms", "s", "min", "h", "d", "B", "KiB", "MiB", "GiB", "%"];
const TAB_COLUMNS: usize = 8;
const COLUMNS_MIN: usize = 8;

/// How wide a terminal is, and how it draws what may be narrow or wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowWidth {
    columns: usize,
    ambiguous: AmbiguousWidth,
}

/// How a terminal draws characters that are wide in East Asian fonts only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmbiguousWidth {
    /// One column, as most terminals show them.
    Narrow,
    /// Two columns, as terminals with an East Asian language show them.
    Wide,
}

impl AmbiguousWidth {
    /// Reads it from the locale that is in force.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| {
            let value = variable(name)?;
            (!value.is_empty()).then_some(value)
        });
        let language = locale.unwrap_or_default();
        let wide = ["zh", "ja", "ko"].iter().any(|wide| language.starts_with(wide));
        if wide { Self::Wide } else { Self::Narrow }
    }
}

impl RowWidth {
    /// The last column stays free: some terminals wrap as soon as it is written.
    pub fn new(columns: usize, ambiguous: AmbiguousWidth) -> Self {
        Self { columns: columns.saturating_sub(1).max(COLUMNS_MIN), ambiguous }
    }

    /// Returns how many columns may be written.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// A sign of one character and a blank.
    pub fn of_mark(self) -> usize {
        match self.ambiguous {
            AmbiguousWidth::Narrow => 2,
            AmbiguousWidth::Wide => 3,
        }
    }

    /// Returns how many columns a character takes at most. Terminals do not agree on marks that join letters, nor on
    /// signs and pictures, so that none of them counts less than any terminal may draw.
    pub fn of(self, c: char) -> usize {
        let may_be_wide = match self.ambiguous {
            AmbiguousWidth::Narrow => c >= '\u{2000}' && !is_narrow_sign(c),
            AmbiguousWidth::Wide => c >= '\u{80}',
        };
        let least = if may_be_wide { 2 } else { 1 };
        c.width().unwrap_or(1).max(least)
    }
}

/// Returns whether a sign is one column wide wherever letters with accents are: quotes, dashes, frames and blocks, none
/// of which is also a picture.
fn is_narrow_sign(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{203b}' | '\u{2500}'..='\u{259f}')
}

/// Text in pieces, with a mark at the beginning of each row.
#[derive(Debug, Default)]
pub struct MarkedRows {
    /// Columns of the open row that are written; 0 where no row is open.
    column: usize,
}

impl MarkedRows {
    /// Returns the next piece of a text whose control characters are made visible, with marks and row ends.
    pub fn piece(&mut self, text: &str, mark: &str, width: RowWidth) -> String {
        let mark_columns = width.of_mark();
        let mut marked = String::with_capacity(text.len() + mark.len());
        for c in text.chars() {
            if c == '\n' {
                if self.column == 0 {
                    marked.push_str(mark.trim_end());
                }
                marked.push('\n');
                self.column = 0;
                continue;
            }
            let blanks = TAB_COLUMNS - self.column.saturating_sub(mark_columns) % TAB_COLUMNS;
            let blanks = blanks.min(width.columns - mark_columns);
            let columns = if c == '\t' { blanks } else { width.of(c) };
            if self.column > mark_columns && self.column + columns > width.columns {
                marked.push('\n');
                self.column = 0;
            }
            if self.column == 0 {
                marked.push_str(mark);
                self.column = mark_columns;
            }
            match c {
                '\t' => marked.extend(std::iter::repeat_n(' ', blanks)),
                c => marked.push(c),
            }
            self.column += columns;
        }
        marked
    }
}

/// Returns a line of our own in rows, of which all but the first are indented as the words of the first are.
pub fn indented_rows(line: &str, width: RowWidth) -> String {
    rows_of(line, width, |_| 0)
}

/// As [`indented_rows`], for a line with colours, which take no columns.
pub fn styled_rows(line: &str, width: RowWidth) -> String {
    rows_of(line, width, colour_length)
}

/// Returns how many bytes of a text are the escape sequence of a colour that it begins with.
fn colour_length(text: &str) -> usize {
    let Some(escape) = text.strip_prefix("\u{1b}[") else { return 0 };
    let numbers = escape.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    if escape.as_bytes().get(numbers) == Some(&b'm') { numbers + 3 } else { 0 }
}

/// Breaks a line between its words; `skipped` returns how many bytes of a text take no columns.
fn rows_of(line: &str, width: RowWidth, skipped: impl Fn(&str) -> usize) -> String {
    let line = line.replace('\t', "    ");
    let indent = indent_of(&line, width);
    let begin = RowBegin { prefix: " ".repeat(indent), columns: indent };
    rows_with(&line, &begin, width, skipped)
}

/// What each row but the first begins with.
struct RowBegin {
    prefix: String,
    columns: usize,
}

/// Returns a line of a diff behind blanks in rows, of which all but the first have a mark in the column of signs.
pub fn diff_rows(line: &str, width: RowWidth) -> String {
    let line = format!("{INDENT}{}", line.replace('\t', "    "));
    let columns = INDENT.len() + width.of(CONTINUED_MARK);
    rows_with(&line, &RowBegin { prefix: format!("{INDENT}{CONTINUED_MARK}"), columns }, width, |_| 0)
}

fn rows_with(line: &str, begin: &RowBegin, width: RowWidth, skipped: impl Fn(&str) -> usize) -> String {
    let indent = begin.columns;
    let row_end = format!("\n{}", begin.prefix);
    let mut rows = String::with_capacity(line.len());
    let mut column = 0;
    // Where the row can end, and the column behind it.
    let mut blank: Option<(usize, usize)> = None;
    let mut colour_end = 0;
    for (at, c) in line.char_indices() {
        if at >= colour_end {
            colour_end = at + skipped(&line[at..]);
        }
        if at < colour_end {
            rows.push(c);
            continue;
        }
        if c == '\n' {
            rows.push_str(&row_end);
            (column, blank) = (indent, None);
            continue;
        }
        let columns = width.of(c);
        if column + columns > width.columns {
            let (at, taken) = blank.take().unwrap_or((rows.len(), column));
            rows.insert_str(at, &row_end);
            column = indent + column - taken;
        }
        rows.push(c);
        column += columns;
        if c == ' ' && column > indent && !is_before_unit(line, at) {
            blank = Some((rows.len(), column));
        }
    }
    rows
}

/// Returns whether the blank at a place is between a number and its unit.
fn is_before_unit(line: &str, at: usize) -> bool {
    let next = line[at..].split_whitespace().next().unwrap_or_default();
    let unit = next.trim_end_matches([',', ';', ':', '.', ')']);
    line[..at].ends_with(|c: char| c.is_ascii_digit()) && line[at..].starts_with(' ') && UNITS.contains(&unit)
}

/// Returns the column that the words of a line begin in: behind its blanks and its sign, or behind its name where that
/// is padded to a column.
fn indent_of(line: &str, width: RowWidth) -> usize {
    let begin = line.len() - line.trim_start_matches(' ').len();
    let words = &line[begin..];
    let sign = if SIGNS.iter().any(|sign| words.starts_with(sign)) { INDENT.len() } else { 0 };
    let name: usize = words.chars().take(sign).map(char::len_utf8).sum();
    let padded = words[name..].split_once("  ").map_or(0, |(name, value)| {
        let blanks = value.len() - value.trim_start_matches(' ').len();
        if value.trim().is_empty() { 0 } else { name.chars().count() + 2 + blanks }
    });
    let least = (begin + sign).max(INDENT.len()).min(width.columns / 2);
    let names = begin + sign + padded;
    // A part of two fifths is the names of details at 40 columns.
    if names * 5 <= width.columns * 2 { names.max(least) } else { least }
}

#[cfg(test)]
mod tests;
