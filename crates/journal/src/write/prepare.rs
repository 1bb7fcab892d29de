//! Checks and encodes an append in the caller's own time, so that the writer only chains and inserts.

use palyra_journal_core::codec;
use palyra_ledger::FACTS_BYTES_MAX;
use palyra_ledger::envelope::RedactionMark;
use palyra_ports::append_tape::{APPEND_BYTES_MAX, APPEND_ENTRIES_MAX, EntryActor};
use palyra_ports::{AppendClass, AppendError, Entropy, Guard, JournalAppendRequest, NewEntry, StaticText};
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::{PrincipalId, RunId, SessionId, TapeSeq, Timestamp};

use crate::blob;
use crate::entry::PreparedEntry;

/// An append that keeps all rules that can be checked without looking at the log.
#[derive(Debug)]
pub(crate) struct PreparedAppend {
    pub(crate) guards: Vec<Guard>,
    pub(crate) entries: Vec<PreparedEntry>,
    pub(crate) statics: Vec<StaticText>,
    pub(crate) class: AppendClass,
    pub(crate) payload_bytes: usize,
}

/// Checks and encodes an append.
pub(crate) fn prepare(
    request: JournalAppendRequest,
    entropy: &(dyn Entropy + 'static),
) -> Result<PreparedAppend, AppendError> {
    if request.entries.is_empty() {
        return Err(invalid("it has no entries"));
    }
    if request.entries.len() > APPEND_ENTRIES_MAX {
        return Err(invalid("it has too many entries"));
    }
    let entries = request.entries.into_iter().map(|entry| prepare_entry(entry, entropy));
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    for EntryActor { entry, actor } in request.actors {
        let entry = entries.get_mut(entry).ok_or_else(|| invalid("an actor names no entry of it"))?;
        codec::name_actor(&mut entry.facts, actor);
    }
    if entries.iter().any(|entry| entry.facts.len() > FACTS_BYTES_MAX) {
        return Err(invalid("its facts are too large"));
    }
    for beside in request.blobs {
        let entry = entries.get_mut(beside.entry).ok_or_else(|| invalid("a blob names no entry of it"))?;
        entry.blobs = beside.blobs;
    }
    entries.iter_mut().for_each(|entry| entry.redaction_ruleset = request.redaction.ruleset);
    for changed in &request.redaction.entries {
        let entry = entries.get_mut(*changed).ok_or_else(|| invalid("a redaction names no entry of it"))?;
        entry.redaction = RedactionMark::Redacted;
    }
    if !entries.iter().all(|entry| blob::are_named(&entry.event, &entry.blobs)) {
        return Err(invalid("a blob is not the one that its attachment names"));
    }
    let payload_bytes = entries.iter().map(PreparedEntry::payload_bytes).sum();
    if payload_bytes > APPEND_BYTES_MAX {
        return Err(invalid("its content is too large"));
    }
    Ok(PreparedAppend {
        guards: request.guards,
        entries,
        statics: request.statics,
        class: request.class,
        payload_bytes,
    })
}

/// Makes an entry on behalf of the daemon itself.
pub(crate) fn own_entry(time: Timestamp, event: JournalEvent) -> NewEntry {
    NewEntry { time, principal: PrincipalId::NIL, session: None, run: None, event }
}

/// Encodes entries of the journal's own, which have no payload.
pub(crate) fn own_append(entries: impl IntoIterator<Item = NewEntry>) -> PreparedAppend {
    let entries = entries
        .into_iter()
        .map(|entry| PreparedEntry::new(entry, || [0; 32]).expect("the journal knows its own kinds"));
    PreparedAppend {
        guards: Vec::new(),
        entries: entries.collect(),
        statics: Vec::new(),
        class: AppendClass::Ending,
        payload_bytes: 0,
    }
}

fn prepare_entry(entry: NewEntry, entropy: &(dyn Entropy + 'static)) -> Result<PreparedEntry, AppendError> {
    check_place(&entry)?;
    let prepared = PreparedEntry::new(entry, || entropy.bytes32())
        .map_err(|_| invalid("an unknown kind cannot be written"))?;
    Ok(prepared)
}

fn check_place(entry: &NewEntry) -> Result<(), AppendError> {
    if entry.session == Some(SessionId::NIL) {
        return Err(invalid("a session's id is nil"));
    }
    match (&entry.event, entry.run) {
        (JournalEvent::Log(_), _) => Err(invalid("only the journal itself writes such an entry")),
        (JournalEvent::Tape(_), None) => Err(invalid("a tape entry names no run")),
        (JournalEvent::Tape(event), Some((run, tape_seq))) => {
            check_tape_place(event, run, tape_seq, entry.session)
        }
        (_, Some(_)) => Err(invalid("an entry outside tapes names a run")),
        (_, None) => Ok(()),
    }
}

fn check_tape_place(
    event: &TapeEvent,
    run: RunId,
    tape_seq: TapeSeq,
    session: Option<SessionId>,
) -> Result<(), AppendError> {
    if run == RunId::NIL || session.is_none() {
        return Err(invalid("a tape entry names no session or a nil run"));
    }
    if matches!(event, TapeEvent::Run(RunEvent::Started(_))) != (tape_seq == TapeSeq(1)) {
        return Err(invalid("a tape begins with its start and has no other"));
    }
    Ok(())
}

pub(super) fn invalid(what: &'static str) -> AppendError {
    AppendError::Invalid { what }
}
