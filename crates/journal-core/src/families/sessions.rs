//! Sessions: conversations with their agent, names and latest run. Named by principal and id, and by a key where they have one.

mod queries;

use palyra_types::event::{JournalEvent, ModelEvent, RunEvent, SessionEvent, TapeEvent, ToolEvent};
use palyra_types::recall::RecallSwitch;
use palyra_types::session::{BranchPoint, OrchestratorSessionRecord, SessionRef};
use palyra_types::{AgentId, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp};

use super::runs::{stored_surface, surface_from_stored};
use crate::family::{
    ContentCell, ContentColumn, ContentSource, Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry,
    IndexKey, RowsPerKey, StoreFault, StoredRow,
};
pub use queries::{ids, is_absent, record, record_by_key, records, visit};

/// The family.
pub struct SessionFamily;

/// A session.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// What is known of it.
    pub record: OrchestratorSessionRecord,
    /// The entry that opened it.
    pub opened: Seq,
    /// The entry that gave it its label, or took it.
    pub labelled: Seq,
}

#[derive(Clone, PartialEq, prost::Message)]
struct BranchFacts {
    #[prost(bytes = "vec", tag = "1")]
    session: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    run: Vec<u8>,
    #[prost(uint64, tag = "3")]
    run_first_seq: u64,
    #[prost(uint32, tag = "4")]
    tape_seq: u32,
    #[prost(uint64, optional, tag = "5")]
    since: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct SessionFacts {
    #[prost(bytes = "vec", tag = "1")]
    principal: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    session: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    agent: Vec<u8>,
    #[prost(sint64, tag = "4")]
    created: i64,
    #[prost(sint64, tag = "5")]
    updated: i64,
    #[prost(uint64, tag = "6")]
    runs: u64,
    #[prost(bytes = "vec", optional, tag = "7")]
    last_run: Option<Vec<u8>>,
    #[prost(uint64, optional, tag = "8")]
    reset_at: Option<u64>,
    #[prost(sint64, optional, tag = "9")]
    archived: Option<i64>,
    #[prost(message, optional, tag = "10")]
    branched_from: Option<BranchFacts>,
    /// The place of the surface in the list of all, from 1.
    #[prost(uint32, optional, tag = "11")]
    surface: Option<u32>,
    /// Whether items of memory are recalled; absent where the session does not say so.
    #[prost(bool, optional, tag = "12")]
    recall: Option<bool>,
    #[prost(uint64, tag = "13")]
    runs_before_reset: u64,
}

const BY_SESSION: usize = 0;
const BY_KEY: usize = 1;

fn of_principal(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

fn key(session: SessionRef) -> IndexKey {
    of_principal(session.principal).bytes(&session.id.to_bytes())
}

fn named(principal: PrincipalId, text: &str) -> IndexKey {
    of_principal(principal).text(text)
}

fn cell(text: Option<&Redacted<String>>, source: Seq) -> ContentCell {
    // An empty text is not a missing one: both are names.
    ContentCell { bytes: text.map(|text| text.expose().as_bytes().to_vec()), source }
}

fn text_of(cell: &ContentCell) -> Option<Option<Redacted<String>>> {
    match &cell.bytes {
        Some(bytes) => Some(Some(Redacted::from_stored(String::from_utf8(bytes.clone()).ok()?))),
        None => Some(None),
    }
}

fn branch_facts(branch: &BranchPoint) -> BranchFacts {
    BranchFacts {
        session: branch.session.to_bytes().to_vec(),
        run: branch.run.to_bytes().to_vec(),
        run_first_seq: branch.run_first_seq.0,
        tape_seq: branch.tape_seq.0,
        since: branch.since.map(|seq| seq.0),
    }
}

fn branch_of(facts: BranchFacts) -> Option<BranchPoint> {
    Some(BranchPoint {
        session: SessionId::from_bytes(facts.session.try_into().ok()?),
        run: RunId::from_bytes(facts.run.try_into().ok()?),
        run_first_seq: Seq(facts.run_first_seq),
        tape_seq: TapeSeq(facts.tape_seq),
        since: facts.since.map(Seq),
    })
}

impl Family for SessionFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "session",
        version: 4,
        indexes: &[
            FamilyIndex { name: "by_session", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "by_key", rows_per_key: RowsPerKey::One },
        ],
        content: &[
            ContentColumn { name: "key", source: ContentSource::Birth },
            ContentColumn { name: "label", source: ContentSource::Own },
        ],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = SessionRow;

    fn facts(row: &SessionRow) -> Vec<u8> {
        let record = &row.record;
        prost::Message::encode_to_vec(&SessionFacts {
            principal: record.session.principal.to_bytes().to_vec(),
            session: record.session.id.to_bytes().to_vec(),
            agent: record.agent.to_bytes().to_vec(),
            created: record.created.0,
            updated: record.updated.0,
            runs: record.runs,
            last_run: record.last_run.map(|run| run.to_bytes().to_vec()),
            reset_at: record.reset_at.map(|seq| seq.0),
            runs_before_reset: record.runs_before_reset,
            archived: record.archived.map(|time| time.0),
            branched_from: record.branched_from.as_ref().map(branch_facts),
            surface: record.surface.map(|surface| stored_surface(Some(surface))),
            recall: record.recall.map(|recall| recall == RecallSwitch::On),
        })
    }

    fn content(row: &SessionRow) -> Vec<ContentCell> {
        let record = &row.record;
        vec![cell(record.key.as_ref(), row.opened), cell(record.label.as_ref(), row.labelled)]
    }

    fn load(stored: &StoredRow) -> Option<SessionRow> {
        let facts = <SessionFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let [key, label] = stored.content.as_slice() else { return None };
        let run = |bytes: Vec<u8>| Some(RunId::from_bytes(bytes.try_into().ok()?));
        let record = OrchestratorSessionRecord {
            session: SessionRef {
                principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
                id: SessionId::from_bytes(facts.session.try_into().ok()?),
            },
            agent: AgentId::from_bytes(facts.agent.try_into().ok()?),
            key: text_of(key)?,
            label: text_of(label)?,
            created: Timestamp(facts.created),
            updated: Timestamp(facts.updated),
            runs: facts.runs,
            last_run: match facts.last_run {
                Some(bytes) => Some(run(bytes)?),
                None => None,
            },
            reset_at: facts.reset_at.map(Seq),
            runs_before_reset: facts.runs_before_reset,
            branched_from: match facts.branched_from {
                Some(facts) => Some(branch_of(facts)?),
                None => None,
            },
            archived: facts.archived.map(Timestamp),
            surface: match facts.surface {
                Some(number) => Some(surface_from_stored(number)?),
                None => None,
            },
            recall: facts.recall.map(RecallSwitch::from),
        };
        Some(SessionRow { record, opened: stored.id.into(), labelled: label.source })
    }

    fn index(row: &SessionRow, index: usize) -> Option<IndexKey> {
        let session = row.record.session;
        match index {
            BY_SESSION => Some(key(session)),
            _ => row.record.key.as_ref().map(|text| named(session.principal, text.expose())),
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Tape(event) => touched(rows, entry, event),
            JournalEvent::Session(event @ SessionEvent::Opened { .. }) => opened(rows, entry, event),
            JournalEvent::Session(event) => changed(rows, entry, event),
            _ => Ok(()),
        }
    }
}

fn opened(
    rows: &mut FamilyCache<'_, SessionFamily>,
    entry: &FoldedEntry<'_>,
    event: &SessionEvent,
) -> Result<(), StoreFault> {
    let SessionEvent::Opened { session, agent, key: name, label, branched_from } = event else {
        return Ok(());
    };
    let session = SessionRef { principal: entry.principal, id: *session };
    if rows.find(BY_SESSION, &key(session))?.is_some() {
        return Ok(());
    }
    let record = OrchestratorSessionRecord {
        session,
        agent: *agent,
        key: name.clone(),
        label: label.clone(),
        created: entry.time,
        updated: entry.time,
        runs: 0,
        last_run: None,
        surface: None,
        reset_at: None,
        runs_before_reset: 0,
        branched_from: *branched_from,
        archived: None,
        recall: None,
    };
    rows.insert(entry, SessionRow { record, opened: entry.seq, labelled: entry.seq })
}

/// Folds what changes a session; other events of sessions leave its row as it is.
fn changed(
    rows: &mut FamilyCache<'_, SessionFamily>,
    entry: &FoldedEntry<'_>,
    event: &SessionEvent,
) -> Result<(), StoreFault> {
    match event {
        SessionEvent::Renamed { session, label } => change(rows, entry, *session, |row| {
            row.record.label.clone_from(label);
            row.labelled = entry.seq;
        }),
        SessionEvent::Archived { session } => {
            change(rows, entry, *session, |row| row.record.archived = Some(entry.time))
        }
        SessionEvent::Restored { session } => change(rows, entry, *session, |row| row.record.archived = None),
        SessionEvent::RecallSet { session, recall } => {
            change(rows, entry, *session, |row| row.record.recall = *recall)
        }
        SessionEvent::Reset { session } => change(rows, entry, *session, |row| {
            row.record.reset_at = Some(entry.seq);
            row.record.runs_before_reset = row.record.runs;
        }),
        _ => Ok(()),
    }
}

fn change(
    rows: &mut FamilyCache<'_, SessionFamily>,
    entry: &FoldedEntry<'_>,
    session: SessionId,
    change: impl FnOnce(&mut SessionRow),
) -> Result<(), StoreFault> {
    let session = SessionRef { principal: entry.principal, id: session };
    rows.change_by(BY_SESSION, &key(session), |row| {
        change(row);
        row.record.updated = entry.time;
    })
}

/// Folds a tape entry of one of its runs. The words of a model that is still speaking leave it as it is, as
/// does what a tool prints while it runs.
fn touched(
    rows: &mut FamilyCache<'_, SessionFamily>,
    entry: &FoldedEntry<'_>,
    event: &TapeEvent,
) -> Result<(), StoreFault> {
    let (Some((run, _)), Some(session)) = (entry.run, entry.session) else { return Ok(()) };
    let is_partial = matches!(
        event,
        TapeEvent::Model(ModelEvent::Text { .. } | ModelEvent::Reasoning { .. })
            | TapeEvent::Tool(ToolEvent::Output(_))
    );
    if is_partial {
        return Ok(());
    }
    change(rows, entry, session, |row| {
        if let TapeEvent::Run(RunEvent::Started(started)) = event {
            row.record.runs += 1;
            row.record.last_run = Some(run);
            row.record.surface.get_or_insert(started.surface);
        }
    })
}
