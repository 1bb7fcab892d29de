//! Base64 and hexadecimal that is written in lines or groups: MIME (RFC 2045), PEM, dumps of bytes.

use super::{FormMatch, HEAD_BYTES, REGISTERED_CHARS_MIN, base64_forms, hex};

/// Separators between two characters, at most: a line end with an indentation.
const SEPARATORS_MAX: usize = 12;

/// Returns the forms that may have separators between their characters. Each is also looked for without its first
/// characters, which another line may hold.
pub(super) fn forms(value: &[u8]) -> Vec<Box<[u8]>> {
    let plain = base64_forms(value).chain([hex(value, "0123456789abcdef"), hex(value, "0123456789ABCDEF")]);
    let mut forms: Vec<Box<[u8]>> = Vec::new();
    for form in plain {
        forms.extend(form.get(HEAD_BYTES..).map(Box::from));
        forms.push(form.into_boxed_slice());
    }
    forms.retain(|form| form.len() >= REGISTERED_CHARS_MIN);
    forms
}

/// Returns how a form may begin: without a separator, or with one behind the first two characters, as dumps have it.
pub(super) fn heads(form: &[u8]) -> Vec<Box<[u8]>> {
    let plain = Box::from(&form[..HEAD_BYTES]);
    if !form.iter().all(u8::is_ascii_hexdigit) {
        return vec![plain];
    }
    let apart = |separator: u8| Box::from([form[0], form[1], separator, form[2]]);
    vec![plain, apart(b' '), apart(b':')]
}

/// Compares the characters of a form with a text, passing over separators between them.
pub(super) fn compare(form: &[u8], rest: &[u8]) -> FormMatch {
    let mut at = 0;
    for (place, character) in form.iter().enumerate() {
        let mut passed = 0;
        while place > 0 && passed < SEPARATORS_MAX && rest.get(at) != Some(character) {
            match separator(&rest[at.min(rest.len())..]) {
                Some(0) | None => break,
                Some(bytes) => at += bytes,
            }
            passed += 1;
        }
        match rest.get(at) {
            Some(there) if there == character => at += 1,
            Some(b'\\') if at + 1 == rest.len() => return FormMatch::Perhaps,
            Some(_) => return FormMatch::No,
            None => return FormMatch::Perhaps,
        }
    }
    FormMatch::Bytes(at)
}

/// Returns the length of a separator, where the text begins with one.
fn separator(rest: &[u8]) -> Option<usize> {
    match rest {
        [b' ' | b'\t' | b'\r' | b'\n' | b':', ..] => Some(1),
        [b'\\', b'n' | b'r', ..] => Some(2),
        _ => None,
    }
}
