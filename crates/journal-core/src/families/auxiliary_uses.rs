//! Usage of models beside runs: one row for each request.

use palyra_ports::read_usage::UsageTotals;
use palyra_types::budget::{AuxiliaryUse, BudgetEvent};
use palyra_types::event::JournalEvent;
use palyra_types::session::SessionRef;
use palyra_types::{AgentId, PrincipalId, Redacted, Seq, SessionId, UtcDay};

use super::usage_share::{UsageShare, UsageShareFacts};
use crate::family::{
    ContentCell, ContentColumn, ContentSource, Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry,
    IndexKey, KeyRange, RowStore, RowsPerKey, StoreFault, StoredRow, visit_rows,
};

/// The family.
pub struct AuxiliaryUseFamily;

/// A request beside a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuxiliaryUseRow {
    /// The session it was made for, with the person; without a session its id is the one of no session.
    pub session: SessionRef,
    /// The agent of the session; the id of no agent without one.
    pub agent: AgentId,
    /// The day on which its end was recorded, and its tokens.
    pub share: UsageShare,
    /// The model, as provider/model; empty once erased.
    pub model: Redacted<String>,
    /// The entry that the model comes from.
    pub source: Seq,
}

#[derive(Clone, PartialEq, prost::Message)]
struct AuxiliaryUseFacts {
    #[prost(bytes = "vec", tag = "1")]
    principal: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    session: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    agent: Vec<u8>,
    #[prost(message, optional, tag = "4")]
    share: Option<UsageShareFacts>,
}

const BY_DAY: usize = 0;

fn day_key(day: UtcDay) -> IndexKey {
    IndexKey::new().signed(day.0.into())
}

impl Family for AuxiliaryUseFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "auxiliary_use",
        version: 1,
        indexes: &[FamilyIndex { name: "by_day", rows_per_key: RowsPerKey::Many }],
        content: &[ContentColumn { name: "model", source: ContentSource::Own }],
    };

    type Row = AuxiliaryUseRow;

    fn facts(row: &AuxiliaryUseRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&AuxiliaryUseFacts {
            principal: row.session.principal.to_bytes().to_vec(),
            session: row.session.id.to_bytes().to_vec(),
            agent: row.agent.to_bytes().to_vec(),
            share: Some(row.share.into()),
        })
    }

    fn content(row: &AuxiliaryUseRow) -> Vec<ContentCell> {
        vec![ContentCell::new(row.model.expose().as_bytes().to_vec(), row.source)]
    }

    fn load(stored: &StoredRow) -> Option<AuxiliaryUseRow> {
        let facts = <AuxiliaryUseFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let [model] = stored.content.as_slice() else { return None };
        Some(AuxiliaryUseRow {
            session: SessionRef {
                principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
                id: SessionId::from_bytes(facts.session.try_into().ok()?),
            },
            agent: AgentId::from_bytes(facts.agent.try_into().ok()?),
            share: facts.share?.into(),
            model: Redacted::from_stored(String::from_utf8(model.to_bytes().to_vec()).ok()?),
            source: model.source,
        })
    }

    fn index(row: &AuxiliaryUseRow, _index: usize) -> Option<IndexKey> {
        Some(day_key(row.share.day))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Budget(BudgetEvent::AuxiliaryUsed(used)) = entry.event else { return Ok(()) };
        let AuxiliaryUse { purpose: _, session, agent, usage, model } = used;
        let mut totals = UsageTotals { requests: 1, ..UsageTotals::default() };
        totals.add_tokens(*usage);
        let session = SessionRef { principal: entry.principal, id: session.unwrap_or(SessionId::NIL) };
        let row = AuxiliaryUseRow {
            session,
            agent: agent.unwrap_or(AgentId::NIL),
            share: UsageShare { day: entry.time.into(), place: 0, totals },
            model: model.clone().map(|model| model.map(|model| model.to_string()).unwrap_or_default()),
            source: entry.seq,
        };
        rows.insert(entry, row)
    }
}

/// Visits the requests of a day and those after it.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn visit_from(
    rows: &mut dyn RowStore,
    day: UtcDay,
    visit: impl FnMut(AuxiliaryUseRow),
) -> Result<(), StoreFault> {
    let range = KeyRange { from: day_key(day), ..KeyRange::of_prefix(IndexKey::new()) };
    visit_rows::<AuxiliaryUseFamily>(rows, BY_DAY, range, visit)
}
