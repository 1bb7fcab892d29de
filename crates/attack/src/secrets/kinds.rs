//! Secrets that nobody registered, in each labelled kind (60): what people and programs write around them gives them
//! away.
//!
//! The kinds are those by which recall is measured; each is tried here with one sample.

use std::io;

use palyra_ports::Redactor;
use palyra_redaction::SecretScanner;

use super::logged;
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

const LABELLED: &str = include_str!("../../../redaction/tests/labelled/kinds.toml");

const RULES: &str = "rules of the redactor";
const STREAM: &str = "rules in the redactor's stream";

/// One labelled kind.
#[derive(Debug, Clone, Default)]
struct SecretKind {
    name: String,
    /// A pattern of what the secret looks like.
    secret: String,
    /// Where `{}` is the secret.
    text: String,
    /// Known by a mark at its end, so that a stream has given its beginning out by then.
    marked_at_its_end: bool,
}

/// Returns all of them.
pub(super) fn trials() -> impl Iterator<Item = AttackTrial> {
    kinds().into_iter().map(|kind| {
        let mechanisms: &[&str] = if kind.marked_at_its_end { &[RULES] } else { &[RULES, STREAM] };
        let variant = format!("of the kind `{}`", kind.name);
        let pairs =
            mechanisms.iter().map(|mechanism| CasePair::new(60, variant.clone(), *mechanism)).collect();
        AttackTrial::new(pairs, move |place, pairs| carry_out(kind.clone(), place, pairs))
    })
}

/// Reads the lines that matter of the labelled kinds.
fn kinds() -> Vec<SecretKind> {
    let mut kinds: Vec<SecretKind> = Vec::new();
    for line in LABELLED.lines() {
        if line == "[[kind]]" {
            kinds.push(SecretKind::default());
        }
        let (Some(kind), Some((name, value))) = (kinds.last_mut(), line.split_once(" = ")) else { continue };
        // Basic strings of TOML are read as those of JSON; none here has an escape that only one of them knows.
        let text = || serde_json::from_str(value).unwrap_or_default();
        match name {
            "name" => kind.name = text(),
            "text" => kind.text = text(),
            "secret" => kind.secret = value.trim_matches('\'').to_owned(),
            "marked_at_its_end" => kind.marked_at_its_end = value == "true",
            _ => {}
        }
    }
    kinds
}

async fn carry_out(kind: SecretKind, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let kind = &kind;
    run_attempts(pairs, place.half, |mechanism| async move {
        let secret = SampleBuilder::drawn(&kind.secret, &kind.name);
        let said = format!("$ ./deploy.sh\n{}\n[exit 0]\n", kind.text.replace("{}", &secret));
        if secret.len() < 8 || !said.contains(&secret) {
            return Err(io::Error::other("no sample was drawn"));
        }
        let scanner = SecretScanner::new();
        let shown = if mechanism == RULES {
            vec![scanner.redact(said.as_str().into()).text.into_exposed()]
        } else {
            let mut stream = scanner.begin();
            let letters: Vec<char> = said.chars().collect();
            let pieces = letters.chunks(5).map(|piece| piece.iter().collect::<String>());
            let mut shown: Vec<String> =
                pieces.map(|piece| stream.push(piece.as_str().into()).into_exposed()).collect();
            shown.push(stream.finish().into_exposed());
            shown
        };
        let found = |log: &str| {
            let read = log.contains(&secret);
            read.then(|| "the secret can be read".to_owned()).into_iter().collect()
        };
        Ok(Some((found(&logged(shown)?), found(&logged([said])?))))
    })
    .await
}

/// A sample in the making. Of patterns it knows letters, `\.`, sets with ranges, `{n}`, and words in `(?:a|b)`.
struct SampleBuilder<'p> {
    rest: &'p str,
    seed: u64,
    text: String,
}

impl<'p> SampleBuilder<'p> {
    /// Returns the same sample for the same pattern and name.
    fn drawn(pattern: &'p str, name: &str) -> String {
        let seed = name.bytes().fold(0x9e37_79b9_7f4a_7c15, |seed: u64, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut sample = Self { rest: pattern, seed: seed | 1, text: String::new() };
        while let Some(letter) = sample.next() {
            match letter {
                '[' => sample.set(),
                '(' => sample.word(),
                '\\' => {
                    let escaped = sample.next();
                    sample.text.extend(escaped);
                }
                letter => sample.text.push(letter),
            }
        }
        sample.text
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn until(&mut self, end: char) -> &'p str {
        let (inner, rest) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        inner
    }

    fn below(&mut self, bound: usize) -> usize {
        self.seed ^= self.seed >> 12;
        self.seed ^= self.seed << 25;
        self.seed ^= self.seed >> 27;
        usize::try_from(self.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap_or(0) % bound.max(1)
    }

    fn set(&mut self) {
        let inner: Vec<char> = self.until(']').chars().collect();
        let mut letters = Vec::new();
        let mut at = 0;
        while let Some(&from) = inner.get(at) {
            match (inner.get(at + 1), inner.get(at + 2)) {
                (Some('-'), Some(&to)) => {
                    letters.extend(from..=to);
                    at += 3;
                }
                _ => {
                    letters.push(from);
                    at += 1;
                }
            }
        }
        let times = if self.rest.starts_with('{') {
            self.next();
            self.until('}').parse().unwrap_or(1)
        } else {
            1
        };
        for _ in 0..times {
            let drawn = self.below(letters.len());
            self.text.extend(letters.get(drawn));
        }
    }

    fn word(&mut self) {
        let words: Vec<&str> = self.until(')').trim_start_matches("?:").split('|').collect();
        let drawn = self.below(words.len());
        self.text.push_str(words.get(drawn).copied().unwrap_or_default());
    }
}
