//! The scanner behind the redactor's port.

use std::sync::Arc;

use palyra_ports::{Cleaned, Findings, RedactStream, Redactor};
use palyra_types::Redacted;

use crate::armoury::{Armoury, InForce};
use crate::json;
use crate::registered::RegisterError;
use crate::scan::Scan;
use crate::stream::Stream;
use crate::verdict::{Ended, View};

/// Number of the rules in this crate, recorded with each entry. Raised whenever a rule changes.
pub const RULESET: u32 = 1;

/// Finds secrets by their shape, by their name, by their place, and by knowing them.
#[derive(Debug)]
pub struct SecretScanner {
    armoury: Arc<InForce>,
}

impl SecretScanner {
    /// Makes a scanner that knows no value yet.
    #[must_use]
    pub fn new() -> Self {
        Self { armoury: Arc::new(InForce::new()) }
    }

    /// Replaces the registered values. Those shorter than [`crate::REGISTERED_CHARS_MIN`] are not looked for. Texts
    /// that have begun are compared with them from the byte on that was not given out yet.
    ///
    /// # Errors
    /// [`RegisterError`]; what was registered before is looked for as before.
    pub fn register(&self, values: &[Redacted<String>]) -> Result<(), RegisterError> {
        let armoury = Armoury::new(values)?;
        self.armoury.replace(armoury);
        Ok(())
    }

    pub(crate) fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.armoury)
    }

    fn armoury(&self) -> Arc<Armoury> {
        self.armoury.now()
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

    fn redact(&self, text: Redacted<String>) -> Cleaned {
        let (clean, findings) = clean(&self.armoury(), text.expose());
        Cleaned { text: clean.map_or(text, Redacted::new), findings }
    }

    fn redact_json(&self, text: Redacted<String>) -> Cleaned {
        let armoury = self.armoury();
        let (clean, findings) = json::clean_json(text.expose(), &|part| clean_text(&armoury, part));
        Cleaned { text: clean.map_or(text, Redacted::new), findings }
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        Box::new(Stream::new(Arc::clone(&self.armoury)))
    }
}

fn clean_text(armoury: &Armoury, text: &str) -> (Option<String>, Findings) {
    clean(armoury, text)
}

/// Returns a text without its secrets; `None` when it had none.
fn clean(armoury: &Armoury, text: &str) -> (Option<String>, Findings) {
    let mut scan = Scan::new(armoury);
    let view = View { text: text.as_bytes(), ended: Ended::Yes };
    scan.advance(armoury, view);
    if scan.is_clean() {
        return (None, Findings::default());
    }
    let mut out = Vec::with_capacity(text.len());
    scan.give(armoury, view, &mut out);
    let out = String::from_utf8(out).expect("spans begin and end between characters");
    (Some(out), scan.take_findings())
}
