//! What a line is, by how it begins.
//!
//! Pure: one line at a time. Begin at [`line_kind`].

/// Signs within signs that are looked through, such as an item in a quote in an item.
const NESTING_MAX: usize = 8;
const DIGITS_MAX: usize = 9;
const HEADING_LEVEL_MAX: usize = 6;
/// Signs that begin and end program text, at least.
pub(super) const FENCE_SIGNS_MIN: usize = 3;

/// A kind of line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineKind {
    /// More of it has to come.
    Unknown,
    /// The begin or the end of program text, perhaps.
    Fence,
    /// A row of a table, perhaps.
    Row,
    /// Words behind signs of items, quotes and headings.
    Words {
        /// Bytes that those take.
        signs: usize,
        /// The prefix of further rows.
        hang: String,
        /// The level of a heading.
        heading: Option<u8>,
    },
}

/// The construct at a position.
enum LineConstruct {
    Unknown,
    None,
    Fence,
    /// With the columns that it takes.
    Item(usize),
    Quote(usize),
    Heading(u8),
}

/// Returns what kind of line begins like this.
pub(super) fn line_kind(line: &str) -> LineKind {
    let (mut at, mut hang) = (0, String::new());
    for depth in 0..=NESTING_MAX {
        let body = line[at..].trim_start_matches([' ', '\t']);
        for blank in line[at..line.len() - body.len()].chars() {
            hang.push_str(if blank == '\t' { "    " } else { " " });
        }
        at = line.len() - body.len();
        let sign = if depth == NESTING_MAX { LineConstruct::None } else { sign(body) };
        match sign {
            LineConstruct::Unknown => return LineKind::Unknown,
            LineConstruct::Fence => return LineKind::Fence,
            LineConstruct::None if depth == 0 && body.starts_with('|') => return LineKind::Row,
            LineConstruct::None => return LineKind::Words { signs: at, hang, heading: None },
            LineConstruct::Heading(level) => {
                let signs = at + usize::from(level) + 1;
                return LineKind::Words { signs, hang, heading: Some(level) };
            }
            LineConstruct::Item(columns) => {
                hang.push_str(&" ".repeat(columns));
                at += columns;
            }
            LineConstruct::Quote(columns) => {
                hang.push_str(&body[..columns]);
                at += columns;
            }
        }
    }
    LineKind::Words { signs: at, hang, heading: None }
}

fn sign(body: &str) -> LineConstruct {
    let Some(first) = body.chars().next() else { return LineConstruct::Unknown };
    let run = body.chars().take_while(|c| *c == first).count();
    let next = body[first.len_utf8() * run..].chars().next();
    match first {
        '-' | '+' | '*' if run == 1 => match next {
            None => LineConstruct::Unknown,
            Some(' ') => LineConstruct::Item(2),
            Some(_) => LineConstruct::None,
        },
        '#' if run <= HEADING_LEVEL_MAX => match (next, u8::try_from(run)) {
            (None, _) => LineConstruct::Unknown,
            (Some(' '), Ok(level)) => LineConstruct::Heading(level),
            _ => LineConstruct::None,
        },
        '`' | '~' => match next {
            _ if run >= FENCE_SIGNS_MIN => LineConstruct::Fence,
            None => LineConstruct::Unknown,
            Some(_) => LineConstruct::None,
        },
        '>' => match body[1..].chars().next() {
            None => LineConstruct::Unknown,
            Some(' ') => LineConstruct::Quote(2),
            Some(_) => LineConstruct::Quote(1),
        },
        '0'..='9' => numbered(body),
        _ => LineConstruct::None,
    }
}

fn numbered(body: &str) -> LineConstruct {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let mut behind = body[digits..].chars();
    match (behind.next(), behind.next()) {
        _ if digits > DIGITS_MAX => LineConstruct::None,
        (None, _) | (Some('.' | ')'), None) => LineConstruct::Unknown,
        (Some('.' | ')'), Some(' ')) => LineConstruct::Item(digits + 2),
        _ => LineConstruct::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_by_its_begin() {
        let words =
            |signs: usize, hang: &str| LineKind::Words { signs, hang: hang.to_owned(), heading: None };
        for (line, kind) in [
            ("", LineKind::Unknown),
            ("  ", LineKind::Unknown),
            ("w", words(0, "")),
            ("  w", words(2, "  ")),
            ("-", LineKind::Unknown),
            ("- ", LineKind::Unknown),
            ("- w", words(2, "  ")),
            ("--", words(0, "")),
            ("**", words(0, "")),
            ("  12. w", words(6, "      ")),
            ("12.5", words(0, "")),
            ("2026", LineKind::Unknown),
            ("- > 1) w", words(7, "  >    ")),
            ("> ", LineKind::Unknown),
            (">w", words(1, ">")),
            ("## w", LineKind::Words { signs: 3, hang: String::new(), heading: Some(2) }),
            ("#w", words(0, "")),
            ("``", LineKind::Unknown),
            ("``w", words(0, "")),
            ("```", LineKind::Fence),
            ("  ~~~", LineKind::Fence),
            ("| a", LineKind::Row),
            ("- | a", words(2, "  ")),
        ] {
            assert_eq!(line_kind(line), kind, "{line:?}");
        }
    }
}
