//! How long things have been without progress, counted from look to look.

use std::collections::BTreeMap;
use std::time::Duration;

use palyra_types::BootTime;
use palyra_types::incident::{IncidentCause, IncidentSubject};

use crate::facts::ProgressMarker;
use crate::incident_key::IncidentKey;

/// The silences of everything that is watched. Bounded by what the latest look saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct SilenceBook {
    seen: BTreeMap<IncidentKey, WatchedSilence>,
    last_look: Option<BootTime>,
    step: Duration,
    look: u64,
}

#[derive(Debug, Clone, Copy)]
struct WatchedSilence {
    marker: ProgressMarker,
    silent: Duration,
    look: u64,
}

impl SilenceBook {
    /// Begins a look: what shows no progress since the one before has been silent for the time between them, but at most
    /// for `step_max`.
    pub(crate) fn begin_look(&mut self, now: BootTime, step_max: Duration) {
        self.step = self.last_look.map_or(Duration::ZERO, |last| now.since(last).min(step_max));
        self.last_look = Some(now);
        self.look += 1;
    }

    /// Takes in how far something is, and returns how long it has been silent.
    pub(crate) fn note(
        &mut self,
        cause: IncidentCause,
        subject: IncidentSubject,
        marker: ProgressMarker,
    ) -> Duration {
        let new = WatchedSilence { marker, silent: Duration::ZERO, look: self.look };
        let seen = self.seen.entry(IncidentKey { cause, subject }).or_insert(new);
        if seen.marker != marker {
            *seen = new;
        } else if seen.look != self.look {
            seen.silent = seen.silent.saturating_add(self.step);
            seen.look = self.look;
        }
        seen.silent
    }

    /// Returns whether the latest look saw nothing that could be stuck.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Returns what could be stuck.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &IncidentKey> {
        self.seen.keys()
    }

    /// Ends a look: what it did not see is forgotten, unless its domain could not be read.
    pub(crate) fn end_look(&mut self, was_read: impl Fn(IncidentCause) -> bool) {
        let look = self.look;
        self.seen.retain(|key, seen| seen.look == look || !was_read(key.cause));
    }
}
