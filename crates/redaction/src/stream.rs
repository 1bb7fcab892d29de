//! A text that comes in pieces.

use std::sync::Arc;

use palyra_ports::{Findings, RedactStream};
use palyra_types::Redacted;

use crate::armoury::{Armoury, InForce};
use crate::scan::Scan;
use crate::verdict::{CONTEXT_BYTES_MAX, Ended, View};

/// Bytes that nobody looks at any more and that are kept all the same, at most: moving the rest costs time.
const SPENT_BYTES_MAX: usize = 4_096;

/// Cleans a text as it comes.
#[derive(Debug)]
pub(crate) struct Stream {
    in_force: Arc<InForce>,
    armoury: Arc<Armoury>,
    scan: Scan,
    text: Vec<u8>,
}

impl Stream {
    pub(crate) fn new(in_force: Arc<InForce>) -> Self {
        let armoury = in_force.now();
        Self { scan: Scan::new(&armoury), in_force, armoury, text: Vec::new() }
    }

    /// Goes on with the values that are registered by now.
    fn take_up_values(&mut self) {
        let now = self.in_force.now();
        if !Arc::ptr_eq(&now, &self.armoury) {
            self.armoury = now;
            let view = View { text: &self.text, ended: Ended::NotYet };
            self.scan.compare_anew(&self.armoury, view);
        }
    }

    fn advance(&mut self, ended: Ended) -> Redacted<String> {
        let view = View { text: &self.text, ended };
        self.scan.advance(&self.armoury, view);
        let mut out = Vec::new();
        self.scan.give(&self.armoury, view, &mut out);
        Redacted::new(String::from_utf8(out).expect("spans begin and end between characters"))
    }
}

impl RedactStream for Stream {
    fn push(&mut self, piece: &str) -> Redacted<String> {
        self.take_up_values();
        self.text.extend_from_slice(piece.as_bytes());
        let given = self.advance(Ended::NotYet);
        let spent = self.scan.not_needed();
        if spent > SPENT_BYTES_MAX + CONTEXT_BYTES_MAX {
            self.scan.cut_off(spent);
            self.text.drain(..spent);
        }
        given
    }

    fn finish(&mut self) -> Redacted<String> {
        self.take_up_values();
        let given = self.advance(Ended::Yes);
        let findings = self.scan.take_findings();
        self.scan = Scan::new(&self.armoury);
        self.scan.add_findings(findings);
        self.text.clear();
        given
    }

    fn take_findings(&mut self) -> Findings {
        self.scan.take_findings()
    }
}
