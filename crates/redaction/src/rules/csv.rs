//! Columns of secrets in comma-separated values (RFC 4180): a header line that names one, and the lines behind it.
//!
//! Invariant: a table is decided when a line ends it or its limits are reached, so that cuts change nothing.

use crate::rules::line::is_plausible;
use crate::rules::randomness::{CharacterKinds, is_wordy};
use crate::verdict::{CONTEXT_BYTES_MAX, NOWHERE, RuleRank, RuleVerdict, Span, TextView};

/// Parts of a column's name that make the prefilter stop.
pub(crate) const LITERALS: [&str; 5] = ["passw", "secret", "token", "api_key", "apikey"];

/// Bytes and lines of a table that are looked at, at most.
const TABLE_BYTES_MAX: usize = 4_096;
const ROWS_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 40;
const VALUE_BYTES_MIN: usize = 6;

/// The column of secrets, and what separates it from others.
struct SecretColumn {
    separator: u8,
    index: usize,
    columns: usize,
}

/// Judges the header in which a column's name stands at `at`.
pub(crate) fn judge(at: usize, view: TextView<'_>) -> RuleVerdict {
    let before = view.before(at);
    let line_bytes = before.iter().rev().take_while(|byte| **byte != b'\n').count();
    if line_bytes >= CONTEXT_BYTES_MAX {
        return RuleVerdict::No;
    }
    let limit = at + TABLE_BYTES_MAX;
    let header_end = match line_end(at, limit, view) {
        LineEnd::Unknown => return RuleVerdict::Wait(NOWHERE),
        LineEnd::Last(_) => return RuleVerdict::No,
        LineEnd::At(end) => end,
    };
    let Some(column) = column_of(&view.text[at - line_bytes..header_end], line_bytes) else {
        return RuleVerdict::No;
    };
    let mut spans: Vec<Span> = Vec::new();
    let mut start = header_end + 1;
    for _ in 0..ROWS_MAX {
        let (end, is_last) = match line_end(start, limit, view) {
            LineEnd::Unknown => return RuleVerdict::Wait(spans.first().map_or(start, |span| span.start)),
            LineEnd::Last(end) => (end, true),
            LineEnd::At(end) => (end, false),
        };
        let Some(field) = column.field(&view.text[start..end]) else { break };
        spans.extend(secret_in(view.text, start + field.start..start + field.end));
        if is_last {
            break;
        }
        start = end + 1;
    }
    if spans.is_empty() { RuleVerdict::No } else { RuleVerdict::Several(spans) }
}

enum LineEnd {
    /// More text is needed.
    Unknown,
    /// A line feed stands here.
    At(usize),
    /// The text, or what is looked at of it, ends here.
    Last(usize),
}

fn line_end(from: usize, limit: usize, view: TextView<'_>) -> LineEnd {
    let stop = limit.min(view.text.len()).max(from.min(view.text.len()));
    let from = from.min(stop);
    match view.text[from..stop].iter().position(|byte| *byte == b'\n') {
        Some(place) => LineEnd::At(from + place),
        None if stop < limit && view.open_at(stop) => LineEnd::Unknown,
        None => LineEnd::Last(stop),
    }
}

/// Returns which column of a header a place belongs to; `None` for a line that is no header.
fn column_of(header: &[u8], place: usize) -> Option<SecretColumn> {
    let separator = [b',', b';', b'\t'].into_iter().find(|separator| header.contains(separator))?;
    let is_name = |field: &[u8]| {
        let field = field.trim_ascii();
        field.len() <= NAME_BYTES_MAX
            && field.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-\"'".contains(byte))
            && field.iter().any(u8::is_ascii_alphabetic)
    };
    let columns = header.split(|byte| *byte == separator).count();
    let index = header[..place].iter().filter(|byte| **byte == separator).count();
    header.split(|byte| *byte == separator).all(is_name).then_some(SecretColumn { separator, index, columns })
}

impl SecretColumn {
    /// Returns where the column's field stands in a row; `None` for a line that is no row of the table.
    fn field(&self, row: &[u8]) -> Option<std::ops::Range<usize>> {
        let mut start = 0;
        let mut fields = row.split(|byte| *byte == self.separator).map(|field| {
            let place = start..start + field.len();
            start = place.end + 1;
            place
        });
        let field = fields.nth(self.index)?;
        let rest = fields.count();
        (self.index + 1 + rest == self.columns).then_some(field)
    }
}

fn secret_in(text: &[u8], field: std::ops::Range<usize>) -> Option<Span> {
    let framed = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
    let raw = &text[field.clone()];
    let front = raw.iter().take_while(|byte| framed(byte)).count();
    let back = raw[front..].iter().rev().take_while(|byte| framed(byte)).count();
    let (start, end) = (field.start + front, field.end - back);
    let value = &text[start..end];
    let makeup = CharacterKinds::of(value);
    let mixed = makeup.digits > 0 && makeup.letters() > 0;
    let is_secret = value.len() >= VALUE_BYTES_MIN && mixed && !is_wordy(value) && is_plausible(value);
    is_secret.then_some(Span {
        start,
        end,
        kind: "password",
        rank: RuleRank::Place,
        grows: None,
        fills_word: false,
    })
}
