//! The data of a Kubernetes secret, as YAML or JSON: base64 behind names of any kind.

use crate::byte_set::{BASE64, NAME};
use crate::verdict::{NOWHERE, RuleRank, RuleVerdict, Span, TextView};

/// What the prefilter looks for.
pub(crate) const LITERALS: [&str; 2] = ["data:", "data\":"];

/// Bytes of the data that are looked at, at most.
const DATA_BYTES_MAX: usize = 4_096;
/// Bytes around the data in which its kind is looked for.
const KIND_BYTES_MAX: usize = 200;
/// Bytes of a value, at least.
const VALUE_BYTES_MIN: usize = 8;

/// Judges the entries behind `data:`.
pub(crate) fn judge(at: usize, end: usize, view: TextView<'_>) -> RuleVerdict {
    let mut spans = Vec::new();
    let mut place = end;
    let limit = end + DATA_BYTES_MAX;
    let first = |spans: &Vec<Span>| spans.first().map_or(NOWHERE, |span| span.start);
    while let Some((start, stop)) = entry(place, view) {
        if view.open_at(stop) {
            return RuleVerdict::Wait(first(&spans).min(start));
        }
        if stop - start < VALUE_BYTES_MIN || stop > limit {
            break;
        }
        spans.push(Span {
            start,
            end: stop,
            kind: "kubernetes-secret",
            rank: RuleRank::Place,
            grows: None,
            fills_word: false,
        });
        place = stop;
    }
    let is_behind = says_secret(view.before(at));
    if !is_behind && view.open_at(place + KIND_BYTES_MAX) {
        return RuleVerdict::Wait(first(&spans));
    }
    let ahead = &view.text[place.min(view.text.len())..view.text.len().min(place + KIND_BYTES_MAX)];
    if spans.is_empty() || !(is_behind || says_secret(ahead)) {
        RuleVerdict::No
    } else {
        RuleVerdict::Several(spans)
    }
}

/// Returns where the next value begins and ends.
fn entry(place: usize, view: TextView<'_>) -> Option<(usize, usize)> {
    let skip = |mut at: usize, set: &[u8]| {
        while view.byte(at).is_some_and(|byte| set.contains(&byte)) {
            at += 1;
        }
        at
    };
    let name = skip(place, b" \t\r\n\"',{\\n");
    let name_end = NAME.run(view.text, name, name + 128);
    if view.open_at(name_end) {
        return Some((name, view.text.len()));
    }
    let colon = skip(name_end, b"\"'\\");
    if view.open_at(colon) {
        return Some((colon, view.text.len()));
    }
    if name_end == name || view.byte(colon) != Some(b':') {
        return None;
    }
    let start = skip(colon + 1, b" \t\"'|>+-\\\r\n");
    Some((start, BASE64.run(view.text, start, start + DATA_BYTES_MAX)))
}

/// Returns whether a text names the kind of a secret.
fn says_secret(text: &[u8]) -> bool {
    let kinds = text.windows(4).enumerate().filter(|(_, word)| word.eq_ignore_ascii_case(b"kind"));
    kinds.into_iter().any(|(at, _)| {
        let value = text[at + 4..].iter().position(|byte| !b"\"' \t:\\".contains(byte));
        let value = value.map(|skipped| &text[at + 4 + skipped..]);
        value.is_some_and(|value| value.len() >= 6 && value[..6].eq_ignore_ascii_case(b"secret"))
    })
}
