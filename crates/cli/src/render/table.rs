//! Columns that line up.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::terminal::clean_line;

const CELL_CHARS_MAX: usize = 60;
const LAST_CELL_CHARS_MAX: usize = 160;

/// Returns the lines of a table: a head and its rows, at most `columns_max` wide. The last column is not padded.
pub(crate) fn table<const N: usize>(
    head: [&str; N],
    rows: Vec<[String; N]>,
    columns_max: Option<usize>,
) -> Vec<String> {
    let cap = |column: usize| if column + 1 == N { LAST_CELL_CHARS_MAX } else { CELL_CHARS_MAX };
    let rows =
        rows.into_iter().map(|row| std::array::from_fn(|column| clean_line(&row[column], cap(column))));
    let rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells =
            row.iter().zip(&widths).map(|(cell, width)| cell.to_owned() + &" ".repeat(width - cell.width()));
        let line = cells.collect::<Vec<_>>().join("  ").trim_end().to_owned();
        columns_max.map_or_else(|| line.clone(), |columns| cut(&line, columns))
    };
    rows.iter().map(line).collect()
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
        assert_eq!(table(["NAME", "TEXT"], rows, Some(12))[1], "a         f…");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let rows = vec![["灯り".to_owned(), "x".to_owned()], ["ab".to_owned(), "y".to_owned()]];
        assert_eq!(table(["N", "T"], rows, None), ["N     T", "灯り  x", "ab    y"]);
        assert_eq!(cut("灯りの箱", 6), "灯り…");
        assert_eq!(cut("灯りの箱", 8), "灯りの箱");
    }
}
