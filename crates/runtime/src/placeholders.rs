//! What the placeholders in a step say: which of its entries the redactor changed, and how often somebody met a
//! registered value, which could be guessing.
//!
//! Looks at what is about to be recorded, so that no door can be forgotten. Shows and keeps no content.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use palyra_ports::NewEntry;
use palyra_ports::append_tape::AppendRedaction;
use palyra_ports::redactor::{PLACEHOLDER_BEGINS, REGISTERED_PLACEHOLDER};
use palyra_types::event::JournalEvent;
use palyra_types::event::content::ContentClass;
use palyra_types::{BootTime, PrincipalId};

use crate::parts::RuntimePorts;

/// Registered values that a principal may meet in [`GUESSING_SPAN`] before it is told.
const GUESSES_MAX: u32 = 8;
/// The span over which they are counted.
const GUESSING_SPAN: Duration = Duration::from_secs(60);
/// Principals counted at once; beyond it the counts begin anew.
const GUESSERS_MAX: usize = 1_024;

/// Says which entries of an append bear a placeholder, and counts registered values for their principal.
pub(crate) fn redaction_of(ports: &RuntimePorts, guesses: &Guesses, entries: &[NewEntry]) -> AppendRedaction {
    let mut redaction = AppendRedaction { ruleset: ports.redactor.ruleset(), entries: Vec::new() };
    for (at, entry) in entries.iter().enumerate() {
        let mut bears = false;
        for_each_content(&entry.event, &mut |text| bears = bears || text.contains(PLACEHOLDER_BEGINS));
        if !bears {
            continue;
        }
        redaction.entries.push(at);
        let registered = count_registered(&entry.event);
        if registered > 0 {
            guesses.note(entry.principal, registered, ports.clock.boot());
        }
    }
    redaction
}

/// How often each principal met a registered value of late.
#[derive(Debug, Default)]
pub(crate) struct Guesses(Mutex<BTreeMap<PrincipalId, (BootTime, u32)>>);

impl Guesses {
    fn note(&self, principal: PrincipalId, hits: u32, now: BootTime) {
        if self.count(principal, hits, now) {
            tracing::warn!(
                %principal,
                span_seconds = GUESSING_SPAN.as_secs(),
                "registered secrets were matched more than {GUESSES_MAX} times; a client may be guessing them"
            );
        }
    }

    /// Returns whether this is the hit that makes it too many.
    fn count(&self, principal: PrincipalId, hits: u32, now: BootTime) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= GUESSERS_MAX && !counts.contains_key(&principal) {
            counts.clear();
        }
        let (since, count) = counts.entry(principal).or_insert((now, 0));
        if now.since(*since) > GUESSING_SPAN {
            (*since, *count) = (now, 0);
        }
        let before = *count;
        *count = count.saturating_add(hits);
        before <= GUESSES_MAX && *count > GUESSES_MAX
    }
}

/// Shows every text of an entry that came from outside.
fn for_each_content(event: &JournalEvent, see: &mut dyn FnMut(&str)) {
    event.for_each_content(&mut |_, leaf| leaf.for_each_text(see));
}

/// Counts registered values in an entry. Bytes that a program keeps, such as a file, do not count as guesses.
fn count_registered(event: &JournalEvent) -> u32 {
    let mut registered = 0;
    event.for_each_content(&mut |field, leaf| {
        if field.class != ContentClass::Bytes {
            leaf.for_each_text(&mut |text| registered += text.matches(REGISTERED_PLACEHOLDER).count());
        }
    });
    u32::try_from(registered).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
