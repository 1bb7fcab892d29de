//! Sends messages of the outbox as tasks of the background queue.

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::queue::{TaskEnd, TaskHandler, TaskWork};
use palyra_journal_core::families::deliveries::{self, DeliveryRow, PlannedDelivery};
use palyra_journal_core::family::QueryFamilies;
use palyra_notify::{AttemptFailure, AttemptStart, end_of_failure, start_of_attempt};
use palyra_ports::{DeliverError, DeliveryTarget, OutboundMessage};
use palyra_queue::{TaskKind, rules};
use palyra_types::delivery::DeliveryEnd;
use palyra_types::{Content, Seq};

use crate::outbox::{record_begun, record_ended};
use crate::parts::{DeliveryChanges, NotifierParts, SettingsReader};

const ENDED_DURING_ATTEMPT: &str = "the daemon ended while the message was being sent; it may have been sent or not, and is not sent again by itself";

/// Sends messages.
#[derive(Clone)]
pub struct NotifyHandler {
    parts: NotifierParts,
    settings: SettingsReader,
    changes: DeliveryChanges,
}

impl NotifyHandler {
    pub(crate) fn new(parts: NotifierParts, settings: SettingsReader, changes: DeliveryChanges) -> Self {
        Self { parts, settings, changes }
    }

    async fn send(&self, work: &TaskWork) -> Result<TaskEnd, String> {
        let Ok(seq) = work.payload.expose().parse().map(Seq) else {
            return Err("the task names no message".to_owned());
        };
        let read = self.parts.families.query(move |rows, log| {
            let planned = deliveries::planned(log, seq)?;
            let row = deliveries::delivery(rows, planned.planned.key)?;
            Ok((planned, row.map(|(_, row)| row)))
        });
        let (message, row) = read.await.map_err(|error| format!("the message could not be read: {error}"))?;
        let Some(row) = row else { return Err("the message is not in the outbox".to_owned()) };
        match start_of_attempt(row.target_kind, row.stage, work.attempt) {
            AttemptStart::AlreadySent => Ok(TaskEnd::Completed),
            // An earlier attempt recorded its end, and the daemon ended before the queue knew it.
            AttemptStart::LeaveToPerson => Ok(ended_without_message(row.stage.as_str())),
            AttemptStart::RecordUnknown => {
                self.end(&row, row.attempts, DeliveryEnd::Unknown, ENDED_DURING_ATTEMPT).await?;
                Ok(ended_without_message(DeliveryEnd::Unknown.as_str()))
            }
            AttemptStart::Send => self.attempt(work, row, message).await,
        }
    }

    async fn attempt(
        &self,
        work: &TaskWork,
        row: DeliveryRow,
        message: PlannedDelivery,
    ) -> Result<TaskEnd, String> {
        let planned = message.planned;
        let attempt = row.attempts.saturating_add(1);
        let target = DeliveryTarget { kind: planned.target_kind, name: planned.target.expose().clone() };
        let unusable = if planned.is_erased() {
            Some("its content was erased")
        } else if (self.settings)().targets.contains(&target) {
            None
        } else {
            Some("its target is not configured any more")
        };
        if let Some(why) = unusable {
            self.end(&row, attempt, DeliveryEnd::GivenUp, why).await?;
            return Ok(ended_without_message(DeliveryEnd::GivenUp.as_str()));
        }
        if work.lease.is_stop_requested() {
            return Ok(TaskEnd::Stopped);
        }
        let begun = record_begun(&self.parts, row.key, attempt).await;
        begun.map_err(|error| format!("the attempt was not recorded: {error}"))?;
        self.changes.note();
        let body = Content::new(planned.body.expose().clone());
        let sent = self.parts.deliver.deliver(OutboundMessage { key: row.key, target, body });
        let sent = if row.target_kind.may_repeat() {
            tokio::select! {
                biased;
                () = work.lease.stop_requested() => return Ok(TaskEnd::Stopped),
                sent = sent => sent,
            }
        } else {
            // Whether it was sent is known only at its end, so a stop waits for that as long as the daemon does.
            sent.await
        };
        match sent {
            Ok(()) => self.end(&row, attempt, DeliveryEnd::Sent, "").await.map(|()| TaskEnd::Completed),
            Err(error) => self.failed(work, &row, attempt, &error).await,
        }
    }

    async fn failed(
        &self,
        work: &TaskWork,
        row: &DeliveryRow,
        attempt: u32,
        error: &DeliverError,
    ) -> Result<TaskEnd, String> {
        let failure = match error {
            DeliverError::NotSent { .. } => AttemptFailure::NotSent,
            DeliverError::InDoubt { .. } => AttemptFailure::InDoubt,
            DeliverError::Refused { .. } => AttemptFailure::Refused,
        };
        let attempts_max = rules(TaskKind::Notify).attempts_max;
        let end = end_of_failure(row.target_kind, failure, work.attempt, attempts_max);
        let why = error.to_string();
        self.end(row, attempt, end, &why).await?;
        Ok(match end {
            DeliveryEnd::Sent => TaskEnd::Completed,
            // The queue would repeat it; the outbox has the outcome.
            DeliveryEnd::Unknown => ended_without_message(end.as_str()),
            DeliveryEnd::GivenUp if failure == AttemptFailure::Refused => ended_without_message(end.as_str()),
            // After the last attempt the queue leaves the task to a person.
            DeliveryEnd::Failed | DeliveryEnd::GivenUp => TaskEnd::Failed(Content::new(why)),
        })
    }

    async fn end(&self, row: &DeliveryRow, attempt: u32, end: DeliveryEnd, why: &str) -> Result<(), String> {
        let recorded = record_ended(&self.parts, row.key, attempt, end, why).await;
        recorded.map_err(|error| format!("the end of the attempt was not recorded: {error}"))?;
        self.changes.note();
        Ok(())
    }
}

/// Ends a task that is over without a message that is known to be sent.
fn ended_without_message(stage: &str) -> TaskEnd {
    TaskEnd::CompletedWith(Content::new(format!("the message is {stage}; `palyra doctor` says why")))
}

impl TaskHandler for NotifyHandler {
    fn kind(&self) -> TaskKind {
        TaskKind::Notify
    }

    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        let handler = self.clone();
        async move { handler.send(&work).await.unwrap_or_else(|why| TaskEnd::Failed(Content::new(why))) }
            .boxed()
    }
}
