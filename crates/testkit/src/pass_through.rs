//! A redactor that finds nothing, for tests that are about something else.

use palyra_ports::redactor::{CleanedText, RedactStream, RedactionFindings, Redactor};
use palyra_types::{Content, Redacted};

/// Leaves every text as it is: rule set 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct PassThrough;

impl Redactor for PassThrough {
    fn ruleset(&self) -> u32 {
        0
    }

    fn redact(&self, text: Content<String>) -> CleanedText {
        CleanedText { text: Redacted::cleaned(text.into_exposed()), findings: RedactionFindings::default() }
    }

    fn redact_json(&self, text: Content<String>) -> CleanedText {
        self.redact(text)
    }

    fn begin(&self) -> Box<dyn RedactStream> {
        Box::new(Self)
    }
}

impl RedactStream for PassThrough {
    fn push(&mut self, piece: Content<&str>) -> Redacted<String> {
        Redacted::cleaned(piece.into_exposed().to_owned())
    }

    fn finish(&mut self) -> Redacted<String> {
        Redacted::default()
    }

    fn take_findings(&mut self) -> RedactionFindings {
        RedactionFindings::default()
    }
}
