//! Credentials on a command line: `curl -u user:password`.

use crate::byte_set::VALUE;
use crate::verdict::{NOWHERE, RuleRank, RuleVerdict, Span, TextView};

/// What the prefilter looks for.
pub(crate) const LITERALS: [&str; 4] = [" -u", "\t-u", " --user", "\t--user"];

/// Bytes of user and password, at most.
const BYTES_MAX: usize = 512;

/// Judges what follows the option.
pub(crate) fn judge(at: usize, end: usize, view: TextView<'_>) -> RuleVerdict {
    if !view.before(at).windows(4).any(|word| word.eq_ignore_ascii_case(b"curl")) {
        return RuleVerdict::No;
    }
    let mut start = end;
    while start < end + 8 {
        match view.byte(start) {
            Some(b' ' | b'\t' | b'=' | b'"' | b'\'' | b'\\') => start += 1,
            Some(_) => break,
            None if view.open_at(start) => return RuleVerdict::Wait(NOWHERE),
            None => return RuleVerdict::No,
        }
    }
    let quote = view.byte(start - 1).filter(|byte| matches!(byte, b'"' | b'\''));
    let escaped = start >= 2 && view.byte(start - 2) == Some(b'\\');
    let limit = start + BYTES_MAX;
    let mut stop = start;
    while stop < limit {
        match view.byte(stop) {
            None if view.open_at(stop) => return RuleVerdict::Wait(start),
            None | Some(b'\n') => break,
            Some(b'\\') if escaped || quote.is_none() => break,
            Some(byte) if Some(byte) == quote => break,
            Some(byte) if quote.is_none() && !VALUE.has(byte) && byte < 0x80 => break,
            Some(_) => stop += 1,
        }
    }
    while stop > start && stop < view.text.len() && (view.text[stop] & 0xC0) == 0x80 {
        stop -= 1;
    }
    let pair = &view.text[start..stop];
    let Some(colon) = pair.iter().position(|byte| *byte == b':') else { return RuleVerdict::No };
    let password = &pair[colon + 1..];
    let stands_for = password.iter().any(|byte| b"<>{}".contains(byte)) || password.first() == Some(&b'$');
    // The part that is a secret may be the user's alone: `curl -u KEY:`.
    let from = if password.len() >= 3 { start + colon + 1 } else { start };
    let end = if password.len() >= 3 { stop } else { start + colon };
    if stands_for || end.saturating_sub(from) < 3 || password.starts_with(b"secret:") {
        return RuleVerdict::No;
    }
    RuleVerdict::Found(Span {
        start: from,
        end,
        kind: "curl-user",
        rank: RuleRank::Place,
        grows: None,
        fills_word: false,
    })
}
