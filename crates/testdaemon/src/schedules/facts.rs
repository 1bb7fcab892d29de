//! What is known at the end of a story: by the daemon, as its clients see it, and by the ledgers outside of it.
//!
//! Reads, and judges nothing. Begin at [`look`].

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, ClientError};
use palyra_wire::v1::{
    GetScheduleRequest, ListEntriesRequest, ListNotificationTargetsRequest, ListQueuedTasksRequest,
    ListRunsRequest, ListSchedulesRequest, NotificationStage, NotificationTargetKind, QueuedTaskKind,
    QueuedTaskStage, ScheduleOccurrenceStage,
};

use super::program;
use super::webhook::{HOOKED, WebhookRequest, requests};
use crate::test_home::TestHome;

/// More than a story writes.
const ENTRIES_MAX: u32 = 1_000;
const PAGE_SIZE: u32 = 200;

/// An occurrence of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OccurrenceFact {
    /// The name of its schedule.
    pub(super) schedule: String,
    pub(super) stage: ScheduleOccurrenceStage,
    /// Its run; empty for a reminder.
    pub(super) run: String,
}

/// A task of the background queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaskFact {
    pub(super) kind: QueuedTaskKind,
    pub(super) stage: QueuedTaskStage,
}

/// A message of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MessageFact {
    pub(super) target: NotificationTargetKind,
    pub(super) id: String,
    pub(super) stage: NotificationStage,
}

/// An entry of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryFact {
    /// The start that wrote it.
    pub(super) epoch: u32,
    pub(super) kind: String,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StoryFacts {
    /// The names of the schedules.
    pub(super) schedules: Vec<String>,
    pub(super) occurrences: Vec<OccurrenceFact>,
    /// The ids of all runs.
    pub(super) runs: Vec<String>,
    pub(super) tasks: Vec<TaskFact>,
    pub(super) messages: Vec<MessageFact>,
    pub(super) entries: Vec<EntryFact>,
    /// The messages that the program counted.
    pub(super) counted: Vec<String>,
    /// The requests that the webhook got.
    pub(super) requests: Vec<WebhookRequest>,
}

impl StoryFacts {
    /// Adds what the ledgers of a house have.
    pub(super) fn with_ledgers(self, house: &TestHome) -> Result<Self> {
        let requests = requests(&house.path(HOOKED)).context("could not read the requests")?;
        Ok(Self { counted: program::counted(house)?, requests, ..self })
    }

    /// Returns how many entries are of a kind.
    pub(super) fn count(&self, kind: &str) -> usize {
        self.entries.iter().filter(|entry| entry.kind == kind).count()
    }

    /// Returns the kind of the last entry that an earlier start wrote than the latest one.
    pub(super) fn last_before_the_kill(&self) -> Option<&str> {
        let latest = self.entries.iter().map(|entry| entry.epoch).max()?;
        self.entries.iter().rev().find(|entry| entry.epoch < latest).map(|entry| entry.kind.as_str())
    }
}

/// Looks at what the daemon knows; `None` while something is open or yet to come.
pub(super) async fn look(client: &Client, schedules: usize) -> Result<Option<StoryFacts>, ClientError> {
    let mut facts = StoryFacts::default();
    for schedule in client.call(ListSchedulesRequest {}).await?.schedules {
        let request = GetScheduleRequest { schedule_id: schedule.schedule_id.clone() };
        let occurrences = client.call(request).await?.occurrences;
        let stages: Vec<_> = occurrences.iter().map(|occurrence| occurrence.stage()).collect();
        let is_open = |stage: &ScheduleOccurrenceStage| {
            matches!(stage, ScheduleOccurrenceStage::Waiting | ScheduleOccurrenceStage::Running)
        };
        if stages.is_empty() || stages.iter().any(is_open) {
            return Ok(None);
        }
        facts.occurrences.extend(occurrences.into_iter().zip(stages).map(|(occurrence, stage)| {
            OccurrenceFact { schedule: schedule.name.clone(), stage, run: occurrence.run_id }
        }));
        facts.schedules.push(schedule.name);
    }
    if facts.schedules.len() < schedules {
        return Ok(None);
    }
    for target in client.call(ListNotificationTargetsRequest {}).await?.targets {
        let open = target.open_count;
        match target.latest {
            Some(latest) if open == 0 => facts.messages.push(MessageFact {
                target: latest.target(),
                id: latest.message_id.clone(),
                stage: latest.stage(),
            }),
            Some(_) | None => return Ok(None),
        }
    }
    let request = ListQueuedTasksRequest { page_size: PAGE_SIZE, ..ListQueuedTasksRequest::default() };
    for task in client.call(request).await?.tasks {
        let fact = TaskFact { kind: task.kind(), stage: task.stage() };
        if matches!(fact.stage, QueuedTaskStage::Waiting | QueuedTaskStage::Leased) {
            return Ok(None);
        }
        facts.tasks.push(fact);
    }
    let request = ListRunsRequest { page_size: PAGE_SIZE, ..ListRunsRequest::default() };
    facts.runs = client.call(request).await?.runs.into_iter().map(|run| run.run_id).collect();
    facts.entries = read_entries(client).await?;
    Ok(Some(facts))
}

/// Returns all entries of the journal.
pub(super) async fn entries(client: &Client) -> Result<Vec<EntryFact>> {
    let entries = read_entries(client).await.context("could not list the entries")?;
    ensure!(entries.len() < ENTRIES_MAX as usize, "too many entries for one look");
    Ok(entries)
}

async fn read_entries(client: &Client) -> Result<Vec<EntryFact>, ClientError> {
    let request = ListEntriesRequest { from_seq: 0, limit: ENTRIES_MAX };
    let entries = client.call(request).await?.entries;
    Ok(entries.into_iter().map(|entry| EntryFact { epoch: entry.epoch, kind: entry.kind }).collect())
}
