//! Values that are known to be secret, in every form in which a text may hold them.
//!
//! Owns the forms and how they are looked up; [`escaped`] reads values with escapes in them. Invariant: no value and no part of one is ever shown; `Debug` says
//! how many there are.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;
use std::sync::Arc;

use aho_corasick::dfa::DFA;
use palyra_types::Content;

use crate::verdict::{RuleRank, RuleVerdict, Span, TextView};

mod escaped;
mod spread;

/// One way in which a value may stand in a text.
enum ValueForm {
    /// These bytes.
    Exact(Box<[u8]>),
    /// These characters, with line ends, blanks and colons between them.
    Spread(Box<[u8]>),
    /// The value, each character by itself or as any of the escapes of [`escaped`].
    Escaped(Box<str>),
}

/// What comparing a form with a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormMatch {
    No,
    /// The text ends before it can be known.
    Perhaps,
    /// It is there, in so many bytes.
    Bytes(usize),
}

impl ValueForm {
    fn compare(&self, rest: &[u8]) -> FormMatch {
        match self {
            Self::Exact(form) if rest.starts_with(form) => FormMatch::Bytes(form.len()),
            Self::Exact(form) if rest.len() < form.len() && form.starts_with(rest) => FormMatch::Perhaps,
            Self::Exact(_) => FormMatch::No,
            Self::Spread(form) => spread::compare(form, rest),
            Self::Escaped(value) => escaped::compare(value, rest),
        }
    }
}

/// Characters of a value that is looked for, at least: shorter ones occur by chance.
pub const REGISTERED_CHARS_MIN: usize = 12;
/// Values that are looked for, at most; a set of more is refused as a whole.
pub const REGISTERED_VALUES_MAX: usize = 1_024;
/// Bytes of a form that make the search look closer. Text is held back from there on.
pub(crate) const HEAD_BYTES: usize = 4;

/// Why a set of values is not looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// There are too many of them.
    #[error("{REGISTERED_VALUES_MAX} values are looked for in texts at most")]
    TooMany,
    /// They are too long together for one search.
    #[error("the values are too long together to be looked for in texts")]
    TooLarge,
}

/// The values that are looked for.
pub(crate) struct RegisteredValues {
    heads: DFA,
    /// Behind each head, the forms that begin with it.
    groups: Vec<Vec<Arc<ValueForm>>>,
    values: usize,
}

impl fmt::Debug for RegisteredValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} registered values>", self.values)
    }
}

impl RegisteredValues {
    /// Prepares values; `None` when none of them is long enough.
    pub(crate) fn new(values: &[Content<String>]) -> Result<Option<Self>, RegisterError> {
        let long = |value: &&Content<String>| value.expose().chars().count() >= REGISTERED_CHARS_MIN;
        if values.iter().filter(long).count() > REGISTERED_VALUES_MAX {
            return Err(RegisterError::TooMany);
        }
        let mut groups: BTreeMap<Box<[u8]>, Vec<Arc<ValueForm>>> = BTreeMap::new();
        let mut add =
            |head: Box<[u8]>, form: &Arc<ValueForm>| groups.entry(head).or_default().push(Arc::clone(form));
        let mut known = 0;
        for value in values.iter().filter(long) {
            known += 1;
            let value = value.expose();
            for form in forms(value) {
                add(form[..HEAD_BYTES].into(), &Arc::new(ValueForm::Exact(form)));
            }
            for form in spread::forms(value.as_bytes()) {
                let heads = spread::heads(&form);
                let form = Arc::new(ValueForm::Spread(form));
                heads.into_iter().for_each(|head| add(head, &form));
            }
            let escaped = Arc::new(ValueForm::Escaped(value.as_str().into()));
            escaped::heads(value).into_iter().for_each(|head| add(head, &escaped));
        }
        if groups.is_empty() {
            return Ok(None);
        }
        let heads = DFA::builder().prefilter(false).build(groups.keys());
        let heads = heads.map_err(|_| RegisterError::TooLarge)?;
        Ok(Some(Self { heads, groups: groups.into_values().collect(), values: known }))
    }

    pub(crate) fn heads(&self) -> &DFA {
        &self.heads
    }

    /// Judges whether a form of a group stands at a place: the longest of them.
    pub(crate) fn judge(&self, group: usize, at: usize, view: TextView<'_>) -> RuleVerdict {
        let rest = &view.text[at..];
        let mut longest = None;
        for form in &self.groups[group] {
            match form.compare(rest) {
                FormMatch::Bytes(bytes) => longest = longest.max(Some(bytes)),
                FormMatch::Perhaps if view.open_at(view.text.len()) => return RuleVerdict::Wait(at),
                FormMatch::Perhaps | FormMatch::No => {}
            }
        }
        longest.map_or(RuleVerdict::No, |bytes| {
            let end = at + bytes;
            RuleVerdict::Found(Span {
                start: at,
                end,
                kind: "vault",
                rank: RuleRank::Registered,
                grows: None,
                fills_word: false,
            })
        })
    }
}

/// Returns a value in all its forms, each at least as long as [`REGISTERED_CHARS_MIN`].
fn forms(value: &str) -> Vec<Box<[u8]>> {
    let bytes = value.as_bytes();
    let mut forms: Vec<Vec<u8>> = vec![
        bytes.to_vec(),
        value.chars().rev().collect::<String>().into_bytes(),
        hex(bytes, "0123456789abcdef"),
        hex(bytes, "0123456789ABCDEF"),
    ];
    forms.extend(base64_forms(bytes));
    for digits in ["0123456789ABCDEF", "0123456789abcdef"] {
        for space in ["%20", "+"] {
            for kept in [&b"-_.~"[..], b"-_.~!*'()", b"-_.~*"] {
                forms.push(percent(bytes, digits, space, kept));
            }
        }
    }
    let json = serde_json::to_string(value).unwrap_or_default();
    let inner = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
    forms.push(inner.as_bytes().to_vec());
    forms.push(inner.replace('/', r"\/").into_bytes());
    forms.push(ascii_json(inner).into_bytes());
    // A JSON text within a JSON text.
    let twice = serde_json::to_string(inner).unwrap_or_default();
    forms.push(twice.get(1..twice.len().saturating_sub(1)).unwrap_or_default().as_bytes().to_vec());
    forms.retain(|form| form.len() >= REGISTERED_CHARS_MIN);
    forms.into_iter().map(Vec::into_boxed_slice).collect()
}

fn hex(bytes: &[u8], digits: &str) -> Vec<u8> {
    let digits = digits.as_bytes();
    bytes.iter().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]).collect()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns what base64 makes of the value in either alphabet, whatever number of bytes stands before it.
fn base64_forms(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let alphabets = [STANDARD, URL_SAFE].into_iter();
    alphabets.flat_map(move |alphabet| (0..3).map(move |offset| base64_inside(bytes, offset, alphabet)))
}

/// Returns the characters of base64 (RFC 4648) that are the same whatever `offset` bytes stand before the value and
/// whatever follows it.
fn base64_inside(bytes: &[u8], offset: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bit = |at: usize| {
        let (byte, bit) = (at / 8, at % 8);
        let byte = if byte < offset { 0 } else { bytes.get(byte - offset).copied().unwrap_or(0) };
        (byte >> (7 - bit)) & 1
    };
    let first = (offset * 8).div_ceil(6);
    let last = (offset + bytes.len()) * 8 / 6;
    let character = |at: usize| {
        let six = (0..6).fold(0_u8, |six, next| six << 1 | bit(at * 6 + next));
        alphabet[usize::from(six)]
    };
    (first..last).map(character).collect()
}

/// Percent-encodes (RFC 3986) all but letters, digits and `kept`.
fn percent(bytes: &[u8], digits: &str, space: &str, kept: &[u8]) -> Vec<u8> {
    let digits = digits.as_bytes();
    let mut encoded = Vec::new();
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || kept.contains(byte) {
            encoded.push(*byte);
        } else if *byte == b' ' {
            encoded.extend_from_slice(space.as_bytes());
        } else {
            encoded.extend([b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
    }
    encoded
}

/// Writes everything outside of ASCII as JSON escapes.
fn ascii_json(text: &str) -> String {
    let mut escaped = String::new();
    for unit in text.chars() {
        if unit.is_ascii() {
            escaped.push(unit);
        } else {
            let mut units = [0; 2];
            for unit in unit.encode_utf16(&mut units) {
                // Writing into a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}
