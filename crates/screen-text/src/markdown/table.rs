//! Rows of a table: they line up where they fit a terminal, and stay as they are elsewhere.
//!
//! Pure. Owns the rows until the table ends, and no more than a screen of them. Begin at [`Table::push`].

use unicode_width::UnicodeWidthChar;

use super::inline::parse;
use crate::palette::TextStyle;
use crate::prose::{RowFrame, StyleMode};

const ROWS_MAX: usize = 60;
const COLUMNS_MAX: usize = 16;
const BETWEEN_COLUMNS: usize = 2;
/// The prefix of the further lines of a block.
const BLOCK_INDENT: &str = "  ";

pub(crate) type StyledLine = Vec<(char, TextStyle)>;

/// A line of a table, and the prefix of its further rows.
pub(crate) struct TableLine {
    pub(crate) hang: String,
    pub(crate) text: StyledLine,
}

/// Rows that begin with `|`, in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<String>,
}

impl Table {
    /// Takes a row; returns the rows before it where it does not go on with them.
    pub(super) fn push(&mut self, row: String) -> Self {
        let goes_on = match self.rows.as_slice() {
            [] => true,
            [head] => is_rule(&row) && cells(head).len() == cells(&row).len(),
            rows => rows.len() < ROWS_MAX,
        };
        let before = if goes_on { Vec::new() } else { std::mem::take(&mut self.rows) };
        self.rows.push(row);
        Self { rows: before }
    }

    /// Returns a table of all these rows.
    pub(crate) fn of(rows: Vec<String>) -> Self {
        Self { rows }
    }

    /// Returns its lines: in columns where those fit, else a block of lines `header: cell` for each row.
    pub(crate) fn blocks_or_columns(self, frame: RowFrame<'_>) -> Vec<TableLine> {
        let is_table = self.rows.get(1).is_some_and(|row| is_rule(row));
        if is_table && self.aligned(frame).is_none() {
            return self.blocks(frame);
        }
        let line = |text| TableLine { hang: String::new(), text };
        self.lines(frame).into_iter().map(line).collect()
    }

    fn blocks(&self, frame: RowFrame<'_>) -> Vec<TableLine> {
        let head = cells(&self.rows[0]);
        let mut lines = Vec::new();
        for row in &self.rows[2..] {
            let row = cells(row);
            let filled = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
            for (at, (column, cell)) in filled.enumerate() {
                let indent = if at == 0 { "" } else { BLOCK_INDENT };
                let name = head.get(column).filter(|name| !name.is_empty());
                let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
                let mut text = words(indent, false, frame);
                text.extend(words(&name, true, frame));
                text.extend(words(cell, false, frame));
                lines.push(TableLine { hang: BLOCK_INDENT.repeat(2), text });
            }
        }
        lines
    }

    /// Returns its lines.
    pub(super) fn lines(self, frame: RowFrame<'_>) -> Vec<StyledLine> {
        let is_table = self.rows.get(1).is_some_and(|row| is_rule(row));
        let aligned = if is_table { self.aligned(frame) } else { None };
        aligned.unwrap_or_else(|| self.rows.iter().map(|row| words(row, false, frame)).collect())
    }

    fn aligned(&self, frame: RowFrame<'_>) -> Option<Vec<StyledLine>> {
        let (head, rule) = (cells(&self.rows[0]), cells(&self.rows[1]));
        let count = head.len();
        let bodies = self.rows[2..].iter().map(|row| cells(row));
        let rows: Vec<Vec<StyledLine>> = std::iter::once(head)
            .chain(bodies)
            .enumerate()
            .map(|(at, row)| row.iter().map(|cell| words(cell, at == 0, frame)).collect())
            .collect();
        if count > COLUMNS_MAX || rows.iter().any(|row| row.len() > count) {
            return None;
        }
        let widest = |measure: &dyn Fn(&StyledLine) -> usize, column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(measure).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(|column| widest(&drawn, column)).collect();
        // By what a terminal draws at most, so that no row is wrapped.
        let at_most = |cell: &StyledLine| cell.iter().map(|(c, _)| frame.width.of(*c)).sum();
        let needed: usize = (0..count).map(|column| widest(&at_most, column)).sum();
        let room = frame.width.columns() - frame.mark_columns();
        if needed + BETWEEN_COLUMNS * count.saturating_sub(1) > room {
            return None;
        }
        let mut lines: Vec<StyledLine> = rows.iter().map(|row| in_columns(row, &widths, &rule)).collect();
        let rules = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>();
        let rules = rules.join(&" ".repeat(BETWEEN_COLUMNS));
        lines.insert(1, rules.chars().map(|c| (c, TextStyle::default())).collect());
        Some(lines)
    }
}

fn words(text: &str, is_head: bool, frame: RowFrame<'_>) -> StyledLine {
    let style = TextStyle { bold: is_head, ..TextStyle::default() };
    match frame.styles {
        StyleMode::Shown => parse(text, style).text,
        StyleMode::AsWritten => text.chars().map(|c| (c, style)).collect(),
    }
}

fn drawn(cell: &StyledLine) -> usize {
    cell.iter().map(|(c, _)| c.width().unwrap_or(0)).sum()
}

fn in_columns(row: &[StyledLine], widths: &[usize], rule: &[String]) -> StyledLine {
    let blanks = |count: usize| std::iter::repeat_n((' ', TextStyle::default()), count);
    let mut line = StyledLine::new();
    for (column, cell) in row.iter().enumerate() {
        let missing = widths[column] - drawn(cell);
        let before = match (rule[column].starts_with(':'), rule[column].ends_with(':')) {
            (true, true) => missing / 2,
            (false, true) => missing,
            _ => 0,
        };
        line.extend(blanks(before));
        line.extend(cell);
        line.extend(blanks(missing - before + BETWEEN_COLUMNS));
    }
    line
}

/// Returns whether a row only separates a head from what follows it.
fn is_rule(row: &str) -> bool {
    let cells = cells(row);
    let is_rule = |cell: &String| {
        let dashes = cell.trim_start_matches(':').trim_end_matches(':');
        !dashes.is_empty() && dashes.chars().all(|c| c == '-')
    };
    !cells.is_empty() && cells.iter().all(is_rule)
}

/// Returns the cells of a row without the blanks around them; `\|` is a sign of a cell.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let (mut cells, mut cell, mut chars) = (Vec::new(), String::new(), row.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'|') => cell.extend(chars.next()),
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            '\t' => cell.push(' '),
            c => cell.push(c),
        }
    }
    if !cell.trim().is_empty() {
        cells.push(cell.trim().to_owned());
    }
    cells
}
