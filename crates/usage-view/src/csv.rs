//! Lines of CSV (RFC 4180) whose cells no spreadsheet reads as formulas.
//!
//! Invariant: a text that a spreadsheet could take for a formula begins with an apostrophe; numbers are written as they
//! are, because this program makes them.

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvCell<'a> {
    /// A text, which others may have written.
    Text(&'a str),
    /// A number that this program made.
    Number(&'a str),
}

/// First characters of formulas, as OWASP lists them, with their full-width forms.
const FORMULA_BEGINNINGS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Returns one line with its end.
#[must_use]
pub fn csv_line(cells: &[CsvCell<'_>]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| written(*cell)).collect();
    format!("{}\r\n", cells.join(","))
}

fn written(cell: CsvCell<'_>) -> String {
    match cell {
        CsvCell::Number(number) => number.to_owned(),
        CsvCell::Text(text) => {
            // A spreadsheet may take blanks in front away.
            let is_formula = text.trim_start_matches(' ').starts_with(FORMULA_BEGINNINGS);
            let guard = if is_formula { "'" } else { "" };
            let needs_quotes =
                text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ');
            if needs_quotes {
                format!("\"{guard}{}\"", text.replace('"', "\"\""))
            } else {
                format!("{guard}{text}")
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads CSV as RFC 4180 writes it; `None` for text that does not follow it.
    pub(crate) fn parse(text: &str) -> Option<Vec<Vec<String>>> {
        let mut records = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let mut record = Vec::new();
            loop {
                let (cell, after) = cell(rest)?;
                record.push(cell);
                if let Some(next) = after.strip_prefix(',') {
                    rest = next;
                } else {
                    rest = after.strip_prefix("\r\n")?;
                    break;
                }
            }
            records.push(record);
        }
        Some(records)
    }

    fn cell(text: &str) -> Option<(String, &str)> {
        let Some(mut rest) = text.strip_prefix('"') else {
            let end = text.find([',', '\r', '\n', '"'])?;
            return Some((text[..end].to_owned(), &text[end..]));
        };
        let mut value = String::new();
        loop {
            let quote = rest.find('"')?;
            value.push_str(&rest[..quote]);
            rest = &rest[quote + 1..];
            match rest.strip_prefix('"') {
                Some(more) => {
                    value.push('"');
                    rest = more;
                }
                None => return Some((value, rest)),
            }
        }
    }

    #[test]
    fn cells_are_written_as_the_rfc_says() {
        for (text, expect) in [
            ("", ""),
            ("plain", "plain"),
            ("two words", "two words"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("\"", "\"\"\"\""),
            ("a\nb", "\"a\nb\""),
            ("a\r\nb", "\"a\r\nb\""),
            (" padded ", "\" padded \""),
            ("Größe, 大", "\"Größe, 大\""),
            ("日本語", "日本語"),
            ("a;b", "a;b"),
            ("a=1", "a=1"),
            ("1-2", "1-2"),
            ("'quoted'", "'quoted'"),
        ] {
            assert_eq!(csv_line(&[CsvCell::Text(text)]), format!("{expect}\r\n"), "{text:?}");
        }
        assert_eq!(csv_line(&[CsvCell::Number("-3"), CsvCell::Text("x"), CsvCell::Number("")]), "-3,x,\r\n");
    }

    #[test]
    fn texts_that_are_formulas_are_written_as_texts() {
        for (text, expect) in [
            ("=1+1", "'=1+1"),
            ("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
            ("@SUM(1+1)", "'@SUM(1+1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("\n=1", "\"'\n=1\""),
            ("  =1", "\"'  =1\""),
            ("＝1+1", "'＝1+1"),
            ("＠x", "'＠x"),
            ("=1,2", "\"'=1,2\""),
            ("\"=1\"", "\"\"\"=1\"\"\""),
        ] {
            assert_eq!(csv_line(&[CsvCell::Text(text)]), format!("{expect}\r\n"), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_read_back_and_none_is_a_formula(
            texts in proptest::collection::vec("[ -~\t\r\n,\"=+@é－大-]{0,12}", 1..5)
        ) {
            let cells: Vec<CsvCell<'_>> = texts.iter().map(|text| CsvCell::Text(text)).collect();
            let line = csv_line(&cells);
            let records = parse(&line);
            prop_assert!(records.as_ref().is_some_and(|records| records.len() == 1), "{line:?}");
            for (read, text) in records.unwrap_or_default().into_iter().flatten().zip(&texts) {
                prop_assert!(!read.trim_start_matches(' ').starts_with(FORMULA_BEGINNINGS), "{read:?}");
                let unguarded = read.strip_prefix('\'').filter(|rest| rest == text);
                prop_assert!(read == *text || unguarded.is_some(), "{read:?} of {text:?}");
            }
        }
    }
}
