//! Tokens that are known by how they begin.
//!
//! Owns the table, by family, and how one of its rows is compared with a text. Invariant: a row is decided when
//! its word has ended, or has reached [`TOKEN_BYTES_MAX`].

mod ai;
mod chat;
mod cloud;
mod code;
mod key;
mod money;
mod saas;

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::byte_set::{TOKEN, TOKEN_REST};
use crate::rules::randomness::entropy;
use crate::verdict::{RuleRank, RuleVerdict, Span, TextView};

/// Bytes of a token that are compared with its pattern, at most; what goes on after them goes with it.
pub(crate) const TOKEN_BYTES_MAX: usize = 1_024;
/// Bits per character that a token has at least, unless its row says otherwise.
const ENTROPY_MIN: f32 = 2.2;

/// One kind of token.
#[derive(Debug)]
pub(crate) struct TokenRule {
    pub(crate) kind: &'static str,
    /// How it begins; the prefilter looks for this.
    pub(crate) start: &'static str,
    /// What follows, as a regular expression over ASCII.
    body: &'static str,
    case: LetterCase,
    digits: DigitRule,
    entropy_min: f32,
    /// What stands before it and stays: how many bytes, and what they are.
    behind: Option<LiteralPrefix>,
    compiled: OnceLock<CompiledToken>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LetterCase {
    AsWritten,
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DigitRule {
    Any,
    AtLeastOne,
}

/// What stands before the literal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LiteralPrefix {
    /// A regular expression over what stands before.
    pattern: &'static str,
    /// Bytes of it that are part of the secret.
    secret_bytes: usize,
}

#[derive(Debug)]
struct CompiledToken {
    shape: Regex,
    behind: Option<Regex>,
    bytes_min: usize,
}

impl TokenRule {
    const fn new(kind: &'static str, start: &'static str, body: &'static str) -> Self {
        Self {
            kind,
            start,
            body,
            case: LetterCase::AsWritten,
            digits: DigitRule::Any,
            entropy_min: ENTROPY_MIN,
            behind: None,
            compiled: OnceLock::new(),
        }
    }

    /// Takes the start in any case.
    const fn any_case(mut self) -> Self {
        self.case = LetterCase::Any;
        self
    }

    /// Wants a digit after the start.
    const fn with_digit(mut self) -> Self {
        self.digits = DigitRule::AtLeastOne;
        self
    }

    const fn entropy(mut self, bits: f32) -> Self {
        self.entropy_min = bits;
        self
    }

    /// Wants something before the start; its last `secret_bytes` are part of the secret.
    const fn behind(mut self, pattern: &'static str, secret_bytes: usize) -> Self {
        self.behind = Some(LiteralPrefix { pattern, secret_bytes });
        self
    }

    /// Returns whether nothing but a border may stand before it.
    pub(crate) fn needs_boundary(&self) -> bool {
        self.behind.is_none()
    }

    fn compiled(&self) -> &CompiledToken {
        self.compiled.get_or_init(|| {
            let start = regex::escape(self.start);
            let pattern = match self.case {
                LetterCase::AsWritten => format!("{start}(?:{})", self.body),
                LetterCase::Any => format!("(?i:{start})(?:{})", self.body),
            };
            let shape = regex(&format!(r"\A(?:{pattern})"));
            let behind = self.behind.map(|behind| regex(&format!(r"(?:{})\z", behind.pattern)));
            let parsed = regex_syntax::parse(&pattern).expect("the same pattern was compiled");
            CompiledToken { shape, behind, bytes_min: parsed.properties().minimum_len().unwrap_or(0) }
        })
    }

    /// Returns where the end of a text may be the beginning of this rule's literal, with what has to stand before it.
    fn partial(&self, text: &[u8]) -> Option<usize> {
        let literal = self.start.as_bytes();
        let begun = (1..literal.len()).rev().filter_map(|bytes| text.len().checked_sub(bytes));
        let begun = begun.filter(|at| text[*at..].eq_ignore_ascii_case(&literal[..text.len() - at]));
        let behind = |at: &usize| {
            let before = &text[at.saturating_sub(64)..*at];
            self.compiled().behind.as_ref().is_some_and(|behind| behind.is_match(before))
        };
        begun.into_iter().find(behind)
    }

    /// Judges the word that begins with this rule's literal.
    pub(crate) fn judge(&self, at: usize, literal_end: usize, view: TextView<'_>) -> RuleVerdict {
        let reach = at + TOKEN_BYTES_MAX;
        let stop = TOKEN.run(view.text, literal_end, reach);
        let secret_bytes = self.behind.map_or(0, |behind| behind.secret_bytes);
        let from = at - secret_bytes.min(at);
        if stop < reach && view.open_at(stop) {
            return RuleVerdict::Wait(from);
        }
        let compiled = self.compiled();
        let word = &view.text[at..stop];
        if word.len() < compiled.bytes_min {
            return RuleVerdict::No;
        }
        let Some(found) = compiled.shape.find(word) else { return RuleVerdict::No };
        let end = at + found.end();
        let goes_on = word.get(found.end()).is_some_and(u8::is_ascii_alphanumeric);
        let body = &view.text[literal_end.min(end)..end];
        let lacks_digit = self.digits == DigitRule::AtLeastOne && !body.iter().any(u8::is_ascii_digit);
        let behind = compiled.behind.as_ref().is_none_or(|behind| behind.is_match(view.just_before(at, 64)));
        let is_plain = entropy(&view.text[from..end]) < self.entropy_min;
        if goes_on || lacks_digit || !behind || is_plain {
            return RuleVerdict::No;
        }
        let grows = (end == reach).then_some(&TOKEN_REST);
        RuleVerdict::Found(Span {
            start: from,
            end,
            kind: self.kind,
            rank: RuleRank::Token,
            grows,
            fills_word: end == stop,
        })
    }
}

fn regex(pattern: &str) -> Regex {
    let built = RegexBuilder::new(pattern).unicode(false).build();
    built.expect("every pattern of the table is compiled by a test")
}

/// Every kind of token, by family.
pub(crate) fn all() -> impl Iterator<Item = &'static TokenRule> {
    let families: [&'static [TokenRule]; 7] = [
        &cloud::TOKENS,
        &code::TOKENS,
        &chat::TOKENS,
        &money::TOKENS,
        &ai::TOKENS,
        &saas::TOKENS,
        &key::TOKENS,
    ];
    families.into_iter().flatten()
}

/// Returns where the end of a text may be the beginning of a token that wants something before it.
pub(crate) fn partial_start(text: &[u8]) -> Option<usize> {
    static RULES: std::sync::LazyLock<Vec<&TokenRule>> = std::sync::LazyLock::new(|| {
        all().filter(|rule| rule.behind.is_some_and(|behind| behind.secret_bytes == 0)).collect()
    });
    RULES.iter().filter_map(|rule| rule.partial(text)).chain(licence_start(text)).min()
}

/// Returns where a word at the end of a text may still become a key that is known by how it ends, behind the part
/// that stays: six characters, `_`, 29 characters, `_mmk`.
fn licence_start(text: &[u8]) -> Option<usize> {
    let word =
        text.iter().rev().take(41).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let word = &text[text.len() - word..];
    let joint = (6..word.len()).filter(|at| word[*at] == b'_').find(|at| {
        word[at - 6..*at].iter().all(u8::is_ascii_alphanumeric) && is_begun_licence(&word[at + 1..])
    });
    joint.map(|at| text.len() - word.len() + at + 1)
}

fn is_begun_licence(key: &[u8]) -> bool {
    let (drawn, end) = key.split_at(key.len().min(29));
    drawn.iter().all(u8::is_ascii_alphanumeric) && b"_mmk".starts_with(end)
}

#[cfg(test)]
mod tests;
