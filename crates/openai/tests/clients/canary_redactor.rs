//! A redactor that knows one secret, so that a test sees which texts passed it.

use palyra_ports::{CleanedText, RedactStream, RedactionFindings, Redactor};
use palyra_testkit::PassThrough;
use palyra_types::{Content, Redacted};

/// The secret.
pub(crate) const CANARY: &str = "canary-4711";
/// What a text has in its place.
pub(crate) const PLACEHOLDER: &str = "<secret:vault>";

/// Replaces the secret in whole texts.
pub(crate) struct CanaryRedactor;

impl Redactor for CanaryRedactor {
    fn ruleset(&self) -> u32 {
        PassThrough.ruleset()
    }

    fn redact(&self, text: Content<String>) -> CleanedText {
        let count = text.expose().matches(CANARY).count();
        let replaced = u32::try_from(count).unwrap();
        CleanedText {
            text: Redacted::cleaned(text.expose().replace(CANARY, PLACEHOLDER)),
            findings: RedactionFindings { replaced, registered: replaced },
        }
    }

    fn redact_json(&self, text: Content<String>) -> CleanedText {
        self.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        PassThrough.begin()
    }
}
