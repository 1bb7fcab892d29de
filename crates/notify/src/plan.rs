//! Which candidates are sent now: those that were not planned before, are due, and are within the hourly limit of their
//! target.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use palyra_types::Timestamp;
use palyra_types::delivery::DeliveryKey;

use crate::candidates::MessageCandidate;
use crate::target_name::TargetName;

/// Messages that a target gets within an hour, at most: a run that asks without end does not ring without end.
pub const HOURLY_MESSAGES_MAX: usize = 30;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// When messages to each target were planned lately.
pub type RecentMessages = BTreeMap<TargetName, Vec<Timestamp>>;

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotifyPlan {
    /// Messages to plan, in the order in which they are sent.
    pub due: Vec<MessageCandidate>,
    /// When to look again, if nothing happens before.
    pub next: Option<Timestamp>,
}

/// Chooses the candidates that are planned now. `known` are the ids that were planned before; of `recent`, times that are more
/// than an hour ago do not matter.
#[must_use]
pub fn plan(
    mut candidates: Vec<MessageCandidate>,
    known: &BTreeSet<DeliveryKey>,
    recent: &RecentMessages,
    now: Timestamp,
) -> NotifyPlan {
    candidates.retain(|candidate| !known.contains(&candidate.key));
    candidates.sort_by_key(|candidate| (!candidate.message.is_critical(), candidate.due, candidate.key));
    let mut planned = NotifyPlan::default();
    let mut rooms: BTreeMap<TargetName, TargetRoom> = BTreeMap::new();
    let mut chosen = BTreeSet::new();
    for candidate in candidates {
        if !chosen.insert(candidate.key) {
            continue;
        }
        if candidate.due > now {
            planned.look_at(candidate.due);
            continue;
        }
        let room = rooms.entry(candidate.target.clone());
        let room = room.or_insert_with(|| TargetRoom::at(now, recent.get(&candidate.target)));
        match room.take() {
            true => planned.due.push(candidate),
            false => planned.look_at(room.next),
        }
    }
    planned
}

impl NotifyPlan {
    fn look_at(&mut self, time: Timestamp) {
        self.next = Some(self.next.map_or(time, |next| next.min(time)));
    }
}

/// How many more messages a target may get now, and when there is room again.
struct TargetRoom {
    left: usize,
    next: Timestamp,
}

impl TargetRoom {
    fn at(now: Timestamp, recent: Option<&Vec<Timestamp>>) -> Self {
        // A time after `now` is of a clock that was set back; it counts until the clock reaches it again.
        let ends = recent.into_iter().flatten().map(|time| time.after(HOUR));
        let within: Vec<Timestamp> = ends.filter(|end| *end > now).collect();
        let next = within.iter().min().copied().unwrap_or_else(|| now.after(HOUR));
        Self { left: HOURLY_MESSAGES_MAX.saturating_sub(within.len()), next }
    }

    fn take(&mut self) -> bool {
        let has_room = self.left > 0;
        self.left = self.left.saturating_sub(1);
        has_room
    }
}

#[cfg(test)]
mod tests;
