//! Secrets that a command, a statement or a phrase names on the same line.
//!
//! Owns the table, by family, and how a row is compared with a text. Invariant: a row is decided when the lines that it
//! looks at have ended, or [`WINDOW_BYTES_MAX`] bytes of them are there, so that cuts change nothing.

mod commands;
mod keys;
mod phrases;
mod urls;

use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use crate::rules::assignment::{AssignedValue, ValueForm};
use crate::rules::name::{self, is_example, is_reference};
use crate::rules::randomness::{CharacterKinds, entropy, is_wordy};
use crate::verdict::{RuleRank, RuleVerdict, Span, TextView};

/// Bytes behind the beginning of a literal that a row looks at, at most.
const WINDOW_BYTES_MAX: usize = 512;
/// The same for a row whose secret goes on over many lines.
const BLOCK_BYTES_MAX: usize = 4_096;
/// Lines of such a secret, at most.
const BLOCK_LINES_MAX: usize = 80;
/// A value in quotes, or a word that is no option and refers to nothing else.
macro_rules! value {
    () => {
        r#"(?:'([^'\r\n]{4,})'|"([^"\r\n]{4,})"|([^\s'"`<>$;|&(),\[\]{}-][^\s'"`<>;|&(),\[\]{}]{3,}))"#
    };
}
pub(super) use value;

/// One way in which a line holds a secret.
#[derive(Debug)]
pub(crate) struct LineRule {
    kind: &'static str,
    /// The literal that the prefilter looks for, with which the pattern begins.
    pub(crate) start: &'static str,
    /// What follows, in any case; the first group that takes part is the secret.
    pattern: &'static str,
    check: ValueCheck,
    span: LineSpan,
    compiled: OnceLock<Regex>,
}

/// What a value has to be besides being at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueCheck {
    /// No reference and no example.
    Plausible,
    /// Also drawn at random, so many tenths of a bit per character.
    Drawn(u8),
    /// Written as passwords are: letters and digits that make no word.
    Password,
    /// What the rule of names says of a value that stands behind the name in the group `name`.
    Named,
    /// Base64 (RFC 4648) of `user:password`.
    UserPassword,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineSpan {
    One,
    /// The literal begins the secret, which may go on over many lines.
    Block,
}

impl LineRule {
    const fn new(kind: &'static str, start: &'static str, pattern: &'static str) -> Self {
        Self {
            kind,
            start,
            pattern,
            check: ValueCheck::Plausible,
            span: LineSpan::One,
            compiled: OnceLock::new(),
        }
    }

    const fn check(mut self, check: ValueCheck) -> Self {
        self.check = check;
        self
    }

    const fn block(mut self) -> Self {
        self.span = LineSpan::Block;
        self
    }

    /// Returns whether nothing but a border may stand before it.
    pub(crate) fn needs_boundary(&self) -> bool {
        self.start.as_bytes()[0].is_ascii_alphanumeric()
    }

    fn compiled(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            let mut builder =
                RegexBuilder::new(&format!(r"\A(?:{}{})", regex::escape(self.start), self.pattern));
            let built = builder.unicode(false).case_insensitive(true).build();
            built.expect("every pattern of the table is compiled by a test")
        })
    }

    /// Judges the lines that begin with this rule's literal, which stands from `at` to `literal_end`.
    pub(crate) fn judge(&self, at: usize, literal_end: usize, view: TextView<'_>) -> RuleVerdict {
        let (reach, lines) = match self.span {
            LineSpan::One => (at + WINDOW_BYTES_MAX, 1),
            LineSpan::Block => (at + BLOCK_BYTES_MAX, BLOCK_LINES_MAX),
        };
        let Some(stop) = window_end(at, reach, lines, view) else {
            return RuleVerdict::Wait(if self.span == LineSpan::Block { at } else { literal_end });
        };
        let Some(found) = self.compiled().captures(&view.text[at..stop]) else { return RuleVerdict::No };
        let group =
            (1..found.len()).filter(|group| *group != self.name_group()).find_map(|group| found.get(group));
        let Some(secret) = group.or_else(|| found.get(0).filter(|_| self.span == LineSpan::Block)) else {
            return RuleVerdict::No;
        };
        if !self.accepts(secret.as_bytes(), &found) {
            return RuleVerdict::No;
        }
        let (start, end) = (at + secret.start(), at + secret.end());
        RuleVerdict::Found(Span {
            start,
            end,
            kind: self.kind,
            rank: RuleRank::Place,
            grows: None,
            fills_word: false,
        })
    }

    /// The group of the name, where there is one: it is the first.
    fn name_group(&self) -> usize {
        usize::from(self.check == ValueCheck::Named)
    }

    fn accepts(&self, value: &[u8], found: &Captures<'_>) -> bool {
        match self.check {
            ValueCheck::Plausible => is_plausible(value),
            ValueCheck::Drawn(tenths) => is_plausible(value) && entropy(value) >= f32::from(tenths) / 10.0,
            ValueCheck::Password => {
                let makeup = CharacterKinds::of(value);
                let mixed = makeup.digits > 0 && makeup.letters() > 0;
                mixed && !is_wordy(value) && is_plausible(value) && entropy(value) >= 2.5
            }
            ValueCheck::Named => found.get(1).is_some_and(|named| {
                let assigned = AssignedValue {
                    name: named.as_bytes(),
                    value,
                    start: 0,
                    end: value.len(),
                    joint: ValueForm::Said,
                    is_compared: false,
                    is_called: false,
                    goes_on: false,
                };
                name::judge(&assigned).is_some()
            }),
            ValueCheck::UserPassword => holds_a_pair(value),
        }
    }
}

/// Returns where the lines end that are looked at; `None` while more text could change that.
fn window_end(at: usize, reach: usize, lines: usize, view: TextView<'_>) -> Option<usize> {
    let limit = reach.min(view.text.len());
    let ends = view.text[at..limit].iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    match ends.map(|(place, _)| at + place).nth(lines - 1) {
        Some(end) => Some(end),
        None if limit < reach && view.open_at(limit) => None,
        None => Some(char_start(view.text, limit)),
    }
}

/// Returns the beginning of the character that a place is in.
fn char_start(text: &[u8], mut place: usize) -> usize {
    while place < text.len() && place > 0 && (text[place] & 0xC0) == 0x80 {
        place -= 1;
    }
    place
}

/// Words that documents show where a secret would be.
const SHOWN: [&str; 12] = [
    "password",
    "passwd",
    "pass",
    "secret",
    "token",
    "pwd",
    "mypassword",
    "my-password",
    "my_password",
    "value",
    "string",
    "null",
];

pub(super) fn is_plausible(value: &[u8]) -> bool {
    !is_reference(value)
        && !is_example(value)
        && !SHOWN.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

fn holds_a_pair(value: &[u8]) -> bool {
    let mut bits = 0_u32;
    let mut count = 0;
    let mut decoded = Vec::with_capacity(value.len());
    for byte in value.iter().take_while(|byte| **byte != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(six);
        count += 1;
        if count == 4 {
            decoded.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
        }
    }
    // A file of logins names nothing else `auth`; drawn values need not decode to text.
    decoded.contains(&b':') || entropy(value) >= 3.0
}

/// Every row, by family.
pub(crate) fn all() -> impl Iterator<Item = &'static LineRule> {
    let families: [&'static [LineRule]; 4] = [&commands::LINES, &phrases::LINES, &urls::LINES, &keys::LINES];
    families.into_iter().flatten()
}

#[cfg(test)]
mod tests;
