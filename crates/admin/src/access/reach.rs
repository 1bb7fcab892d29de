//! Which surfaces can reach a person who may approve, now: open streams on which such a person sees what waits.
//!
//! In memory alone: a restart ends every stream. A stream of a program is not counted: it decides no approval. Begin at [`AccessHandle::count_stream`].

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use palyra_types::PrincipalId;
use palyra_types::access::AccessScope;
use palyra_types::surface::Surface;

use super::AccessHandle;
use crate::caller::Caller;
use crate::health::{CheckLevel, HealthCheck};

/// Open streams, by person and surface. There are at most as many as transports take.
#[derive(Debug, Default)]
pub(super) struct ApproverStreams {
    open: Mutex<HashMap<(PrincipalId, Surface), usize>>,
}

/// What a surface reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SurfaceReach {
    /// People who may approve.
    pub people: usize,
    /// Their open streams.
    pub streams: usize,
}

/// Counts a stream until it is dropped.
#[derive(Debug)]
pub struct ReachGuard {
    streams: Arc<ApproverStreams>,
    person: PrincipalId,
    surface: Surface,
}

impl ApproverStreams {
    fn add(self: &Arc<Self>, person: PrincipalId, surface: Surface) -> ReachGuard {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open.entry((person, surface)).or_default() += 1;
        ReachGuard { streams: Arc::clone(self), person, surface }
    }

    fn reach(&self) -> BTreeMap<&'static str, SurfaceReach> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reach: BTreeMap<&'static str, SurfaceReach> = BTreeMap::new();
        for ((_, surface), streams) in open.iter() {
            let of_surface = reach.entry(surface.name()).or_default();
            of_surface.people += 1;
            of_surface.streams += streams;
        }
        reach
    }
}

impl Drop for ReachGuard {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.person, self.surface);
        match open.get_mut(&key) {
            Some(streams) if *streams > 1 => *streams -= 1,
            _ => {
                open.remove(&key);
            }
        }
    }
}

impl AccessHandle {
    /// Counts an open stream on which the caller sees what waits, until the guard is dropped; `None` for a caller that may
    /// not approve.
    #[must_use]
    pub fn count_stream(&self, caller: Caller) -> Option<ReachGuard> {
        let Caller { actor, scopes, .. } = caller;
        scopes.contains(AccessScope::Approve).then(|| self.streams.add(actor.principal, actor.surface))
    }

    /// Returns what each surface reaches now, by its name; surfaces that reach no one are left out.
    #[must_use]
    pub fn reach(&self) -> BTreeMap<&'static str, SurfaceReach> {
        self.streams.reach()
    }

    /// Returns the same as a check.
    #[must_use]
    pub fn reach_check(&self) -> HealthCheck {
        let of_surface = |(name, reach): (&'static str, SurfaceReach)| {
            let SurfaceReach { people, streams } = reach;
            let people = if people == 1 { "1 person".to_owned() } else { format!("{people} people") };
            let streams = if streams == 1 { "1 stream".to_owned() } else { format!("{streams} streams") };
            format!("{name} ({people}, {streams})")
        };
        let surfaces: Vec<String> = self.reach().into_iter().map(of_surface).collect();
        let found = if surfaces.is_empty() {
            "no program is open that shows new questions to a person who may approve them (`palyra approve watch` does, a chat at its prompt does not)".to_owned()
        } else {
            surfaces.join(", ")
        };
        HealthCheck { name: "approver_reach", level: CheckLevel::Ok, found, mend: "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_streams_of_each_surface_are_counted_while_they_are_open() {
        let streams = Arc::new(ApproverStreams::default());
        let [alice, bob] = [1, 2].map(|number| PrincipalId::from_parts(0, number));
        assert_eq!(streams.reach(), BTreeMap::new());
        let first = streams.add(alice, Surface::LocalSocket);
        let second = streams.add(alice, Surface::LocalSocket);
        let _third = streams.add(bob, Surface::LocalSocket);
        let console = streams.add(bob, Surface::Console);
        let at = |people, streams| SurfaceReach { people, streams };
        assert_eq!(streams.reach(), BTreeMap::from([("console", at(1, 1)), ("local_socket", at(2, 3))]));
        drop((first, console));
        assert_eq!(streams.reach(), BTreeMap::from([("local_socket", at(2, 2))]));
        drop(second);
        assert_eq!(streams.reach(), BTreeMap::from([("local_socket", at(1, 1))]));
    }
}
