//! Columns that line up.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::clean_line;
use crate::rows::{AmbiguousWidth, RowWidth, indented_rows};
use crate::short_id::short_id;

const CELL_CHARS_MAX: usize = 60;
const LAST_CELL_CHARS_MAX: usize = 160;

/// Columns of the last cell that are left of it, where it has so many, before other cells are cut.
const LAST_COLUMNS_MIN: usize = 24;
/// No column is cut below that; the first holds the end of an id.
const COLUMNS_MIN: usize = 4;
const FIRST_COLUMNS_MIN: usize = 6;
const BETWEEN_COLUMNS: usize = 2;

/// Columns that a table leaves out, in this order, before it cuts what people look for; where a table is named by its first
/// column, in that table only. A narrow screen shows a list instead, which has them all.
const LEFT_OUT_FIRST: [(&str, &str); 18] = [
    ("", "TURNS"),
    ("APPROVAL", "RISK"),
    ("", "AGE"),
    ("", "RUNS"),
    ("", "WINDOW"),
    ("GRANT", "USES"),
    ("GRANT", "UNTIL"),
    ("GRANT", "WHERE"),
    ("RUN", "TOOL"),
    ("SECRET", "VERSION"),
    ("SECRET", "CHANGED"),
    ("SECRET", "AS"),
    ("TASK", "TICKS"),
    ("TASK", "TOOK"),
    ("TASK", "ATTEMPTS"),
    ("SEQ", "LEAF"),
    ("SEQ", "BY"),
    ("SEQ", "RUN"),
];
/// Columns that are never cut, the terminal wraps them: of names and ids that people type, and of entries of the journal.
const WHOLE: [&str; 5] = ["MODEL", "SECRET", "TASK", "TIME", "ENTRY"];
/// Columns of times that are days on a narrow screen.
const DAYS: [&str; 1] = ["SAVED"];
/// Characters of the day that a time begins with, and of the whole time.
const DAY_CHARS: usize = 10;
const TIME_CHARS: usize = 20;
/// The first and the last column of tables whose last column goes on in rows of its own, below the row that it does not fit
/// into: what it says is to be read. An empty name is that of each first column.
const WRAPPED: [(&str, &str); 5] =
    [("", "NOTE"), ("APPROVAL", "CALL"), ("ID", "TEXT"), ("SECRET", "HOSTS"), ("TOOL", "WHAT IT DOES")];
/// The first columns of tables that are lists on a narrow screen where they do not fit, also where none of their columns
/// would be left out.
const LISTS: [&str; 3] = ["BUDGET", "REFERENCE", "TASK"];
/// The first column of a table that stays one on a narrow screen: entries of the journal are many, and are looked through.
const ENTRIES: &str = "SEQ";
/// Cells that say nothing: a list leaves them out.
const UNKNOWN: [&str; 2] = ["", "-"];
/// A screen with fewer columns is a narrow one.
const NARROW_COLUMNS: usize = 60;
const WRAPPED_CHARS_MAX: usize = 400;
const WRAPPED_INDENT: usize = 4;
/// The column that says what became of something, and perhaps by whom.
const STATE: &str = "STATE";

type TableRow = Vec<String>;

/// Returns the lines of a table: a head and its rows, at most `columns_max` wide. The last column, which tells most, is
/// not padded, and is cut last; a note is never cut.
#[must_use]
pub fn table<const N: usize>(
    head: [&str; N],
    rows: Vec<[String; N]>,
    columns_max: Option<usize>,
) -> Vec<String> {
    let wraps = WRAPPED
        .iter()
        .any(|(of, name)| head.last() == Some(name) && (of.is_empty() || head.first() == Some(of)));
    let of_last = if wraps { WRAPPED_CHARS_MAX } else { LAST_CELL_CHARS_MAX };
    let cap = |column: usize| if column + 1 == N { of_last } else { CELL_CHARS_MAX };
    let cells = |row: [String; N]| (0..N).map(|column| clean_line(&row[column], cap(column))).collect();
    let head: TableRow = head.map(str::to_owned).into();
    let mut rows: Vec<TableRow> = std::iter::once(head).chain(rows.into_iter().map(cells)).collect();
    if let Some(columns) = columns_max.filter(|columns| too_wide(&widths(&rows), *columns)) {
        if columns < NARROW_COLUMNS && LISTS.contains(&rows[0][0].as_str()) {
            return as_list(&rows, columns);
        }
        shorten_ids(&mut rows);
        if columns < NARROW_COLUMNS {
            shorten_times(&mut rows);
        }
    }
    if let Some(columns) = columns_max {
        let mut left = rows.clone();
        leave_out(&mut left, columns);
        // A narrow screen has room below a row for what has none beside it.
        let is_cut = left[0].len() < rows[0].len() && rows[0][0] != ENTRIES;
        if columns < NARROW_COLUMNS && is_cut {
            return as_list(&rows, columns);
        }
        rows = left;
    }
    let mut widths = widths(&rows);
    if let (true, Some(last), Some(name)) = (wraps, widths.last_mut(), rows[0].last()) {
        // It has rows of its own, so that nothing before it is cut for it.
        *last = name.width();
    }
    if let Some(columns) = columns_max {
        make_fit(&mut widths, &rows[0], columns);
    }
    shorten_states(&mut rows, &widths);
    let cut_at = columns_max.map(|columns| columns.max(end_of_whole(&rows[0], &widths)));
    let mut lines = vec![line(&rows[0], &widths, cut_at)];
    for row in &rows[1..] {
        let has_note = wraps && row.last().is_some_and(|note| !note.is_empty());
        match columns_max {
            Some(columns) if has_note && line(row, &widths, None).width() > columns => {
                lines.extend(with_rows_below(row, &widths, columns, cut_at));
            }
            _ => lines.push(line(row, &widths, cut_at)),
        }
    }
    lines
}

/// Returns rows as a list: the first cell that has a name, with the mark before it, and below it the others, each behind the
/// name of its column.
fn as_list(rows: &[TableRow], columns: usize) -> Vec<String> {
    let width = RowWidth::new(columns, AmbiguousWidth::Narrow);
    let titles = if rows[0][0].is_empty() { 2 } else { 1 };
    let is_whole = WHOLE.contains(&rows[0][titles - 1].as_str());
    let mark_columns = rows.iter().map(|row| row[0].width()).max().unwrap_or(0);
    let title = |row: &TableRow| match titles {
        1 => row[0].clone(),
        _ => line(&row[..titles], &[mark_columns, 0], None),
    };
    let mut lines = Vec::new();
    for row in &rows[1..] {
        let named =
            rows[0].iter().zip(row).skip(titles).filter(|(_, cell)| !UNKNOWN.contains(&cell.as_str()));
        let named: Vec<String> =
            named.map(|(head, cell)| format!("{} {cell}", head.to_lowercase())).collect();
        let below = format!("{}{}", " ".repeat(WRAPPED_INDENT), named.join("; "));
        lines.push(if is_whole { title(row) } else { cut(&title(row), columns) });
        lines.extend(indented_rows(&below, width).lines().map(|line| line.trim_end().to_owned()));
    }
    lines
}

/// Returns a row without its last cell, and that cell in rows of its own below.
fn with_rows_below(row: &[String], widths: &[usize], columns: usize, cut_at: Option<usize>) -> Vec<String> {
    let Some((last, before)) = row.split_last() else { return Vec::new() };
    let before: TableRow = before.iter().cloned().chain([String::new()]).collect();
    let below = format!("{}{last}", " ".repeat(WRAPPED_INDENT));
    let below = indented_rows(&below, RowWidth::new(columns, AmbiguousWidth::Narrow));
    let below = below.lines().map(|line| line.trim_end().to_owned());
    std::iter::once(line(&before, widths, cut_at)).chain(below).collect()
}

fn line(row: &[String], widths: &[usize], columns_max: Option<usize>) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
        let cell = if column + 1 == row.len() { cell.clone() } else { cut(cell, *width) };
        let missing = width.saturating_sub(cell.width());
        cell + &" ".repeat(missing)
    });
    let between = " ".repeat(BETWEEN_COLUMNS);
    let line = cells.collect::<Vec<_>>().join(&between).trim_end().to_owned();
    columns_max.map_or_else(|| line.clone(), |columns| cut(&line, columns))
}

/// Removes columns that matter less than a whole last column, while the table is too wide.
fn leave_out(rows: &mut [TableRow], columns: usize) {
    let first = rows[0][0].clone();
    for (_, name) in LEFT_OUT_FIRST.iter().filter(|(of, _)| of.is_empty() || *of == first) {
        let mut needed = widths(rows);
        if let Some(last) = needed.last_mut().filter(|_| !ends_whole(&rows[0])) {
            *last = least_of_last(*last, columns);
        }
        let at = rows[0].iter().position(|head| head == name).filter(|at| at + 1 < rows[0].len());
        if let Some(at) = at.filter(|_| too_wide(&needed, columns)) {
            rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
    }
}

fn ends_whole(head: &TableRow) -> bool {
    head.last().is_some_and(|last| WHOLE.contains(&last.as_str()))
}

/// Returns how wide the last column is at least, where it has so much.
fn least_of_last(width: usize, columns: usize) -> usize {
    width.min(LAST_COLUMNS_MIN.min(columns / 2))
}

fn widths(rows: &[TableRow]) -> Vec<usize> {
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    (0..rows[0].len()).map(width).collect()
}

fn too_wide(widths: &[usize], columns: usize) -> bool {
    widths.iter().sum::<usize>() + BETWEEN_COLUMNS * widths.len().saturating_sub(1) > columns
}

/// An id is known by its end, where no column is one of whole ids.
fn shorten_ids(rows: &mut [TableRow]) {
    let head = rows[0].clone();
    let cells = rows.iter_mut().flat_map(|row| row.iter_mut().zip(&head));
    for (cell, _) in cells.filter(|(_, head)| !WHOLE.contains(&head.as_str())) {
        let is_id = cell.len() == 26 && cell.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
        if is_id {
            *cell = short_id(cell);
        }
    }
}

/// A time becomes its day, in columns where that is enough.
fn shorten_times(rows: &mut [TableRow]) {
    let Some(at) = rows[0].iter().position(|head| DAYS.contains(&head.as_str())) else { return };
    for row in rows.iter_mut().skip(1).filter(|row| row[at].len() == TIME_CHARS && row[at].ends_with('Z')) {
        row[at].truncate(DAY_CHARS);
    }
}

/// A state is whole without the name of the person behind it, or without its reason.
fn shorten_states(rows: &mut [TableRow], widths: &[usize]) {
    let Some(at) = rows[0].iter().position(|head| head == STATE) else { return };
    for row in rows.iter_mut().filter(|row| row[at].width() > widths[at]) {
        let parts = row[at].split_once(" by ").or_else(|| row[at].split_once(" ("));
        let state = parts.map(|(state, _)| state.to_owned());
        row[at] = state.filter(|state| state.width() <= widths[at]).unwrap_or_else(|| row[at].clone());
    }
}

/// Takes columns of the widest cells before the last, until enough of the last fits.
fn make_fit(widths: &mut [usize], head: &TableRow, columns: usize) {
    let heads: Vec<usize> = head.iter().map(|head| head.width()).collect();
    let Some((last, before)) = widths.split_last_mut() else { return };
    let last = least_of_last(*last, columns);
    let gaps = BETWEEN_COLUMNS * before.len();
    // The names of columns stay whole where that leaves room for the rest.
    let names = heads.iter().take(before.len()).map(|head| (*head).max(COLUMNS_MIN)).sum::<usize>();
    let keeps_names = names + gaps + last <= columns + LAST_COLUMNS_MIN / 2;
    while before.iter().sum::<usize>() + gaps + last > columns {
        let least = |column: usize| match (column, keeps_names) {
            (0, _) => FIRST_COLUMNS_MIN.max(if keeps_names { heads[0] } else { 0 }),
            (_, true) => heads[column].max(COLUMNS_MIN),
            (_, false) => COLUMNS_MIN,
        };
        let may_shrink = |column: usize| !WHOLE.contains(&head[column].as_str());
        let wide = before.iter_mut().enumerate();
        let wide = wide.filter(|(column, width)| may_shrink(*column) && **width > least(*column));
        let Some((_, width)) = wide.max_by_key(|(_, width)| **width) else { return };
        *width -= 1;
    }
}

/// Returns where the last column ends that is never cut; 0 where there is none.
fn end_of_whole(head: &TableRow, widths: &[usize]) -> usize {
    let last = head.iter().rposition(|head| WHOLE.contains(&head.as_str()));
    last.map_or(0, |last| widths[..=last].iter().sum::<usize>() + BETWEEN_COLUMNS * last)
}

/// Cuts a line where the terminal would wrap it.
fn cut(line: &str, columns_max: usize) -> String {
    if line.width() <= columns_max {
        return line.to_owned();
    }
    let mut taken = 1;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken <= columns_max
    };
    line.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
