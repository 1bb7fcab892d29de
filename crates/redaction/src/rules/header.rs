//! Values of the headers that authorise: `Authorization`, `Cookie`, `Set-Cookie`, and credentials behind a scheme.

use crate::byte_set::ByteSet;
use crate::rules::randomness::{CharacterKinds, entropy, is_wordy};
use crate::verdict::{NOWHERE, RuleRank, RuleVerdict, Span, TextView};

/// Literals of this family.
pub(crate) const AUTHORIZATION: &str = "authorization";
pub(crate) const COOKIE: &str = "cookie";
pub(crate) const SCHEMES: [&str; 3] = ["bearer ", "basic ", "apikey "];

/// Bytes of a header's value, at most.
const HEADER_BYTES_MAX: usize = 4_096;
/// Bytes of a credential, at least.
const CREDENTIAL_BYTES_MIN: usize = 8;

/// Everything on the line, but no quote that would end the text around it.
static LINE: ByteSet = ByteSet::graphic_without(b"\"'`<>{}\\");
static CREDENTIAL: ByteSet = ByteSet::graphic_without(b"\"'`<>()[]{},;\\&");

/// Judges what follows the name of a header.
pub(crate) fn authorization(end: usize, view: TextView<'_>) -> RuleVerdict {
    let start = match value_start(end, view) {
        HeaderPlace::Unknown => return RuleVerdict::Wait(NOWHERE),
        HeaderPlace::Not => return RuleVerdict::No,
        HeaderPlace::At(start) => start,
    };
    // The scheme stays.
    let word = CREDENTIAL.run(view.text, start, start + HEADER_BYTES_MAX);
    if view.open_at(word) || view.open_at(word + 1) {
        return RuleVerdict::Wait(start);
    }
    let said = &view.text[start..word];
    let is_scheme = said.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') && said.len() <= 24;
    if !is_scheme || view.byte(word) != Some(b' ') {
        return credential(start, word, view);
    }
    let from = word + 1;
    let whole_line = !["bearer", "basic", "token", "apikey", "bot", "key"]
        .iter()
        .any(|scheme| said.eq_ignore_ascii_case(scheme.as_bytes()));
    if whole_line {
        return line(from, "authorization-header", view);
    }
    let stop = CREDENTIAL.run(view.text, from, from + HEADER_BYTES_MAX);
    if stop < from + HEADER_BYTES_MAX && view.open_at(stop) {
        return RuleVerdict::Wait(from);
    }
    credential(from, stop, view)
}

fn credential(start: usize, end: usize, view: TextView<'_>) -> RuleVerdict {
    let value = &view.text[start.min(end)..end];
    let makeup = CharacterKinds::of(value);
    let drawn = (makeup.digits > 0 && makeup.letters() > 0) || value.ends_with(b"=") || !is_wordy(value);
    if value.len() < CREDENTIAL_BYTES_MIN || !drawn || entropy(value) < 2.2 {
        return RuleVerdict::No;
    }
    found(start, end, "authorization-header")
}

/// Judges what follows a scheme that stands without its header.
pub(crate) fn scheme(end: usize, view: TextView<'_>) -> RuleVerdict {
    let stop = CREDENTIAL.run(view.text, end, end + HEADER_BYTES_MAX);
    if stop < end + HEADER_BYTES_MAX && view.open_at(stop) {
        return RuleVerdict::Wait(end);
    }
    let value = &view.text[end.min(stop)..stop];
    let makeup = CharacterKinds::of(value);
    let mixed = makeup.digits > 0 && makeup.letters() > 0;
    if value.len() < 12 || is_wordy(value) || !mixed || entropy(value) < 3.0 {
        return RuleVerdict::No;
    }
    found(end, stop, "authorization-header")
}

/// Judges what follows the word "cookie".
pub(crate) fn cookie(end: usize, view: TextView<'_>) -> RuleVerdict {
    let start = match value_start(end, view) {
        HeaderPlace::Unknown => return RuleVerdict::Wait(NOWHERE),
        HeaderPlace::Not => return RuleVerdict::No,
        HeaderPlace::At(start) => start,
    };
    line(start, "cookie-header", view)
}

/// Takes the rest of a line, when it holds pairs of which one looks drawn at random.
fn line(start: usize, kind: &'static str, view: TextView<'_>) -> RuleVerdict {
    let limit = start + HEADER_BYTES_MAX;
    let mut end = start;
    while end < limit {
        match view.byte(end) {
            Some(byte) if LINE.has(byte) || byte == b' ' => end += 1,
            Some(b'"') if kind == "authorization-header" => end += 1,
            None if view.open_at(end) => return RuleVerdict::Wait(start),
            Some(_) | None => break,
        }
    }
    while end > start && matches!(view.text[end - 1], b' ' | b'"') {
        end -= 1;
    }
    let drawn = |pair: &[u8]| {
        let value = pair.splitn(2, |byte| *byte == b'=').nth(1).unwrap_or_default();
        let makeup = CharacterKinds::of(value);
        value.len() >= 6 && makeup.digits > 0 && makeup.letters() > 0
    };
    let pairs = view.text[start..end].split(|byte| matches!(byte, b';' | b',' | b' '));
    if pairs.into_iter().any(drawn) { found(start, end, kind) } else { RuleVerdict::No }
}

enum HeaderPlace {
    Unknown,
    Not,
    At(usize),
}

/// Returns where the value behind a header's name begins.
fn value_start(end: usize, view: TextView<'_>) -> HeaderPlace {
    let mut at = end;
    let mut joined = false;
    while at < end + 12 {
        match view.byte(at) {
            Some(b':' | b'=') if !joined => joined = true,
            Some(b',') if !joined && matches!(view.byte(at - 1), Some(b'"' | b'\'')) => joined = true,
            Some(b' ' | b'\t' | b'"' | b'\'' | b'\\' | b']') => {}
            Some(b'>') if view.byte(at - 1) == Some(b'=') => {}
            Some(_) => break,
            None => return if view.open_at(at) { HeaderPlace::Unknown } else { HeaderPlace::Not },
        }
        at += 1;
    }
    if joined { HeaderPlace::At(at) } else { HeaderPlace::Not }
}

fn found(start: usize, end: usize, kind: &'static str) -> RuleVerdict {
    RuleVerdict::Found(Span { start, end, kind, rank: RuleRank::Place, grows: None, fills_word: false })
}
