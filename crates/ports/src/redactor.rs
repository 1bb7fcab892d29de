//! Taking secrets out of text before it is decided on, hashed or stored.
//!
//! Owns what a door asks of a redactor: whole texts, JSON texts, and texts that come in pieces. Knows no rule.

use palyra_types::Redacted;

/// How every placeholder begins.
pub const PLACEHOLDER_BEGINS: &str = "<secret:";
/// Stands for a registered value.
pub const REGISTERED_PLACEHOLDER: &str = "<secret:vault>";

/// Cleans text at the doors through which content enters: a session's input, a model's words, a tool's output.
pub trait Redactor: Send + Sync {
    /// Returns the number of the rule set in force, recorded with each entry; 0 for none.
    fn ruleset(&self) -> u32;

    /// Returns the text with every recognised secret replaced by a placeholder.
    fn redact(&self, text: Redacted<String>) -> Cleaned;

    /// Does the same for a text that may be JSON: what was valid JSON stays valid.
    fn redact_json(&self, text: Redacted<String>) -> Cleaned;

    /// Begins a text that comes in pieces, wherever it may be cut.
    fn begin(&self) -> Box<dyn RedactStream>;
}

/// A text that comes in pieces. What it gives out is, put together, what [`Redactor::redact`] makes of the whole.
///
/// Text is held back only while it may be part of a secret, and never more than a bounded number of bytes.
pub trait RedactStream: Send {
    /// Takes a piece; returns what may be shown by now, possibly nothing.
    fn push(&mut self, piece: &str) -> Redacted<String>;

    /// Ends the text; returns what was held back. What comes after it begins a new one.
    fn finish(&mut self) -> Redacted<String>;

    /// Returns what was found since this was last asked, in what was given out since.
    fn take_findings(&mut self) -> Findings;
}

/// A text that was cleaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// The text.
    pub text: Redacted<String>,
    /// What was found in it.
    pub findings: Findings,
}

/// How much was found in a text; never what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Findings {
    /// Places where a placeholder stands for a secret.
    pub replaced: u32,
    /// Those of them that were a registered value: whoever can have texts cleaned could guess at such values.
    pub registered: u32,
}

impl Findings {
    /// Returns whether the text is not what it was.
    #[must_use]
    pub fn changed(self) -> bool {
        self.replaced > 0
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            replaced: self.replaced.saturating_add(other.replaced),
            registered: self.registered.saturating_add(other.registered),
        }
    }
}

/// Leaves every text as it is: rule set 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct PassThrough;

impl Redactor for PassThrough {
    fn ruleset(&self) -> u32 {
        0
    }

    fn redact(&self, text: Redacted<String>) -> Cleaned {
        Cleaned { text, findings: Findings::default() }
    }

    fn redact_json(&self, text: Redacted<String>) -> Cleaned {
        self.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        Box::new(Self)
    }
}

impl RedactStream for PassThrough {
    fn push(&mut self, piece: &str) -> Redacted<String> {
        piece.into()
    }

    fn finish(&mut self) -> Redacted<String> {
        Redacted::default()
    }

    fn take_findings(&mut self) -> Findings {
        Findings::default()
    }
}
