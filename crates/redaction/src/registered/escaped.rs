//! A value whose characters stand by themselves or as escapes, in any mixture and either case: percent-encoding
//! (RFC 3986), `\\uXXXX` of JSON (RFC 8259), also within another JSON text, `\\xXX`, and numeric character references
//! of HTML.

use std::collections::BTreeSet;

use super::{FormMatch, HEAD_BYTES};

/// Ways in which a character can be read at once, at most; more are forgotten.
const PLACES_MAX: usize = 4;

/// Returns the first bytes of every way to write the beginning of a value.
pub(super) fn heads(value: &str) -> BTreeSet<Box<[u8]>> {
    let mut heads = BTreeSet::new();
    let mut begun: BTreeSet<Vec<u8>> = BTreeSet::from([Vec::new()]);
    for character in value.chars().take(HEAD_BYTES) {
        let mut longer = BTreeSet::new();
        for head in &begun {
            for cased in
                spellings(character).iter().flat_map(|spelling| spelling.cases(HEAD_BYTES - head.len()))
            {
                let next = [head.as_slice(), &cased].concat();
                if next.len() == HEAD_BYTES {
                    heads.insert(next.into_boxed_slice());
                } else {
                    longer.insert(next);
                }
            }
        }
        begun = longer;
    }
    heads
}

/// Compares a value with the beginning of a text.
pub(super) fn compare(value: &str, rest: &[u8]) -> FormMatch {
    if value.chars().next().is_none_or(|first| begins_with_another(first, rest)) {
        return FormMatch::No;
    }
    let mut places = vec![0_usize];
    let mut is_open = false;
    for character in value.chars() {
        let mut next: Vec<usize> = Vec::new();
        for place in &places {
            let there = &rest[*place..];
            for spelling in spellings(character) {
                match spelling.compare(there) {
                    FormMatch::Bytes(bytes) if !next.contains(&(place + bytes)) => next.push(place + bytes),
                    FormMatch::Perhaps => is_open = true,
                    FormMatch::Bytes(_) | FormMatch::No => {}
                }
            }
        }
        next.truncate(PLACES_MAX);
        places = next;
        if places.is_empty() {
            break;
        }
    }
    match places.into_iter().max() {
        _ if is_open => FormMatch::Perhaps,
        Some(end) => FormMatch::Bytes(end),
        None => FormMatch::No,
    }
}

/// Returns whether a text begins with the JSON escape of another character. Their heads tell nothing of the character,
/// so that each of them would make every value be compared.
fn begins_with_another(first: char, rest: &[u8]) -> bool {
    let digits = match rest {
        [b'\\', b'u', digits @ ..] | [b'\\', b'\\', b'u', digits @ ..] => digits.get(..4),
        _ => None,
    };
    let written = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    let unit = written.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let mut units = [0; 2];
    let wanted = first.encode_utf16(&mut units)[0];
    // A value may itself begin with a backslash.
    unit.is_some_and(|unit| unit != wanted) && first != '\\'
}

/// One way to write a character.
struct CharacterSpelling {
    text: String,
    /// Whether the case of its letters matters.
    is_raw: bool,
}

impl CharacterSpelling {
    fn compare(&self, rest: &[u8]) -> FormMatch {
        let text = self.text.as_bytes();
        let there = &rest[..rest.len().min(text.len())];
        let same = |text: &[u8]| if self.is_raw { there == text } else { there.eq_ignore_ascii_case(text) };
        if there.len() == text.len() {
            return if same(text) { FormMatch::Bytes(text.len()) } else { FormMatch::No };
        }
        if same(&text[..there.len()]) { FormMatch::Perhaps } else { FormMatch::No }
    }

    /// Returns its first bytes, so many at most, in each case that their letters may have.
    fn cases(&self, bytes_max: usize) -> Vec<Vec<u8>> {
        let text = self.text.as_bytes();
        let text = &text[..text.len().min(bytes_max)];
        if self.is_raw {
            return vec![text.to_vec()];
        }
        let both = |byte: &u8| BTreeSet::from([byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]);
        text.iter().fold(vec![Vec::new()], |begun, byte| {
            let longer = |start: &Vec<u8>| {
                both(byte).into_iter().map(|byte| [start.as_slice(), &[byte]].concat()).collect::<Vec<_>>()
            };
            begun.iter().flat_map(longer).collect()
        })
    }
}

fn spellings(character: char) -> Vec<CharacterSpelling> {
    let mut bytes = [0; 4];
    let bytes = character.encode_utf8(&mut bytes).as_bytes();
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units);
    let of_bytes = |mark: &str| bytes.iter().map(|byte| format!("{mark}{byte:02x}")).collect::<String>();
    let of_units = |mark: &str| units.iter().map(|unit| format!("{mark}{unit:04x}")).collect::<String>();
    let number = u32::from(character);
    let escapes = [
        of_bytes("%"),
        of_bytes("\\x"),
        of_units("\\u"),
        of_units("\\\\u"),
        format!("&#{number};"),
        format!("&#x{number:x};"),
    ];
    let raw = CharacterSpelling { text: character.to_string(), is_raw: true };
    let plus = (character == ' ').then(|| CharacterSpelling { text: "+".to_owned(), is_raw: true });
    let escapes = escapes.into_iter().map(|text| CharacterSpelling { text, is_raw: false });
    [raw].into_iter().chain(plus).chain(escapes).collect()
}
