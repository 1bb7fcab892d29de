//! The scanner behind the redactor's port.

use std::sync::Arc;

use palyra_ports::{CleanedText, RedactStream, RedactionFindings, Redactor};
use palyra_types::{Content, Redacted};

use crate::json;
use crate::registered::RegisterError;
use crate::rule_set::{CompiledRules, InForce};
use crate::scan::TextScan;
use crate::stream::Stream;
use crate::verdict::{TextEnd, TextView};

/// Number of the rules in this crate, recorded with each entry. Raised whenever a rule changes.
pub const RULESET: u32 = 1;

/// Finds secrets by their shape, by their name, by their place, and by knowing them.
#[derive(Debug)]
pub struct SecretScanner {
    rule_set: Arc<InForce>,
}

impl SecretScanner {
    /// Makes a scanner that knows no value yet.
    #[must_use]
    pub fn new() -> Self {
        Self { rule_set: Arc::new(InForce::new()) }
    }

    /// Replaces the registered values. Those shorter than [`crate::REGISTERED_CHARS_MIN`] are not looked for. Texts
    /// that have begun are compared with them from the byte on that was not given out yet.
    ///
    /// # Errors
    /// [`RegisterError`]; what was registered before is looked for as before.
    pub fn register(&self, values: &[Content<String>]) -> Result<(), RegisterError> {
        let rule_set = CompiledRules::new(values)?;
        self.rule_set.replace(rule_set);
        Ok(())
    }

    pub(crate) fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.rule_set)
    }

    fn rule_set(&self) -> Arc<CompiledRules> {
        self.rule_set.now()
    }
}

impl Default for SecretScanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor for SecretScanner {
    fn ruleset(&self) -> u32 {
        RULESET
    }

    fn redact(&self, text: Content<String>) -> CleanedText {
        let (clean, findings) = clean(&self.rule_set(), text.expose());
        CleanedText { text: Redacted::cleaned(clean.unwrap_or_else(|| text.into_exposed())), findings }
    }

    fn redact_json(&self, text: Content<String>) -> CleanedText {
        let rule_set = self.rule_set();
        let (clean, findings) = json::clean_json(text.expose(), &|part| clean_text(&rule_set, part));
        CleanedText { text: Redacted::cleaned(clean.unwrap_or_else(|| text.into_exposed())), findings }
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        Box::new(Stream::new(Arc::clone(&self.rule_set)))
    }
}

fn clean_text(rule_set: &CompiledRules, text: &str) -> (Option<String>, RedactionFindings) {
    clean(rule_set, text)
}

/// Returns a text without its secrets; `None` when it had none.
fn clean(rule_set: &CompiledRules, text: &str) -> (Option<String>, RedactionFindings) {
    let mut scan = TextScan::new(rule_set);
    let view = TextView { text: text.as_bytes(), ended: TextEnd::Yes };
    scan.advance(rule_set, view);
    if scan.is_clean() {
        return (None, RedactionFindings::default());
    }
    let mut out = Vec::with_capacity(text.len());
    scan.give(rule_set, view, &mut out);
    let out = String::from_utf8(out).expect("spans begin and end between characters");
    (Some(out), scan.take_findings())
}
