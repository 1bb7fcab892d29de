//! Bytes without the registered values, for those who get an answer and may not have what was sent for it.
//!
//! Owns no rule: shapes, names and places are left alone, since a program needs its answer as it is. Invariant: what is
//! given out does not depend on where the bytes were cut, and what is held back ends with the longest form of a value.

use std::sync::Arc;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use palyra_ports::redactor::REGISTERED_PLACEHOLDER;
use palyra_ports::{MaskStream, MaskValues};

use crate::registered::HEAD_BYTES;
use crate::rule_set::{CompiledRules, InForce, Trigger};
use crate::scanner::SecretScanner;
use crate::verdict::{RuleVerdict, TextEnd, TextView};

impl MaskValues for SecretScanner {
    fn begin(&self) -> Box<dyn MaskStream> {
        Box::new(ValueMask::new(self.in_force()))
    }
}

/// Masks bytes as they come.
struct ValueMask {
    in_force: Arc<InForce>,
    rule_set: Arc<CompiledRules>,
    state: StateID,
    /// What was not given out yet.
    bytes: Vec<u8>,
    /// How much of it the automaton has read.
    read: usize,
    /// Where forms of values may stand, and of which group.
    open: Vec<(usize, usize)>,
    /// Where forms of values stand, in order of their beginning.
    found: Vec<(usize, usize)>,
}

impl ValueMask {
    fn new(in_force: Arc<InForce>) -> Self {
        let rule_set = in_force.now();
        let state = rule_set.values_start();
        Self { in_force, rule_set, state, bytes: Vec::new(), read: 0, open: Vec::new(), found: Vec::new() }
    }

    /// Goes on with the values that are registered by now, from what was not given out yet.
    fn take_up_values(&mut self) {
        let now = self.in_force.now();
        if !Arc::ptr_eq(&now, &self.rule_set) {
            self.state = now.values_start();
            self.rule_set = now;
            self.read = 0;
            self.open.clear();
            self.found.clear();
        }
    }

    fn advance(&mut self, ended: TextEnd) -> Vec<u8> {
        let Some(heads) = self.rule_set.values() else {
            self.read = 0;
            return std::mem::take(&mut self.bytes);
        };
        for (at, byte) in self.bytes.iter().enumerate().skip(self.read) {
            self.state = heads.next_state(Anchored::No, self.state, *byte);
            if heads.is_match(self.state) {
                for pattern in 0..heads.match_len(self.state) {
                    let group = heads.match_pattern(self.state, pattern).as_usize();
                    self.open.push((at + 1 - HEAD_BYTES, group));
                }
            }
        }
        self.read = self.bytes.len();
        let view = TextView { text: &self.bytes, ended };
        let (rule_set, found) = (&self.rule_set, &mut self.found);
        self.open.retain(|(at, group)| {
            match rule_set.judge(Trigger::Registered(*group), *at, at + HEAD_BYTES, view) {
                RuleVerdict::Wait(_) => true,
                RuleVerdict::Found(span) => {
                    found.push((span.start, span.end));
                    false
                }
                RuleVerdict::No | RuleVerdict::Several(_) => false,
            }
        });
        self.found.sort_unstable();
        self.give(ended)
    }

    /// Gives out what can no longer be part of a value.
    fn give(&mut self, ended: TextEnd) -> Vec<u8> {
        let head = match ended {
            TextEnd::Yes => 0,
            TextEnd::NotYet => HEAD_BYTES - 1,
        };
        let waiting = self.open.iter().map(|(at, _)| *at).min();
        let mut until = waiting.unwrap_or(usize::MAX).min(self.bytes.len().saturating_sub(head));
        for (start, end) in self.found.iter().rev() {
            if *start < until && until < *end {
                until = *start;
            }
        }
        let (mut out, mut at) = (Vec::with_capacity(until), 0);
        for (start, end) in self.found.iter().filter(|(start, _)| *start < until) {
            if *start >= at {
                out.extend_from_slice(&self.bytes[at..*start]);
                out.extend_from_slice(REGISTERED_PLACEHOLDER.as_bytes());
            }
            at = at.max(*end);
        }
        out.extend_from_slice(&self.bytes[at.min(until)..until]);
        self.bytes.drain(..until);
        self.read -= until.min(self.read);
        self.found.retain(|(start, _)| *start >= until);
        for place in self.open.iter_mut().map(|(at, _)| at).chain(self.found.iter_mut().map(|(at, _)| at)) {
            *place -= until;
        }
        for (_, end) in &mut self.found {
            *end -= until;
        }
        out
    }
}

impl MaskStream for ValueMask {
    fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.take_up_values();
        self.bytes.extend_from_slice(piece);
        self.advance(TextEnd::NotYet)
    }

    fn finish(&mut self) -> Vec<u8> {
        self.take_up_values();
        let rest = self.advance(TextEnd::Yes);
        *self = Self::new(Arc::clone(&self.in_force));
        rest
    }
}

#[cfg(test)]
mod tests;
