//! Stored forms of entries about tasks of the background queue.

use palyra_types::event::JournalEvent;
use palyra_types::queued_task::{
    AttemptEnd, TaskAttemptEnded, TaskEnqueued, TaskEvent, TaskFollowUp, TaskKey, TaskKind,
};
use palyra_types::{LeaseFence, QueuedTaskId, Redacted, Timestamp};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, UnreadableEvent, VERSION, facts_only, fixed, pair};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &TaskEvent) -> EncodedParts {
    match event {
        TaskEvent::Enqueued(enqueued) => encode_enqueued(enqueued),
        TaskEvent::Leased { task, fence, until } => facts_only(&store::TaskLeasedFacts {
            version: VERSION,
            task: task.to_bytes().to_vec(),
            fence: fence.0,
            until: until.0,
        }),
        TaskEvent::Progressed { task, fence, marker, until } => facts_only(&store::TaskProgressedFacts {
            version: VERSION,
            task: task.to_bytes().to_vec(),
            fence: fence.0,
            marker: *marker,
            until: until.0,
        }),
        TaskEvent::AttemptEnded(ended) => encode_ended(ended),
        TaskEvent::CancelRequested { task }
        | TaskEvent::RunNowRequested { task }
        | TaskEvent::RetryRequested { task }
        | TaskEvent::Dropped { task } => {
            facts_only(&store::TaskNamedFacts { version: VERSION, task: task.to_bytes().to_vec() })
        }
    }
}

fn encode_enqueued(enqueued: &TaskEnqueued) -> EncodedParts {
    let TaskEnqueued { task, kind, key, due, payload_bytes, payload } = enqueued;
    pair(
        &store::TaskEnqueuedFacts {
            version: VERSION,
            task: task.to_bytes().to_vec(),
            kind: kind.to_stored(),
            key: key.map_or_else(Vec::new, |key| key.0.to_vec()),
            due: due.0,
            payload_bytes: *payload_bytes,
        },
        &store::TaskEnqueuedPayload { payload: payload.expose().clone() },
    )
}

fn encode_ended(ended: &TaskAttemptEnded) -> EncodedParts {
    let TaskAttemptEnded { task, fence, end, next, explanation } = ended;
    let (next, due) = match next {
        TaskFollowUp::Done => (store::TaskFollowUp::Done, 0),
        TaskFollowUp::Again { due } => (store::TaskFollowUp::Again, due.0),
        TaskFollowUp::DeadLetter => (store::TaskFollowUp::DeadLetter, 0),
        TaskFollowUp::OutcomeUnknown => (store::TaskFollowUp::OutcomeUnknown, 0),
        TaskFollowUp::Cancelled => (store::TaskFollowUp::Cancelled, 0),
    };
    pair(
        &store::TaskAttemptEndedFacts {
            version: VERSION,
            task: task.to_bytes().to_vec(),
            fence: fence.0,
            end: end.to_stored(),
            next: next.into(),
            due,
        },
        &store::TaskAttemptEndedPayload { explanation: explanation.expose().clone() },
    )
}

pub(super) fn decode_enqueued(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::TaskEnqueuedFacts::decode(facts)?;
    let payload = store::TaskEnqueuedPayload::decode(payload)?;
    let key = match facts.key.as_slice() {
        [] => None,
        key => Some(TaskKey(fixed(key)?)),
    };
    let enqueued = TaskEnqueued {
        task: id(&facts.task)?,
        kind: StoredEnum::from_stored(facts.kind)?,
        key,
        due: Timestamp(facts.due),
        payload_bytes: facts.payload_bytes,
        payload: Redacted::from_stored(payload.payload),
    };
    Ok(TaskEvent::Enqueued(enqueued).into())
}

pub(super) fn decode_leased(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::TaskLeasedFacts::decode(facts)?;
    let task = id(&facts.task)?;
    Ok(TaskEvent::Leased { task, fence: LeaseFence(facts.fence), until: Timestamp(facts.until) }.into())
}

pub(super) fn decode_progressed(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::TaskProgressedFacts::decode(facts)?;
    let task = id(&facts.task)?;
    let fence = LeaseFence(facts.fence);
    let until = Timestamp(facts.until);
    Ok(TaskEvent::Progressed { task, fence, marker: facts.marker, until }.into())
}

pub(super) fn decode_attempt_ended(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::TaskAttemptEndedFacts::decode(facts)?;
    let payload = store::TaskAttemptEndedPayload::decode(payload)?;
    let next = match store::TaskFollowUp::try_from(facts.next).map_err(|_| UnreadableEvent::Newer)? {
        store::TaskFollowUp::Unspecified => return Err(UnreadableEvent::Malformed),
        store::TaskFollowUp::Done => TaskFollowUp::Done,
        store::TaskFollowUp::Again => TaskFollowUp::Again { due: Timestamp(facts.due) },
        store::TaskFollowUp::DeadLetter => TaskFollowUp::DeadLetter,
        store::TaskFollowUp::OutcomeUnknown => TaskFollowUp::OutcomeUnknown,
        store::TaskFollowUp::Cancelled => TaskFollowUp::Cancelled,
    };
    let ended = TaskAttemptEnded {
        task: id(&facts.task)?,
        fence: LeaseFence(facts.fence),
        end: StoredEnum::from_stored(facts.end)?,
        next,
        explanation: Redacted::from_stored(payload.explanation),
    };
    Ok(TaskEvent::AttemptEnded(ended).into())
}

pub(super) fn decode_cancel(facts: &[u8]) -> ReadResult<JournalEvent> {
    Ok(TaskEvent::CancelRequested { task: named(facts)? }.into())
}

pub(super) fn decode_run_now(facts: &[u8]) -> ReadResult<JournalEvent> {
    Ok(TaskEvent::RunNowRequested { task: named(facts)? }.into())
}

pub(super) fn decode_retry(facts: &[u8]) -> ReadResult<JournalEvent> {
    Ok(TaskEvent::RetryRequested { task: named(facts)? }.into())
}

pub(super) fn decode_dropped(facts: &[u8]) -> ReadResult<JournalEvent> {
    Ok(TaskEvent::Dropped { task: named(facts)? }.into())
}

fn named(facts: &[u8]) -> ReadResult<QueuedTaskId> {
    id(&store::TaskNamedFacts::decode(facts)?.task)
}

fn id(bytes: &[u8]) -> ReadResult<QueuedTaskId> {
    Ok(QueuedTaskId::from_bytes(fixed(bytes)?))
}

/// Returns the number of a kind in keys and rows.
pub(crate) fn kind_number(kind: TaskKind) -> u8 {
    u8::try_from(kind.to_stored()).unwrap_or(0)
}

/// Returns the kind of a number.
pub(crate) fn kind_from_number(number: u32) -> Option<TaskKind> {
    TaskKind::from_stored(i32::try_from(number).ok()?).ok()
}

/// Returns the number of an attempt's end in rows.
pub(crate) fn attempt_end_number(end: AttemptEnd) -> u8 {
    u8::try_from(end.to_stored()).unwrap_or(0)
}

/// Returns the attempt's end of a number.
pub(crate) fn attempt_end_from_number(number: u32) -> Option<AttemptEnd> {
    AttemptEnd::from_stored(i32::try_from(number).ok()?).ok()
}
