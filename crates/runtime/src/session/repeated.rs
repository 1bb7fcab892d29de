//! What became of an input that came before, found by its idempotency key.

use palyra_admin::Caller;
use palyra_journal_core::families::input_keys;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::run::{IdempotencyDigest, InputDelivery, RunRecord, UserInput};
use palyra_types::tape::{ContentState, OrchestratorTapeRecord};
use palyra_types::{RunId, TapeSeq};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::prepared::PreparedInput;
use crate::session::request::{AdmissionKind, SubmitReceipt};

/// Returns the run that took the same input before: it began with it, or was given it later.
///
/// # Errors
/// [`RequestError::IdempotencyConflict`] when the key was used for another input.
pub(super) async fn find_repeated(
    engine: &Engine,
    caller: Caller,
    prepared: &PreparedInput,
) -> Result<Option<SubmitReceipt>, RequestError> {
    let Some(digest) = prepared.idempotency else { return Ok(None) };
    let families = &engine.ports.families;
    let Some(run) =
        families.query(move |rows, _| input_keys::run_of_key(rows, caller.actor.principal, digest)).await?
    else {
        return Ok(None);
    };
    let record = engine.ports.run(run).await?.ok_or(RequestError::RunNotFound)?;
    let Some(taken) = find_taken(engine, run, digest).await? else {
        // Its entry was erased to the last fact, or is not readable: the run is all that is known.
        return Ok(Some(known(&record, AdmissionKind::Attached, record.delivery)));
    };
    if taken.content == ContentState::Present && taken.input != prepared.input {
        return Err(RequestError::IdempotencyConflict);
    }
    Ok(Some(known(&record, taken.admission, taken.delivery)))
}

fn known(record: &RunRecord, admission: AdmissionKind, delivered: InputDelivery) -> SubmitReceipt {
    SubmitReceipt {
        run: record.run,
        session: record.session,
        session_created: false,
        admission,
        delivered,
        model: None,
        begun_upto: None,
        notes: Vec::new(),
    }
}

/// An input on a tape.
struct RecordedInput {
    input: UserInput,
    content: ContentState,
    admission: AdmissionKind,
    delivery: InputDelivery,
}

async fn find_taken(
    engine: &Engine,
    run: RunId,
    digest: IdempotencyDigest,
) -> Result<Option<RecordedInput>, RequestError> {
    let mut last = TapeSeq::default();
    loop {
        let page = engine.ports.tapes.tape(run, last, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
        if let Some(taken) = page.entries.iter().find_map(|entry| taken_by(entry, digest)) {
            return Ok(Some(taken));
        }
        match page.entries.last() {
            Some(entry) if page.more == MoreEntries::Some => last = entry.tape_seq,
            Some(_) | None => return Ok(None),
        }
    }
}

fn taken_by(entry: &OrchestratorTapeRecord, digest: IdempotencyDigest) -> Option<RecordedInput> {
    let content = entry.content;
    if let TapeEvent::Run(RunEvent::Started(started)) = &entry.event
        && started.idempotency == Some(digest)
    {
        let (input, delivery) = (started.input.clone(), started.delivery);
        return Some(RecordedInput { input, content, admission: AdmissionKind::Attached, delivery });
    }
    if let TapeEvent::Run(RunEvent::InputReceived { input, delivery, idempotency }) = &entry.event
        && *idempotency == Some(digest)
    {
        let (input, delivery) = (input.clone(), *delivery);
        return Some(RecordedInput { input, content, admission: AdmissionKind::Joined, delivery });
    }
    None
}
