//! Digests of the requests that started recent runs, to tell a repetition from another request about the same words.
//!
//! In memory alone: after a restart a run's request is not known, and a client that says it repeats itself is believed.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use palyra_types::{Content, RunId};

/// Requests remembered, at most; the oldest is forgotten first.
const BODIES_MAX: usize = 4_096;

/// Remembers requests.
#[derive(Default)]
pub(crate) struct RecentBodies {
    bodies: Mutex<VecDeque<(RunId, Content<String>)>>,
}

/// What is known of the request that started a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownBody {
    Same,
    Other,
    Unknown,
}

impl RecentBodies {
    /// Remembers the request that started a run.
    pub(crate) fn note(&self, run: RunId, body: Content<String>) {
        let mut bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        if bodies.iter().any(|(known, _)| *known == run) {
            return;
        }
        if bodies.len() >= BODIES_MAX {
            bodies.pop_front();
        }
        bodies.push_back((run, body));
    }

    /// Compares a request with the one that started a run.
    pub(crate) fn compare(&self, run: RunId, body: &Content<String>) -> KnownBody {
        let bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        match bodies.iter().rev().find(|(known, _)| *known == run) {
            Some((_, known)) if known == body => KnownBody::Same,
            Some(_) => KnownBody::Other,
            None => KnownBody::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_same_another_or_not_known_and_there_is_an_end_to_them() {
        let bodies = RecentBodies::default();
        let run = |number: u128| RunId::from_parts(1, number);
        bodies.note(run(0), "a".into());
        bodies.note(run(0), "b".into());
        assert_eq!(bodies.compare(run(0), &"a".into()), KnownBody::Same);
        assert_eq!(bodies.compare(run(0), &"b".into()), KnownBody::Other);
        for number in 1..=BODIES_MAX as u128 {
            bodies.note(run(number), "c".into());
        }
        assert_eq!(bodies.compare(run(0), &"a".into()), KnownBody::Unknown);
        assert_eq!(bodies.compare(run(1), &"c".into()), KnownBody::Same);
    }
}
