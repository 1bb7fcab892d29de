//! Reads a text once, finds what is secret in it, and writes it again without.
//!
//! Owns the automaton's state, the candidates that are still open and the spans that are found. Knows no rule:
//! those are asked at the places that the prefilter names. Invariant: what is given out does not depend on where
//! the text was cut. A rule that cannot know says so, and the text waits from where its secret would begin.
//! Begin at [`TextScan::advance`].

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use palyra_ports::RedactionFindings;

use crate::byte_set::TOKEN;
use crate::registered::HEAD_BYTES;
use crate::rule_set::{CompiledRules, Trigger};
use crate::rules::boundary;
use crate::rules::token::TOKEN_BYTES_MAX;
use crate::verdict::{CONTEXT_BYTES_MAX, NOWHERE, RuleRank, RuleVerdict, Span, TextEnd, TextView};

/// Spans that a token is compared with, at most.
const NEAR_SPANS_MAX: usize = 8;

/// A place at which a rule could not say yes or no.
#[derive(Debug, Clone, Copy)]
struct OpenCandidate {
    at: usize,
    end: usize,
    trigger: Trigger,
    /// Where its secret would begin.
    from: usize,
}

/// A text being read.
#[derive(Debug)]
pub(crate) struct TextScan {
    shapes: StateID,
    values: StateID,
    /// Everything before this was read.
    read: usize,
    /// Everything before this was given out, or is covered by a placeholder that was.
    given: usize,
    /// Where the last placeholder's secret ends.
    covered: usize,
    open: Vec<OpenCandidate>,
    spans: Vec<Span>,
    findings: RedactionFindings,
}

impl TextScan {
    pub(crate) fn new(rule_set: &CompiledRules) -> Self {
        Self {
            shapes: rule_set.shapes_start(),
            values: rule_set.values_start(),
            read: 0,
            given: 0,
            covered: 0,
            open: Vec::new(),
            spans: Vec::new(),
            findings: RedactionFindings::default(),
        }
    }

    /// Reads what is new in a text.
    pub(crate) fn advance(&mut self, rule_set: &CompiledRules, view: TextView<'_>) {
        for span in &mut self.spans {
            grow(span, view);
        }
        if !self.open.is_empty() {
            // Nothing new can be said of a token while its word goes on.
            let goes_on = view.open_at(TOKEN.run(view.text, self.read, usize::MAX));
            let mut waiting = std::mem::take(&mut self.open);
            for candidate in waiting.drain(..) {
                let is_short = candidate.at + TOKEN_BYTES_MAX > view.text.len();
                if goes_on && is_short && candidate.trigger.is_token() {
                    self.open.push(candidate);
                } else {
                    self.decide(rule_set, candidate, view);
                }
            }
        }
        match rule_set.values() {
            None => self.read_shapes(rule_set, view),
            Some(values) => self.read_both(rule_set, values, view),
        }
        self.read = view.text.len();
    }

    /// Compares what was read and not given out with other values, and goes on with them.
    pub(crate) fn compare_anew(&mut self, rule_set: &CompiledRules, view: TextView<'_>) {
        self.open.retain(|candidate| !matches!(candidate.trigger, Trigger::Registered(_)));
        self.values = rule_set.values_start();
        let Some(values) = rule_set.values() else { return };
        let found = self.spans.clone();
        let mut state = self.values;
        // A value is looked at from its head on, of which all but the last byte may have been given out.
        let from = self.given.saturating_sub(HEAD_BYTES - 1);
        for (at, byte) in (from..).zip(&view.text[from..self.read]) {
            state = values.next_state(Anchored::No, state, *byte);
            if values.is_special(state) && values.is_match(state) {
                self.hit_values(rule_set, values, state, at + 1, view);
            }
        }
        self.values = state;
        let was_found = |span: &Span| {
            found
                .iter()
                .any(|other| (other.start, other.end, other.rank) == (span.start, span.end, span.rank))
        };
        let mut spans = std::mem::take(&mut self.spans);
        spans.retain(|span| !was_found(span));
        self.spans = found;
        spans.into_iter().for_each(|span| self.keep(span, view));
    }

    fn read_shapes(&mut self, rule_set: &CompiledRules, view: TextView<'_>) {
        let automaton = rule_set.shapes();
        let mut state = self.shapes;
        for (at, byte) in (self.read..).zip(&view.text[self.read..]) {
            state = automaton.next_state(Anchored::No, state, *byte);
            if automaton.is_special(state) && automaton.is_match(state) {
                self.hit_shapes(rule_set, state, at + 1, view);
            }
        }
        self.shapes = state;
    }

    fn read_both(&mut self, rule_set: &CompiledRules, values: &impl Automaton, view: TextView<'_>) {
        let automaton = rule_set.shapes();
        let (mut shape, mut value) = (self.shapes, self.values);
        for (at, byte) in (self.read..).zip(&view.text[self.read..]) {
            shape = automaton.next_state(Anchored::No, shape, *byte);
            value = values.next_state(Anchored::No, value, *byte);
            if values.is_special(value) && values.is_match(value) {
                self.hit_values(rule_set, values, value, at + 1, view);
            }
            if automaton.is_special(shape) && automaton.is_match(shape) {
                self.hit_shapes(rule_set, shape, at + 1, view);
            }
        }
        (self.shapes, self.values) = (shape, value);
    }

    #[cold]
    fn hit_values(
        &mut self,
        rule_set: &CompiledRules,
        values: &impl Automaton,
        state: StateID,
        end: usize,
        view: TextView<'_>,
    ) {
        for index in 0..values.match_len(state) {
            let pattern = values.match_pattern(state, index);
            let start = end - values.pattern_len(pattern);
            self.meet(rule_set, start, end, Trigger::Registered(pattern.as_usize()), view);
        }
    }

    #[cold]
    fn hit_shapes(&mut self, rule_set: &CompiledRules, state: StateID, end: usize, view: TextView<'_>) {
        let automaton = rule_set.shapes();
        for index in 0..automaton.match_len(state) {
            let pattern = automaton.match_pattern(state, index);
            let start = end - automaton.pattern_len(pattern);
            for trigger in rule_set.triggers(pattern.as_usize()) {
                self.meet(rule_set, start, end, *trigger, view);
            }
        }
    }

    fn meet(
        &mut self,
        rule_set: &CompiledRules,
        at: usize,
        end: usize,
        trigger: Trigger,
        view: TextView<'_>,
    ) {
        let boundary = boundary(view.text, at) || self.spans.last().is_some_and(|span| span.end == at);
        if trigger.needs_boundary() && !boundary {
            return;
        }
        self.decide(rule_set, OpenCandidate { at, end, trigger, from: NOWHERE }, view);
    }

    fn decide(&mut self, rule_set: &CompiledRules, candidate: OpenCandidate, view: TextView<'_>) {
        let OpenCandidate { at, end, trigger, .. } = candidate;
        // Within a token that was found, another one could only cover a part of it.
        let mut near = self.spans.iter().rev().take(NEAR_SPANS_MAX);
        if trigger.is_token() && near.any(|span| span.fills_word && span.start < at && at < span.end) {
            return;
        }
        match rule_set.judge(trigger, at, end, view) {
            RuleVerdict::No => {}
            RuleVerdict::Wait(from) => self.open.push(OpenCandidate { from, ..candidate }),
            RuleVerdict::Found(span) => self.keep(span, view),
            RuleVerdict::Several(spans) => spans.into_iter().for_each(|span| self.keep(span, view)),
        }
    }

    /// Keeps a span in its place: by start, then by rank, then the longer one first.
    fn keep(&mut self, mut span: Span, view: TextView<'_>) {
        grow(&mut span, view);
        let order = |span: &Span| (span.start, span.rank, std::cmp::Reverse(span.end));
        let place = self.spans.partition_point(|other| order(other) <= order(&span));
        self.spans.insert(place, span);
    }

    /// Returns whether a whole text has nothing to replace.
    pub(crate) fn is_clean(&self) -> bool {
        self.spans.is_empty()
    }

    /// Writes what may be given out by now.
    pub(crate) fn give(&mut self, rule_set: &CompiledRules, view: TextView<'_>, out: &mut Vec<u8>) {
        let held = self.undecided_from(rule_set, view);
        let mut done = 0;
        while let Some(first) = self.spans.get(done).copied() {
            if first.start >= held {
                break;
            }
            let (mut end, mut beyond, mut registered) = (first.end, done + 1, 0);
            registered += u32::from(first.rank == RuleRank::Registered);
            while let Some(next) = self.spans.get(beyond).filter(|next| next.start < end) {
                registered += u32::from(next.rank == RuleRank::Registered);
                (end, beyond) = (end.max(next.end), beyond + 1);
            }
            if end > held {
                // What is still open may be a part of it.
                self.hold(view, first.start, out, done);
                return;
            }
            if first.grows.is_some() || self.spans[done..beyond].iter().any(|span| span.grows.is_some()) {
                // It ends where the text read so far ends; what follows is dropped as it comes.
                self.replace(view, first, end, registered, out);
                let rest = self.spans[done..beyond].iter().filter(|span| span.grows.is_some()).copied();
                let mut rest: Vec<Span> = rest.collect();
                rest.iter_mut().for_each(|span| span.start = end - 1);
                self.spans.drain(..beyond);
                self.spans.splice(0..0, rest);
                return;
            }
            self.replace(view, first, end, registered, out);
            done = beyond;
        }
        self.hold(view, held, out, done);
    }

    /// Gives out everything before `until`, and forgets the spans that are done.
    fn hold(&mut self, view: TextView<'_>, until: usize, out: &mut Vec<u8>, done: usize) {
        let until = until.min(view.text.len());
        if until > self.given {
            out.extend_from_slice(&view.text[self.given..until]);
            self.given = until;
        }
        self.spans.drain(..done);
    }

    fn replace(&mut self, view: TextView<'_>, first: Span, end: usize, registered: u32, out: &mut Vec<u8>) {
        // What goes on from a placeholder that was given out already is a part of it.
        if first.start >= self.covered {
            if first.start > self.given {
                out.extend_from_slice(&view.text[self.given..first.start]);
            }
            out.extend_from_slice(b"<secret:");
            out.extend_from_slice(first.kind.as_bytes());
            out.push(b'>');
            self.findings.replaced = self.findings.replaced.saturating_add(1);
        }
        self.findings.registered = self.findings.registered.saturating_add(registered);
        self.given = self.given.max(end);
        self.covered = self.covered.max(end);
    }

    /// Returns the first place whose text cannot be judged yet.
    fn undecided_from(&self, rule_set: &CompiledRules, view: TextView<'_>) -> usize {
        match view.ended {
            TextEnd::Yes => view.text.len(),
            TextEnd::NotYet => {
                let open = self.open.iter().map(|candidate| candidate.from).min().unwrap_or(NOWHERE);
                open.min(rule_set.partial_start(view.text, self.given)).min(view.text.len())
            }
        }
    }

    /// Returns how many bytes at the front of the text nobody will look at again.
    pub(crate) fn not_needed(&self) -> usize {
        let open = self.open.iter().map(|candidate| candidate.at.min(candidate.from)).min();
        self.given.min(open.unwrap_or(self.read)).min(self.read).saturating_sub(CONTEXT_BYTES_MAX)
    }

    /// Counts all places from a text whose front was cut off.
    pub(crate) fn cut_off(&mut self, bytes: usize) {
        self.read -= bytes;
        self.given -= bytes;
        self.covered = self.covered.saturating_sub(bytes);
        for candidate in &mut self.open {
            candidate.at -= bytes;
            candidate.end -= bytes;
            if candidate.from != NOWHERE {
                candidate.from -= bytes;
            }
        }
        for span in &mut self.spans {
            span.start -= bytes;
            span.end -= bytes;
        }
    }

    /// Counts what was found in a text before this one.
    pub(crate) fn add_findings(&mut self, findings: RedactionFindings) {
        self.findings = self.findings.plus(findings);
    }

    pub(crate) fn take_findings(&mut self) -> RedactionFindings {
        std::mem::take(&mut self.findings)
    }
}

/// Lets a span reach as far as what it consists of does.
fn grow(span: &mut Span, view: TextView<'_>) {
    let Some(set) = span.grows else { return };
    span.end = set.run(view.text, span.end, usize::MAX);
    if !view.open_at(span.end) {
        span.grows = None;
    }
}
