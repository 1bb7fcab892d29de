//! What a secret looks like: one file per way of recognising one.
//!
//! Tokens are recognised by how they begin and what they are made of; assignments by the name in front; others by
//! their place in a URL, a header, a key file. Every rule is asked only where the prefilter saw its literal.

pub(crate) mod token;

pub(crate) mod assignment;
pub(crate) mod name;
pub(crate) mod randomness;
pub(crate) mod vendor;

pub(crate) mod credentials;
pub(crate) mod csv;
pub(crate) mod line;
pub(crate) mod header;
pub(crate) mod key_block;
pub(crate) mod manifest;
pub(crate) mod url;

/// Returns whether something can begin at a place: no letter or digit stands before it, or one that belongs to an
/// escape (`\n`, `%20`, `\u0022`).
pub(crate) fn boundary(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(6)..at];
    match before {
        [] => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [b'\\', b'u', rest @ ..] => rest.iter().all(u8::is_ascii_hexdigit),
        _ => false,
    }
}
