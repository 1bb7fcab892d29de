//! The check of the check: made-up stories, each with one mistake, which has to be found under its name.

use super::*;
use crate::schedules::facts::{EntryFact, OccurrenceFact, TaskFact};
use crate::schedules::webhook::WebhookRequest;

const BODY: &str = r#"{"type":"attention.item","timestamp":"2026-01-09T20:00:00Z","data":{"kind":"reminder","id":"9G5FAV"}}"#;

/// Makes one mistake in a story.
type StoryChange = fn(&mut StoryFacts);

fn entry(kind: &str) -> EntryFact {
    EntryFact { epoch: 1, kind: kind.to_owned() }
}

fn task(kind: QueuedTaskKind) -> TaskFact {
    TaskFact { kind, stage: QueuedTaskStage::Done }
}

fn occurrence(schedule: &str, run: &str) -> OccurrenceFact {
    let stage = ScheduleOccurrenceStage::Succeeded;
    OccurrenceFact { schedule: schedule.to_owned(), stage, run: run.to_owned() }
}

fn message(target: NotificationTargetKind, id: &str) -> MessageFact {
    MessageFact { target, id: id.to_owned(), stage: NotificationStage::Sent }
}

fn request(id: &str) -> WebhookRequest {
    WebhookRequest { id: id.to_owned(), body: BODY.to_owned() }
}

/// A story that nothing disturbed.
fn good() -> StoryFacts {
    let twice = [
        "occurrence_created",
        "occurrence_started",
        "occurrence_finished",
        "delivery_planned",
        "delivery_attempt_begun",
        "delivery_attempt_ended",
    ];
    let thrice = ["task_enqueued", "task_leased", "task_attempt_ended"];
    let entries = twice.iter().flat_map(|kind| [entry(kind), entry(kind)]);
    let entries = entries.chain(thrice.iter().flat_map(|kind| [entry(kind), entry(kind), entry(kind)]));
    StoryFacts {
        schedules: vec![RUN.to_owned(), REMINDER.to_owned()],
        occurrences: vec![occurrence(RUN, "r1"), occurrence(REMINDER, "")],
        runs: vec!["r1".to_owned()],
        tasks: vec![
            task(QueuedTaskKind::ScheduledRun),
            task(QueuedTaskKind::Notify),
            task(QueuedTaskKind::Notify),
        ],
        messages: vec![
            message(NotificationTargetKind::Command, "msg_1"),
            message(NotificationTargetKind::Webhook, "msg_2"),
        ],
        entries: entries.collect(),
        counted: vec![BODY.to_owned()],
        requests: vec![request("msg_2")],
    }
}

/// Makes a mistake in a good story, with so many kills, and returns the differences.
fn changed(deaths: usize, change: impl FnOnce(&mut StoryFacts)) -> StoryDifferences {
    let mut facts = good();
    change(&mut facts);
    compare(&facts, deaths)
}

fn without(facts: &mut StoryFacts, kind: &str) {
    let at = facts.entries.iter().position(|entry| entry.kind == kind).unwrap();
    facts.entries.remove(at);
}

#[test]
fn an_undisturbed_story_has_no_differences() {
    assert_eq!(changed(0, |_| {}), StoryDifferences::default());
}

#[test]
fn a_kill_may_repeat_a_webhook_and_leave_the_program_unknown() {
    let seen = |counted: usize| {
        changed(1, |facts| {
            facts.requests.push(request("msg_2"));
            facts.messages[0].stage = NotificationStage::Unknown;
            facts.counted.truncate(counted);
            facts.tasks.push(task(QueuedTaskKind::ScheduledRun));
            facts.entries.extend(["task_enqueued", "task_leased", "task_attempt_ended"].map(entry));
        })
    };
    assert_eq!((seen(0), seen(1)), (StoryDifferences::default(), StoryDifferences::default()));
}

#[test]
fn each_double_is_found() {
    let doubles: [(&str, StoryChange); 11] = [
        ("a schedule", |facts| facts.schedules.push(RUN.to_owned())),
        ("a row", |facts| facts.occurrences.push(occurrence(RUN, "r1"))),
        ("a record of an occurrence", |facts| facts.entries.push(entry("occurrence_created"))),
        ("a run", |facts| facts.runs.push("r2".to_owned())),
        ("a task of a message", |facts| facts.tasks.push(task(QueuedTaskKind::Notify))),
        ("an end of an attempt", |facts| facts.entries.push(entry("task_attempt_ended"))),
        ("a message", |facts| facts.messages.push(message(NotificationTargetKind::Webhook, "msg_3"))),
        ("a mark", |facts| facts.entries.push(entry("delivery_attempt_ended"))),
        ("a line of the program", |facts| facts.counted.push(BODY.to_owned())),
        ("an id", |facts| facts.requests.push(request("msg_3"))),
        ("an event", |facts| {
            facts
                .requests
                .push(WebhookRequest { body: BODY.replace("9G5FAV", "9G5FAW"), ..request("msg_2") });
        }),
    ];
    for (what, change) in doubles {
        assert!(!changed(1, change).duplicates.is_empty(), "{what} is doubled");
    }
    let repeated = changed(0, |facts| facts.requests.push(request("msg_2")));
    assert!(!repeated.duplicates.is_empty(), "a request is repeated though no daemon was killed");
}

#[test]
fn each_loss_is_found() {
    let losses: [(&str, StoryChange); 8] = [
        ("a row", |facts| facts.occurrences.truncate(1)),
        ("a record of an end", |facts| without(facts, "occurrence_finished")),
        ("the run", |facts| facts.runs.clear()),
        ("the tasks", |facts| facts.tasks.clear()),
        ("an end of an attempt", |facts| without(facts, "task_attempt_ended")),
        ("a mark", |facts| without(facts, "delivery_attempt_ended")),
        ("the line of the program", |facts| facts.counted.clear()),
        ("the request", |facts| facts.requests.clear()),
    ];
    for (what, change) in losses {
        assert!(!changed(1, change).losses.is_empty(), "{what} is lost");
    }
}

#[test]
fn each_end_that_does_not_fit_is_found() {
    let ends: [(&str, usize, StoryChange); 7] = [
        ("a failed occurrence", 1, |facts| facts.occurrences[0].stage = ScheduleOccurrenceStage::Failed),
        ("a run of no occurrence", 1, |facts| facts.runs[0] = "r2".to_owned()),
        ("a cancelled task", 1, |facts| facts.tasks[0].stage = QueuedTaskStage::Cancelled),
        ("an unknown task without a kill", 0, |facts| facts.tasks[0].stage = QueuedTaskStage::OutcomeUnknown),
        ("an unknown message without a kill", 0, |facts| {
            facts.messages[0].stage = NotificationStage::Unknown;
        }),
        ("a webhook that is unknown", 1, |facts| facts.messages[1].stage = NotificationStage::Unknown),
        ("a message about something else", 0, |facts| {
            facts.counted[0] = BODY.replace("\"reminder\"", "\"budget\"");
            facts.requests[0].body = facts.counted[0].clone();
        }),
    ];
    for (what, deaths, change) in ends {
        assert!(!changed(deaths, change).ends.is_empty(), "{what}");
    }
}
