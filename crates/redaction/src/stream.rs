//! A text that comes in pieces.

use std::sync::Arc;

use palyra_ports::{RedactStream, RedactionFindings};
use palyra_types::{Content, Redacted};

use crate::rule_set::{CompiledRules, InForce};
use crate::scan::TextScan;
use crate::verdict::{CONTEXT_BYTES_MAX, TextEnd, TextView};

/// Bytes that nobody looks at any more and that are kept all the same, at most: moving the rest costs time.
const SPENT_BYTES_MAX: usize = 4_096;

/// Cleans a text as it comes.
#[derive(Debug)]
pub(crate) struct Stream {
    in_force: Arc<InForce>,
    rule_set: Arc<CompiledRules>,
    scan: TextScan,
    text: Vec<u8>,
}

impl Stream {
    pub(crate) fn new(in_force: Arc<InForce>) -> Self {
        let rule_set = in_force.now();
        Self { scan: TextScan::new(&rule_set), in_force, rule_set, text: Vec::new() }
    }

    /// Goes on with the values that are registered by now.
    fn take_up_values(&mut self) {
        let now = self.in_force.now();
        if !Arc::ptr_eq(&now, &self.rule_set) {
            self.rule_set = now;
            let view = TextView { text: &self.text, ended: TextEnd::NotYet };
            self.scan.compare_anew(&self.rule_set, view);
        }
    }

    fn advance(&mut self, ended: TextEnd) -> Redacted<String> {
        let view = TextView { text: &self.text, ended };
        self.scan.advance(&self.rule_set, view);
        let mut out = Vec::new();
        self.scan.give(&self.rule_set, view, &mut out);
        Redacted::cleaned(String::from_utf8(out).expect("spans begin and end between characters"))
    }
}

impl RedactStream for Stream {
    fn push(&mut self, piece: Content<&str>) -> Redacted<String> {
        self.take_up_values();
        self.text.extend_from_slice(piece.expose().as_bytes());
        let given = self.advance(TextEnd::NotYet);
        let spent = self.scan.not_needed();
        if spent > SPENT_BYTES_MAX + CONTEXT_BYTES_MAX {
            self.scan.cut_off(spent);
            self.text.drain(..spent);
        }
        given
    }

    fn finish(&mut self) -> Redacted<String> {
        self.take_up_values();
        let given = self.advance(TextEnd::Yes);
        let findings = self.scan.take_findings();
        self.scan = TextScan::new(&self.rule_set);
        self.scan.add_findings(findings);
        self.text.clear();
        given
    }

    fn take_findings(&mut self) -> RedactionFindings {
        self.scan.take_findings()
    }
}
