//! Entries of the journal without their content, and the names of their kinds.

use palyra_types::PrincipalId;
use palyra_types::event::kind::EventKind;
use palyra_types::event::{AccessEvent, ActRefused, JournalEvent, LogEvent, TapeEvent};
use palyra_types::proof::ErasureReason;
use palyra_types::tape::{ContentState, JournalEventRecord};
use palyra_wire::v1;

use super::plain::{acted_by, hex, timestamp};

/// Returns an entry as a caller sees it: its envelope and what an erasure says of itself, never its content.
pub(crate) fn journal_entry(record: &JournalEventRecord, caller: PrincipalId) -> v1::JournalEntry {
    let (erased_ranges, reason, authoriser) = match &record.event {
        JournalEvent::Log(LogEvent::Erased { authoriser, reason, ranges }) => {
            let ranges = ranges.iter().map(|range| v1::SeqRange { first: range.first.0, last: range.last.0 });
            (ranges.collect(), erasure_reason(*reason), Some(*authoriser))
        }
        _ => (Vec::new(), v1::ErasureReason::Unspecified, None),
    };
    let refused = refused(&record.event);
    let principal = (record.principal != PrincipalId::NIL).then(|| record.principal.to_string());
    v1::JournalEntry {
        seq: record.seq.0,
        epoch: record.epoch.0,
        time: timestamp(record.time),
        kind: journal_kind(&record.event),
        principal_id: principal.unwrap_or_default(),
        session_id: record.session.map(|session| session.to_string()).unwrap_or_default(),
        run_id: record.run.map(|(run, _)| run.to_string()).unwrap_or_default(),
        tape_seq: record.run.map(|(_, tape_seq)| tape_seq.0).unwrap_or_default(),
        leaf: hex(&record.leaf),
        erased: record.content == ContentState::Erased,
        erased_ranges,
        erasure_reason: reason.into(),
        erased_by_you: authoriser == Some(caller),
        acted_by: record.actor.map(acted_by),
        refused_operation: refused.map(|act| act.operation.expose().clone()).unwrap_or_default(),
        refused_code: refused.map(|act| act.code.to_string()).unwrap_or_default(),
        refused_unrecorded: refused.map_or(0, |act| act.unrecorded),
    }
}

fn refused(event: &JournalEvent) -> Option<&ActRefused> {
    if let JournalEvent::Access(AccessEvent::ActRefused(refused)) = event { Some(refused) } else { None }
}

fn erasure_reason(reason: ErasureReason) -> v1::ErasureReason {
    match reason {
        ErasureReason::Request => v1::ErasureReason::Request,
        ErasureReason::Retention => v1::ErasureReason::Retention,
        ErasureReason::LeakedSecret => v1::ErasureReason::LeakedSecret,
    }
}

/// Returns the name of what an entry is.
pub(crate) fn journal_kind(event: &JournalEvent) -> String {
    match event {
        JournalEvent::Unknown { kind } | JournalEvent::Tape(TapeEvent::Unknown { kind }) => {
            format!("unknown_{kind}")
        }
        known => known.kind().map(EventKind::name).unwrap_or_default().to_owned(),
    }
}
