//! Entries of the outbox.

use palyra_background::queue::{BackgroundQueue, NewTask, QueueError};
use palyra_notify::TargetName;
use palyra_ports::{AppendClass, AppendError, NewEntry};
use palyra_queue::{TaskKey, TaskKind};
use palyra_types::delivery::{
    DELIVERY_EXPLANATION_BYTES_MAX, DeliveryAttemptEnded, DeliveryEnd, DeliveryEvent, DeliveryKey,
    DeliveryPlanned,
};
use palyra_types::{Content, PrincipalId, Redacted, Seq};

use crate::parts::NotifierParts;

/// A message that is to be recorded.
pub(crate) struct NewMessage {
    pub(crate) key: DeliveryKey,
    pub(crate) target: TargetName,
    pub(crate) body: String,
}

/// Why a message is not in the outbox.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It would have a secret.
    #[error("a notification would have a secret in it; look at the names of agents")]
    Secret,
    /// It was not recorded.
    #[error("a notification was not recorded: {0}")]
    Append(#[from] AppendError),
}

/// Records messages in one append; returns the place of each.
pub(crate) async fn record_planned(
    parts: &NotifierParts,
    messages: Vec<NewMessage>,
) -> Result<Vec<(DeliveryKey, Seq)>, PlanError> {
    let time = parts.clock.wall();
    let mut entries = Vec::new();
    let mut keys = Vec::new();
    for NewMessage { key, target, body } in messages {
        let planned = DeliveryPlanned {
            key,
            target_kind: target.kind,
            target: checked(parts, target.name)?,
            body_bytes: u32::try_from(body.len()).unwrap_or(u32::MAX),
            body: checked(parts, body)?,
        };
        let event = DeliveryEvent::Planned(planned).into();
        entries.push(NewEntry { time, principal: parts.owner, session: None, run: None, event });
        keys.push(key);
    }
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let receipt = parts.recorder.record(entries, AppendClass::Normal, Vec::new()).await?;
    Ok((receipt.first_seq.0..).map(Seq).zip(keys).map(|(seq, key)| (key, seq)).collect())
}

fn checked(parts: &NotifierParts, text: String) -> Result<Redacted<String>, PlanError> {
    parts.recorder.check(parts.owner, Content::new(text)).map_err(|_| PlanError::Secret)
}

/// Puts the task that sends a message into the queue, unless it is there.
pub(crate) async fn enqueue(
    parts: &NotifierParts,
    queue: &BackgroundQueue,
    key: DeliveryKey,
    seq: Seq,
) -> Result<(), QueueError> {
    let task = NewTask {
        kind: TaskKind::Notify,
        principal: PrincipalId::NIL,
        session: None,
        key: Some(TaskKey(key.0)),
        due: None,
        payload: parts.redactor.redact(Content::new(seq.0.to_string())).text,
    };
    queue.enqueue(task).await.map(drop)
}

/// Records the beginning of an attempt.
pub(crate) async fn record_begun(
    parts: &NotifierParts,
    key: DeliveryKey,
    attempt: u32,
) -> Result<(), AppendError> {
    let event = DeliveryEvent::AttemptBegun { key, attempt };
    parts.recorder.record_now(parts.owner, None, event).await.map(drop)
}

/// Records the end of an attempt.
pub(crate) async fn record_ended(
    parts: &NotifierParts,
    key: DeliveryKey,
    attempt: u32,
    end: DeliveryEnd,
    why: &str,
) -> Result<(), AppendError> {
    // Cut afterwards: the beginning of a secret is not recognised as one.
    let explanation = parts.redactor.redact(Content::new(why.to_owned())).text;
    let (explanation, _) = explanation.split_at(DELIVERY_EXPLANATION_BYTES_MAX);
    let event = DeliveryEvent::AttemptEnded(DeliveryAttemptEnded { key, attempt, end, explanation });
    parts.recorder.record_now(parts.owner, None, event).await.map(drop)
}
