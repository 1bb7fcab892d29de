//! Taking secrets out of text before it is decided on, hashed or stored.
//!
//! Owns what a door asks of a redactor: whole texts, JSON texts, texts that come in pieces, and values that must not be
//! rewritten. Knows no rule.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_types::model::ModelName;
use palyra_types::tool::ToolName;
use palyra_types::{Content, Redacted};

/// How every placeholder begins.
pub const PLACEHOLDER_BEGINS: &str = "<secret:";
/// Stands for a registered value.
pub const REGISTERED_PLACEHOLDER: &str = "<secret:vault>";

/// Cleans text at the doors through which content enters: a session's input, a model's words, a tool's output.
pub trait Redactor: Send + Sync {
    /// Returns the number of the rule set in force, recorded with each entry; 0 for none.
    fn ruleset(&self) -> u32;

    /// Returns the text with every recognised secret replaced by a placeholder.
    fn redact(&self, text: Content<String>) -> CleanedText;

    /// Does the same for a text that may be JSON: what was valid JSON stays valid.
    fn redact_json(&self, text: Content<String>) -> CleanedText;

    /// Begins a text that comes in pieces, wherever it may be cut.
    fn begin(&self) -> Box<dyn RedactStream>;
}

impl<'r> dyn Redactor + 'r {
    /// Admits a value that must not be rewritten: bytes, a path, a name by which something is found again.
    ///
    /// # Errors
    /// [`SecretFound`] where [`Redactor::redact`] would change its text.
    pub fn check<T: CheckedText>(&self, content: Content<T>) -> Result<Redacted<T>, SecretFound> {
        let mut found = RedactionFindings::default();
        content.expose().for_each_text(&mut |text| {
            found = found.plus(self.redact(text.into()).findings);
        });
        if found.changed() {
            Err(SecretFound { found })
        } else {
            Ok(Redacted::cleaned(content.into_exposed()))
        }
    }
}

/// A value that [`check`](trait@Redactor) searches for secrets.
pub trait CheckedText {
    /// Shows each text of it; text that is not UTF-8 with its other bytes replaced.
    fn for_each_text(&self, see: &mut dyn FnMut(&str));
}

impl CheckedText for String {
    fn for_each_text(&self, see: &mut dyn FnMut(&str)) {
        see(self);
    }
}

impl CheckedText for ToolName {
    fn for_each_text(&self, see: &mut dyn FnMut(&str)) {
        see(self.as_str());
    }
}

impl CheckedText for PathBuf {
    fn for_each_text(&self, see: &mut dyn FnMut(&str)) {
        see(&self.to_string_lossy());
    }
}

impl CheckedText for ModelName {
    fn for_each_text(&self, see: &mut dyn FnMut(&str)) {
        see(self.as_str());
    }
}

impl CheckedText for Arc<str> {
    fn for_each_text(&self, see: &mut dyn FnMut(&str)) {
        see(self);
    }
}

impl CheckedText for Arc<[u8]> {
    fn for_each_text(&self, see: &mut dyn FnMut(&str)) {
        see(&String::from_utf8_lossy(self));
    }
}

impl CheckedText for Vec<u8> {
    fn for_each_text(&self, see: &mut dyn FnMut(&str)) {
        see(&String::from_utf8_lossy(self));
    }
}

/// A value that must not be rewritten holds a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret was found in a value that must not be rewritten")]
pub struct SecretFound {
    /// How much was found.
    pub found: RedactionFindings,
}

/// A text that comes in pieces. What it gives out is, put together, what [`Redactor::redact`] makes of the whole.
///
/// Text is held back only while it may be part of a secret, and never more than a bounded number of bytes.
pub trait RedactStream: Send {
    /// Takes a piece; returns what may be shown by now, possibly nothing.
    fn push(&mut self, piece: Content<&str>) -> Redacted<String>;

    /// Ends the text; returns what was held back. What comes after it begins a new one.
    fn finish(&mut self) -> Redacted<String>;

    /// Returns what was found since this was last asked, in what was given out since.
    fn take_findings(&mut self) -> RedactionFindings;
}

/// A text that was cleaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanedText {
    /// The text.
    pub text: Redacted<String>,
    /// What was found in it.
    pub findings: RedactionFindings,
}

/// How much was found in a text; never what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RedactionFindings {
    /// Places where a placeholder stands for a secret.
    pub replaced: u32,
    /// Those of them that were a registered value: whoever can have texts cleaned could guess at such values.
    pub registered: u32,
}

impl RedactionFindings {
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

#[cfg(test)]
mod tests;
