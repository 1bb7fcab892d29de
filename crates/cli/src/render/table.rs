//! Columns that line up.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::names::short_id;
use crate::terminal::clean_line;

const CELL_CHARS_MAX: usize = 60;
const LAST_CELL_CHARS_MAX: usize = 160;

/// Columns of the last cell that are left of it, where it has so many, before other cells are cut.
const LAST_COLUMNS_MIN: usize = 24;
/// No column is cut below that; the first holds the end of an id.
const COLUMNS_MIN: usize = 4;
const FIRST_COLUMNS_MIN: usize = 6;
const BETWEEN_COLUMNS: usize = 2;

/// Returns the lines of a table: a head and its rows, at most `columns_max` wide. The last column, which tells most, is
/// not padded, and is cut last.
pub(crate) fn table<const N: usize>(
    head: [&str; N],
    rows: Vec<[String; N]>,
    columns_max: Option<usize>,
) -> Vec<String> {
    let cap = |column: usize| if column + 1 == N { LAST_CELL_CHARS_MAX } else { CELL_CHARS_MAX };
    let rows =
        rows.into_iter().map(|row| std::array::from_fn(|column| clean_line(&row[column], cap(column))));
    let mut rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let mut widths = widths(&rows);
    if columns_max.is_some_and(|columns| too_wide(&widths, columns)) {
        shorten_ids(&mut rows);
        widths = self::widths(&rows);
    }
    if let Some(columns) = columns_max {
        make_fit(&mut widths, columns);
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let cell = if column + 1 == N { cell.clone() } else { cut(cell, *width) };
            let missing = width.saturating_sub(cell.width());
            cell + &" ".repeat(missing)
        });
        let between = " ".repeat(BETWEEN_COLUMNS);
        let line = cells.collect::<Vec<_>>().join(&between).trim_end().to_owned();
        columns_max.map_or_else(|| line.clone(), |columns| cut(&line, columns))
    };
    rows.iter().map(line).collect()
}

fn widths<const N: usize>(rows: &[[String; N]]) -> Vec<usize> {
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    (0..N).map(width).collect()
}

fn too_wide(widths: &[usize], columns: usize) -> bool {
    widths.iter().sum::<usize>() + BETWEEN_COLUMNS * widths.len().saturating_sub(1) > columns
}

/// An id is known by its end.
fn shorten_ids<const N: usize>(rows: &mut [[String; N]]) {
    for cell in rows.iter_mut().flatten() {
        let is_id = cell.len() == 26 && cell.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
        if is_id {
            *cell = short_id(cell);
        }
    }
}

/// Takes columns of the widest cells before the last, until enough of the last fits.
fn make_fit(widths: &mut [usize], columns: usize) {
    let Some((last, before)) = widths.split_last_mut() else { return };
    let last = (*last).min(LAST_COLUMNS_MIN.min(columns / 2));
    let gaps = BETWEEN_COLUMNS * before.len();
    while before.iter().sum::<usize>() + gaps + last > columns {
        let least = |column: usize| if column == 0 { FIRST_COLUMNS_MIN } else { COLUMNS_MIN };
        let wide = before.iter_mut().enumerate().filter(|(column, width)| **width > least(*column));
        let Some((_, width)) = wide.max_by_key(|(_, width)| **width) else { return };
        *width -= 1;
    }
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
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_stay_on_one_line() {
        let rows = vec![["a".to_owned(), "first\nsecond".to_owned()], ["long one".to_owned(), String::new()]];
        let lines = table(["NAME", "TEXT"], rows.clone(), None);
        assert_eq!(lines, ["NAME      TEXT", "a         first second", "long one"]);
        assert_eq!(table(["NAME", "TEXT"], rows, Some(12))[1], "a       fir…");
    }

    #[test]
    fn a_narrow_table_is_cut_before_its_last_column() {
        let row = |cells: [&str; 5]| cells.map(str::to_owned);
        let head = ["APPROVAL", "STATE", "RISK", "AGE", "CALL"];
        let rows = vec![
            row(["9G5FAV", "waits, 23h left", "medium", "3m", "write_file: creates `src/app.py`"]),
            row(["01ARZ3NDEKTSV4RRFFQ69G5FAX", "denied", "high", "2h", "run_command: make test"]),
        ];
        assert_eq!(
            table(head, rows.clone(), Some(80)),
            [
                "APPROVAL  STATE            RISK    AGE  CALL",
                "9G5FAV    waits, 23h left  medium  3m   write_file: creates `src/app.py`",
                "9G5FAX    denied           high    2h   run_command: make test",
            ]
        );
        assert_eq!(
            table(head, rows.clone(), Some(40)),
            [
                "APPRO…  STA…  RISK  AGE  CALL",
                "9G5FAV  wai…  med…  3m   write_file: cr…",
                "9G5FAX  den…  high  2h   run_command: m…",
            ]
        );
        for columns in 12..90 {
            let lines = table(head, rows.clone(), Some(columns));
            assert!(lines.iter().all(|line| line.width() <= columns), "{columns}: {lines:?}");
        }
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let rows = vec![["灯り".to_owned(), "x".to_owned()], ["ab".to_owned(), "y".to_owned()]];
        assert_eq!(table(["N", "T"], rows, None), ["N     T", "灯り  x", "ab    y"]);
        assert_eq!(cut("灯りの箱", 6), "灯り…");
        assert_eq!(cut("灯りの箱", 8), "灯りの箱");
    }
}
