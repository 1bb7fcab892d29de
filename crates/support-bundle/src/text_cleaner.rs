//! Takes secrets out of the texts of a bundle.

use std::cell::Cell;

use palyra_ports::{RedactionFindings, Redactor as _};
use palyra_redaction::{RegisterError, SecretScanner};
use palyra_types::Content;
use serde_json::{Map, Value};

use crate::config_values::{REDACTED, is_secret_name};

/// Cleans texts by shape, by name, and by the values that it was made with.
#[derive(Debug)]
pub struct TextCleaner {
    scanner: SecretScanner,
    replaced: Cell<u64>,
}

impl TextCleaner {
    /// Makes a cleaner that also looks for these values.
    ///
    /// # Errors
    /// [`RegisterError`] where there are too many.
    pub fn new(secrets: &[Content<String>]) -> Result<Self, RegisterError> {
        let scanner = SecretScanner::new();
        scanner.register(secrets)?;
        Ok(Self { scanner, replaced: Cell::new(0) })
    }

    /// Returns how many places were replaced so far.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.replaced.get()
    }

    /// Cleans a text.
    pub(crate) fn text(&self, text: String) -> String {
        let cleaned = self.scanner.redact(Content::new(text));
        self.count(cleaned.findings);
        cleaned.text.expose().clone()
    }

    /// Cleans a value: members with the name of a secret, every text in it, and then the whole as it is written.
    pub(crate) fn json(&self, value: &Value) -> String {
        let cleaned = self.value("", value);
        let text = serde_json::to_string_pretty(&cleaned).unwrap_or_default() + "\n";
        let cleaned = self.scanner.redact_json(Content::new(text));
        self.count(cleaned.findings);
        cleaned.text.expose().clone()
    }

    fn value(&self, name: &str, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let cleaned = members.iter().map(|(name, value)| (name.clone(), self.value(name, value)));
                Value::Object(cleaned.collect::<Map<_, _>>())
            }
            Value::Array(values) => values.iter().map(|value| self.value(name, value)).collect(),
            Value::String(text) if is_secret_name(name) && !text.is_empty() && text != REDACTED => {
                self.replaced.set(self.replaced.get() + 1);
                REDACTED.into()
            }
            Value::String(text) => self.text(text.clone()).into(),
            other => other.clone(),
        }
    }

    fn count(&self, findings: RedactionFindings) {
        self.replaced.set(self.replaced.get() + u64::from(findings.replaced));
    }
}
