//! Compares what the daemon says of a story with the ledgers outside of it.
//!
//! Owns what has to be true. Begin at [`compare`].

use std::collections::BTreeSet;

use palyra_wire::v1::{
    NotificationStage, NotificationTargetKind, QueuedTaskKind, QueuedTaskStage, ScheduleOccurrenceStage,
};
use serde_json::Value;

use super::facts::{MessageFact, StoryFacts};

/// The name of the schedule that starts a run.
pub(super) const RUN: &str = "run";
/// The name of the schedule that delivers a reminder.
pub(super) const REMINDER: &str = "reminder";
/// The kind of the things about which messages are sent.
const MESSAGE_KIND: &str = "reminder";
const TARGETS: [NotificationTargetKind; 2] =
    [NotificationTargetKind::Command, NotificationTargetKind::Webhook];

/// What does not fit together; all of it is empty where nothing is lost and nothing doubled.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StoryDifferences {
    /// Things that happened more often than once.
    pub(super) duplicates: Vec<String>,
    /// Things that did not happen, though they had to, or though the daemon says so.
    pub(super) losses: Vec<String>,
    /// Things that ended in a way that does not fit.
    pub(super) ends: Vec<String>,
}

impl StoryDifferences {
    /// Returns all that is wrong.
    pub(super) fn faults(&self) -> Vec<&str> {
        let named = [&self.duplicates, &self.losses, &self.ends];
        named.into_iter().flatten().map(String::as_str).collect()
    }

    /// Demands that something is there once.
    fn once(&mut self, what: &str, count: usize) {
        match count {
            0 => self.losses.push(format!("{what}: none")),
            1 => {}
            more => self.duplicates.push(format!("{what}: {more}")),
        }
    }
}

/// Compares. So many daemons were killed.
pub(super) fn compare(facts: &StoryFacts, deaths: usize) -> StoryDifferences {
    let mut differences = StoryDifferences::default();
    compare_occurrences(facts, &mut differences);
    compare_tasks(facts, deaths, &mut differences);
    for target in TARGETS {
        compare_message(facts, target, deaths, &mut differences);
    }
    compare_events(facts, &mut differences);
    differences
}

/// One row, one record and one run for each occurrence.
fn compare_occurrences(facts: &StoryFacts, differences: &mut StoryDifferences) {
    for schedule in [RUN, REMINDER] {
        differences.once(
            &format!("schedule `{schedule}`"),
            facts.schedules.iter().filter(|name| *name == schedule).count(),
        );
        let rows = facts.occurrences.iter().filter(|occurrence| occurrence.schedule == schedule);
        differences.once(&format!("occurrence of `{schedule}`"), rows.clone().count());
        for row in rows.filter(|row| row.stage != ScheduleOccurrenceStage::Succeeded) {
            differences.ends.push(format!("an occurrence of `{schedule}` is {}", row.stage.as_str_name()));
        }
    }
    for kind in ["occurrence_created", "occurrence_started", "occurrence_finished"] {
        match facts.count(kind).cmp(&2) {
            std::cmp::Ordering::Less => differences.losses.push(format!("an occurrence has no `{kind}`")),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => {
                differences.duplicates.push(format!("{} entries `{kind}`", facts.count(kind)));
            }
        }
    }
    differences.once("run", facts.runs.len());
    let of_occurrences: Vec<_> =
        facts.occurrences.iter().map(|row| &row.run).filter(|run| !run.is_empty()).collect();
    if facts.runs.iter().any(|run| !of_occurrences.contains(&run)) {
        differences.ends.push("a run belongs to no occurrence".to_owned());
    }
}

/// Each task is done, or a person sees that it is not or that its outcome is unknown; and each lease has one end.
fn compare_tasks(facts: &StoryFacts, deaths: usize, differences: &mut StoryDifferences) {
    for task in &facts.tasks {
        let is_seen = match task.stage {
            QueuedTaskStage::Done => true,
            QueuedTaskStage::DeadLetter | QueuedTaskStage::OutcomeUnknown => deaths > 0,
            _ => false,
        };
        if !is_seen {
            let kind = task.kind.as_str_name();
            differences.ends.push(format!("a task {kind} is {}", task.stage.as_str_name()));
        }
    }
    let of_kind = |kind| facts.tasks.iter().filter(|task| task.kind == kind).count();
    // A start repeats the effect of an occurrence that runs; its key makes the second task find the run.
    if of_kind(QueuedTaskKind::ScheduledRun) > 1 + deaths {
        differences.duplicates.push(format!("{} tasks of a run", of_kind(QueuedTaskKind::ScheduledRun)));
    }
    if of_kind(QueuedTaskKind::Notify) > TARGETS.len() {
        differences.duplicates.push(format!("{} tasks of messages", of_kind(QueuedTaskKind::Notify)));
    }
    let leases = facts.count("task_leased");
    let ends = facts.count("task_attempt_ended");
    if leases > ends {
        differences.losses.push(format!("{leases} leases have {ends} ends"));
    }
    if leases < ends {
        differences.duplicates.push(format!("{leases} leases have {ends} ends"));
    }
    for (kind, name) in [(QueuedTaskKind::ScheduledRun, "run"), (QueuedTaskKind::Notify, "message")] {
        if of_kind(kind) == 0 {
            differences.losses.push(format!("no task of a {name}"));
        }
    }
}

/// A message is recorded once, marked once, and got by its receiver as often as its mark says.
fn compare_message(
    facts: &StoryFacts,
    target: NotificationTargetKind,
    deaths: usize,
    differences: &mut StoryDifferences,
) {
    let name = receiver_of(target);
    let messages: Vec<&MessageFact> = facts.messages.iter().filter(|one| one.target == target).collect();
    differences.once(&format!("message to {name}"), messages.len());
    let Some(message) = messages.first() else { return };
    let got = if target == NotificationTargetKind::Command {
        facts.counted.len()
    } else {
        let ids: BTreeSet<&str> = facts.requests.iter().map(|request| request.id.as_str()).collect();
        if ids.len() > 1 || ids.iter().any(|id| *id != message.id) {
            differences.duplicates.push(format!("ids {ids:?} of the one message {}", message.id));
        }
        facts.requests.len()
    };
    // Only a receiver that can drop a repeated id gets a message again.
    let may_repeat = target == NotificationTargetKind::Webhook;
    let got_max = if may_repeat { 1 + deaths } else { 1 };
    if got > got_max {
        differences.duplicates.push(format!("{name} got the message {got} times after {deaths} kills"));
    }
    match message.stage {
        NotificationStage::Sent if got == 0 => {
            differences.losses.push(format!("{name} is said to have the message, and has none"));
        }
        NotificationStage::Sent => {}
        NotificationStage::Unknown if !may_repeat && deaths > 0 => {}
        stage => differences.ends.push(format!("the message to {name} is {}", stage.as_str_name())),
    }
}

fn receiver_of(target: NotificationTargetKind) -> &'static str {
    match target {
        NotificationTargetKind::Command => "the program",
        NotificationTargetKind::Webhook => "the webhook",
        NotificationTargetKind::Unspecified | NotificationTargetKind::Desktop => "another target",
    }
}

/// All messages are about one event, and each has one record and one mark.
fn compare_events(facts: &StoryFacts, differences: &mut StoryDifferences) {
    for kind in ["delivery_planned", "delivery_attempt_ended"] {
        match facts.count(kind).cmp(&TARGETS.len()) {
            std::cmp::Ordering::Less => differences.losses.push(format!("a message has no `{kind}`")),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => {
                differences.duplicates.push(format!("{} entries `{kind}`", facts.count(kind)));
            }
        }
    }
    let bodies = facts.counted.iter().chain(facts.requests.iter().map(|request| &request.body));
    let events: BTreeSet<(String, String)> = bodies.map(|body| event_of(body)).collect();
    if events.len() > 1 {
        differences.duplicates.push(format!("messages about {events:?}"));
    }
    for (kind, id) in events.iter().filter(|(kind, _)| kind != MESSAGE_KIND) {
        differences.ends.push(format!("a message about {kind} {id}"));
    }
}

/// Returns what a message is about: its kind and its short id.
fn event_of(body: &str) -> (String, String) {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |name: &str| body["data"][name].as_str().unwrap_or_default().to_owned();
    (text("kind"), text("id"))
}

#[cfg(test)]
mod tests;
