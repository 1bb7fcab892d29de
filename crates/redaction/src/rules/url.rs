//! Credentials in the authority of a URL: `scheme://user:password@host`.

use crate::byte_set::ByteSet;
use crate::rules::randomness::{CharacterKinds, entropy, is_hex, is_wordy};
use crate::verdict::{RuleRank, RuleVerdict, Span, TextView};

/// What the prefilter looks for.
pub(crate) const LITERAL: &str = "://";

/// Bytes of an authority, at most.
const AUTHORITY_BYTES_MAX: usize = 512;

/// What user and password are written with (RFC 3986, and what people put there).
static USERINFO: ByteSet = ByteSet::graphic_without(b"\"'`<>()[]{}\\/?#@: ,");

/// Judges the authority that begins at `start`.
pub(crate) fn judge(start: usize, view: TextView<'_>) -> RuleVerdict {
    let limit = start + AUTHORITY_BYTES_MAX;
    let user_end = USERINFO.run(view.text, start, limit);
    if user_end < limit && view.open_at(user_end) {
        return RuleVerdict::Wait(start);
    }
    match view.byte(user_end) {
        Some(b'@') => {
            let user = &view.text[start..user_end];
            let makeup = CharacterKinds::of(user);
            let drawn = user.len() >= 16 && makeup.digits > 0 && makeup.letters() > 0 && !is_wordy(user);
            if drawn && entropy(user) >= 3.0 { found(start, user_end) } else { RuleVerdict::No }
        }
        Some(b':') => {
            let user = &view.text[start..user_end];
            let is_drawn =
                user.len() >= 8 && user.iter().any(u8::is_ascii_digit) && (is_hex(user) || !is_wordy(user));
            // What looks drawn at random is one half of a pair.
            let from = if is_drawn { start } else { user_end + 1 };
            let mut end = user_end + 1;
            // A password may have colons in it.
            while end < limit && view.byte(end).is_some_and(|byte| USERINFO.has(byte) || byte == b':') {
                end += 1;
            }
            if end < limit && view.open_at(end) {
                return RuleVerdict::Wait(from);
            }
            let password = &view.text[user_end + 1..end];
            let stands_for = password.first().is_none_or(|byte| matches!(byte, b'$' | b'%' | b'*'));
            let all_same = password.iter().all(|byte| byte.eq_ignore_ascii_case(&password[0]));
            if view.byte(end) == Some(b'@') && !stands_for && !all_same && !is_shown(password) {
                found(from, end)
            } else {
                RuleVerdict::No
            }
        }
        Some(_) | None => RuleVerdict::No,
    }
}

/// Returns whether a password is the one that documents show.
fn is_shown(password: &[u8]) -> bool {
    ["pass", "password", "passwd", "pwd", "pw", "secret", "token"]
        .iter()
        .any(|word| password.eq_ignore_ascii_case(word.as_bytes()))
}

fn found(start: usize, end: usize) -> RuleVerdict {
    RuleVerdict::Found(Span {
        start,
        end,
        kind: "url-password",
        rank: RuleRank::Place,
        grows: None,
        fills_word: false,
    })
}
