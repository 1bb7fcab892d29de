//! A whole document as a terminal shows it: paragraphs are joined and wrapped again, program text keeps its lines, and a
//! table that does not fit becomes a block of `header: cell` lines for each row.
//!
//! Pure. Knows the Markdown of documentation: headings, paragraphs, lists, quotes, tables, fenced and indented program
//! text. Begin at [`document`].

use crate::markdown::{Markdown, Table};
use crate::palette::TextStyle;
use crate::prose::{ProseRows, RowFrame};
use crate::rows::RowWidth;

const FENCES: [&str; 2] = ["```", "~~~"];
/// Blanks that begin a line of program text after an empty line.
const CODE_INDENT: usize = 4;
/// The prefix of fenced program text.
const FENCED_INDENT: &str = "  ";
/// The further rows of a line of program text begin so many columns deeper.
const CODE_HANG: usize = 2;

/// Returns a document in rows. `code` is the width for program text, which a file can have in longer rows.
#[must_use]
pub fn document(markdown: &str, frame: RowFrame<'_>, code: RowWidth) -> String {
    let code = RowFrame { width: code, ..frame };
    let mut rows = DocumentRows { frame, code, ..DocumentRows::new(frame) };
    markdown.lines().for_each(|line| rows.line(line));
    rows.close();
    rows.text
}

struct DocumentRows<'a> {
    frame: RowFrame<'a>,
    code: RowFrame<'a>,
    words: Markdown,
    /// The paragraph or the item that further lines belong to.
    open: String,
    table: Vec<String>,
    /// The sign that ends program text.
    fence: Option<&'static str>,
    /// An item is open, so that an indented line belongs to it.
    in_item: bool,
    text: String,
}

impl<'a> DocumentRows<'a> {
    fn new(frame: RowFrame<'a>) -> Self {
        Self {
            frame,
            code: frame,
            words: Markdown::default(),
            open: String::new(),
            table: Vec::new(),
            fence: None,
            in_item: false,
            text: String::new(),
        }
    }

    fn line(&mut self, line: &str) {
        let trimmed = line.trim_start();
        if let Some(sign) = self.fence {
            return if trimmed.starts_with(sign) {
                self.fence = None;
            } else {
                self.code_line(&format!("{FENCED_INDENT}{line}"));
            };
        }
        let fence = FENCES.into_iter().find(|sign| trimmed.starts_with(sign));
        let indent = line.len() - trimmed.len();
        if let Some(sign) = fence {
            self.close();
            self.fence = Some(sign);
        } else if trimmed.is_empty() {
            self.close();
            self.blank_line();
        } else if indent >= CODE_INDENT && self.open.is_empty() && !self.in_item {
            self.close();
            self.code_line(line);
        } else if trimmed.starts_with('|') {
            self.close_words();
            self.table.push(trimmed.to_owned());
        } else if begins_block(trimmed) {
            self.close();
            if trimmed.starts_with('#') {
                self.blank_line();
            }
            self.in_item = is_item(trimmed);
            line.clone_into(&mut self.open);
            if trimmed.starts_with('#') {
                self.close();
            }
        } else {
            self.close_table();
            self.in_item &= indent > 0 || !self.open.is_empty();
            self.join(line, trimmed);
        }
    }

    /// Adds a line to the open paragraph. Two blanks at a line's end keep its end.
    fn join(&mut self, line: &str, trimmed: &str) {
        if self.open.is_empty() {
            line.trim_end().clone_into(&mut self.open);
        } else {
            self.open.push(' ');
            self.open.push_str(trimmed.trim_end());
        }
        if line.ends_with("  ") {
            self.close_words();
        }
    }

    fn close(&mut self) {
        self.close_words();
        self.close_table();
    }

    fn close_words(&mut self) {
        if !self.open.is_empty() {
            let line = std::mem::take(&mut self.open) + "\n";
            self.text += &self.words.piece(&line, self.frame);
            self.text += &self.words.end(self.frame);
        }
    }

    fn close_table(&mut self) {
        let rows = std::mem::take(&mut self.table);
        for line in Table::of(rows).blocks_or_columns(self.frame) {
            self.row(&line.hang, line.text, self.frame);
        }
    }

    fn code_line(&mut self, line: &str) {
        let indent = line.chars().take_while(|c| *c == ' ').count();
        let hang = " ".repeat(indent + CODE_HANG);
        self.row(&hang, line.chars().map(|c| (c, TextStyle::CODE)), self.code);
    }

    fn row(&mut self, hang: &str, line: impl IntoIterator<Item = (char, TextStyle)>, frame: RowFrame<'_>) {
        let mut rows = ProseRows::default();
        rows.set_hang(hang);
        line.into_iter().for_each(|(c, style)| rows.character(c, style, frame));
        rows.end_line(frame);
        let line = rows.take();
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Writes an empty line, unless one is there.
    fn blank_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

/// Returns whether a line begins a heading, an item or a quote.
fn begins_block(line: &str) -> bool {
    let heading = line.trim_start_matches('#');
    (heading.len() < line.len() && heading.starts_with(' ')) || is_item(line) || line.starts_with("> ")
}

fn is_item(line: &str) -> bool {
    let Some((mark, _)) = line.split_once(' ') else { return false };
    let number = mark.strip_suffix('.').unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
    is_number || ["-", "*", "+"].contains(&mark)
}

#[cfg(test)]
mod tests;
