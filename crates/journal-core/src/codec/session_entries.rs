//! Stored forms of entries about conversations.

use palyra_types::event::{Bookmark, JournalEvent, SessionEvent};
use palyra_types::recall::RecallSwitch;
use palyra_types::session::BranchPoint;
use palyra_types::{AgentId, Redacted, RunId, Seq, SessionId, TapeSeq};
use palyra_wire::store;
use prost::Message;

use super::compaction_entries;
use super::field::{EncodedParts, ReadResult, VERSION, facts_only, fixed, pair};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &SessionEvent) -> EncodedParts {
    match event {
        SessionEvent::Opened { session, agent, key, label, branched_from } => {
            encode_opened(*session, *agent, key.as_ref(), label.as_ref(), branched_from.as_ref())
        }
        SessionEvent::Renamed { session, label } => encode_renamed(*session, label.as_ref()),
        SessionEvent::Archived { session } => encode_archived(*session),
        SessionEvent::Restored { session } => encode_restored(*session),
        SessionEvent::Reset { session } => encode_reset(*session),
        SessionEvent::RecallSet { session, recall } => encode_recall(*session, *recall),
        SessionEvent::BookmarkPlaced(Bookmark { run, tape_seq, name }) => {
            let (version, run, tape_seq) = (VERSION, run.to_bytes().to_vec(), tape_seq.0);
            let payload = store::BookmarkPlacedPayload { name: name.expose().clone() };
            pair(&store::BookmarkPlacedFacts { version, run, tape_seq }, &payload)
        }
        SessionEvent::BookmarkRemoved(bookmark) => {
            facts_only(&store::BookmarkRemovedFacts { version: VERSION, bookmark: bookmark.0 })
        }
        SessionEvent::Compacted(made) => compaction_entries::encode_made(made),
        SessionEvent::CompactionReverted(made) => compaction_entries::encode_reverted(*made),
        SessionEvent::ResponseDeleted { run } => {
            facts_only(&store::ResponseDeletedFacts { version: VERSION, run: run.to_bytes().to_vec() })
        }
    }
}

fn encode_opened(
    session: SessionId,
    agent: AgentId,
    key: Option<&Redacted<String>>,
    label: Option<&Redacted<String>>,
    branched_from: Option<&BranchPoint>,
) -> EncodedParts {
    pair(
        &store::SessionOpenedFacts {
            version: VERSION,
            session: session.to_bytes().to_vec(),
            agent: agent.to_bytes().to_vec(),
            branched_from: branched_from.map(|at| store::BranchPoint {
                session: at.session.to_bytes().to_vec(),
                run: at.run.to_bytes().to_vec(),
                run_first_seq: at.run_first_seq.0,
                tape_seq: at.tape_seq.0,
                since: at.since.map(|seq| seq.0),
            }),
        },
        &store::SessionOpenedPayload {
            key: key.map(|key| key.expose().clone()),
            label: label.map(|label| label.expose().clone()),
        },
    )
}

pub(super) fn decode_opened(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SessionOpenedFacts::decode(facts)?;
    let payload = store::SessionOpenedPayload::decode(payload)?;
    Ok(JournalEvent::Session(SessionEvent::Opened {
        session: SessionId::from_bytes(fixed(&facts.session)?),
        agent: AgentId::from_bytes(fixed(&facts.agent)?),
        key: payload.key.map(Redacted::from_stored),
        label: payload.label.map(Redacted::from_stored),
        branched_from: facts.branched_from.as_ref().map(branch_from_stored).transpose()?,
    }))
}

fn branch_from_stored(at: &store::BranchPoint) -> ReadResult<BranchPoint> {
    Ok(BranchPoint {
        session: SessionId::from_bytes(fixed(&at.session)?),
        run: RunId::from_bytes(fixed(&at.run)?),
        run_first_seq: Seq(at.run_first_seq),
        tape_seq: TapeSeq(at.tape_seq),
        since: at.since.map(Seq),
    })
}

fn encode_renamed(session: SessionId, label: Option<&Redacted<String>>) -> EncodedParts {
    pair(
        &store::SessionRenamedFacts { version: VERSION, session: session.to_bytes().to_vec() },
        &store::SessionRenamedPayload { label: label.map(|label| label.expose().clone()) },
    )
}

pub(super) fn decode_renamed(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SessionRenamedFacts::decode(facts)?;
    let payload = store::SessionRenamedPayload::decode(payload)?;
    let session = SessionId::from_bytes(fixed(&facts.session)?);
    Ok(JournalEvent::Session(SessionEvent::Renamed {
        session,
        label: payload.label.map(Redacted::from_stored),
    }))
}

fn encode_archived(session: SessionId) -> EncodedParts {
    facts_only(&store::SessionArchivedFacts { version: VERSION, session: session.to_bytes().to_vec() })
}

pub(super) fn decode_archived(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SessionArchivedFacts::decode(facts)?;
    Ok(JournalEvent::Session(SessionEvent::Archived {
        session: SessionId::from_bytes(fixed(&facts.session)?),
    }))
}

fn encode_restored(session: SessionId) -> EncodedParts {
    facts_only(&store::SessionRestoredFacts { version: VERSION, session: session.to_bytes().to_vec() })
}

pub(super) fn decode_restored(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SessionRestoredFacts::decode(facts)?;
    Ok(JournalEvent::Session(SessionEvent::Restored {
        session: SessionId::from_bytes(fixed(&facts.session)?),
    }))
}

fn encode_reset(session: SessionId) -> EncodedParts {
    facts_only(&store::SessionResetFacts { version: VERSION, session: session.to_bytes().to_vec() })
}

pub(super) fn decode_reset(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SessionResetFacts::decode(facts)?;
    Ok(JournalEvent::Session(SessionEvent::Reset { session: SessionId::from_bytes(fixed(&facts.session)?) }))
}

fn encode_recall(session: SessionId, recall: Option<RecallSwitch>) -> EncodedParts {
    facts_only(&store::SessionRecallSetFacts {
        version: VERSION,
        session: session.to_bytes().to_vec(),
        recall: recall.map(StoredEnum::to_stored),
    })
}

pub(super) fn decode_recall(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SessionRecallSetFacts::decode(facts)?;
    let session = SessionId::from_bytes(fixed(&facts.session)?);
    let recall = facts.recall.map(StoredEnum::from_stored).transpose()?;
    Ok(SessionEvent::RecallSet { session, recall }.into())
}

pub(super) fn decode_bookmark_placed(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let store::BookmarkPlacedFacts { run, tape_seq, .. } = Message::decode(facts)?;
    let name = Redacted::from_stored(store::BookmarkPlacedPayload::decode(payload)?.name);
    let bookmark = Bookmark { run: RunId::from_bytes(fixed(&run)?), tape_seq: TapeSeq(tape_seq), name };
    Ok(SessionEvent::BookmarkPlaced(bookmark).into())
}

pub(super) fn decode_bookmark_removed(facts: &[u8]) -> ReadResult<JournalEvent> {
    let removed = store::BookmarkRemovedFacts::decode(facts)?.bookmark;
    Ok(SessionEvent::BookmarkRemoved(Seq(removed)).into())
}

pub(super) fn decode_response_deleted(facts: &[u8]) -> ReadResult<JournalEvent> {
    let run = store::ResponseDeletedFacts::decode(facts)?.run;
    Ok(SessionEvent::ResponseDeleted { run: RunId::from_bytes(fixed(&run)?) }.into())
}
