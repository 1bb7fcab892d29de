//! How often a principal met a registered value of late, which could be guessing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use palyra_types::{BootTime, PrincipalId};

/// Registered values that a principal may meet in [`GUESSING_SPAN`] before a warning.
pub(super) const GUESSES_MAX: u32 = 8;
/// The span over which they are counted.
const GUESSING_SPAN: Duration = Duration::from_secs(60);
/// Principals counted at once; beyond it the counts begin again.
const GUESSERS_MAX: usize = 1_024;

/// How often each principal met a registered value.
#[derive(Debug, Default)]
pub(super) struct GuessCounts(Mutex<BTreeMap<PrincipalId, (BootTime, u32)>>);

impl GuessCounts {
    pub(super) fn note(&self, principal: PrincipalId, hits: u32, now: BootTime) {
        if self.count(principal, hits, now) {
            tracing::warn!(
                %principal,
                span_seconds = GUESSING_SPAN.as_secs(),
                "registered secrets were matched more than {GUESSES_MAX} times; a client may be guessing them"
            );
        }
    }

    /// Returns whether this is the hit that makes it too many.
    pub(super) fn count(&self, principal: PrincipalId, hits: u32, now: BootTime) -> bool {
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
