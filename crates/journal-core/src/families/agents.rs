//! Agents: the latest profile of each, and whether it is archived.

use palyra_types::agent::{AgentProfile, AgentRecord};
use palyra_types::event::{AgentEvent, JournalEvent};
use palyra_types::recall::RecallSwitch;
use palyra_types::{AgentId, Seq, Timestamp};

use crate::codec::{agent_profile_from_bytes, agent_profile_to_bytes};
use crate::family::{
    ContentCell, ContentColumn, ContentSource, Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry,
    IndexKey, RowStore, RowsPerKey, StoreFault, StoredRow, all_rows,
};

/// The family.
pub struct AgentFamily;

/// An agent and the entry that its profile comes from.
#[derive(Debug, Clone)]
pub struct AgentRow {
    /// What is known of it.
    pub record: AgentRecord,
    /// The entry that saved the profile.
    pub saved: Seq,
}

#[derive(Clone, PartialEq, prost::Message)]
struct AgentFacts {
    #[prost(bytes = "vec", tag = "1")]
    agent: Vec<u8>,
    #[prost(sint64, optional, tag = "2")]
    archived: Option<i64>,
    /// Whether its runs recall items of memory, if it says so; stays when the profile is erased.
    #[prost(bool, optional, tag = "3")]
    recall: Option<bool>,
}

const BY_AGENT: usize = 0;

fn key(agent: AgentId) -> IndexKey {
    IndexKey::new().bytes(&agent.to_bytes())
}

impl Family for AgentFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "agent",
        version: 2,
        indexes: &[FamilyIndex { name: "by_agent", rows_per_key: RowsPerKey::One }],
        content: &[ContentColumn { name: "profile", source: ContentSource::Own }],
    };

    type Row = AgentRow;

    fn facts(row: &AgentRow) -> Vec<u8> {
        let (agent, archived) = (row.record.id.to_bytes().to_vec(), row.record.archived.map(|time| time.0));
        let recall = row.record.profile.recall.map(|recall| recall == RecallSwitch::On);
        prost::Message::encode_to_vec(&AgentFacts { agent, archived, recall })
    }

    fn content(row: &AgentRow) -> Vec<ContentCell> {
        vec![ContentCell::new(agent_profile_to_bytes(&row.record.profile), row.saved)]
    }

    fn load(stored: &StoredRow) -> Option<AgentRow> {
        let facts = <AgentFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let [profile] = stored.content.as_slice() else { return None };
        let recall = facts.recall.map(RecallSwitch::from);
        let record = AgentRecord {
            id: AgentId::from_bytes(facts.agent.try_into().ok()?),
            profile: AgentProfile { recall, ..agent_profile_from_bytes(profile.to_bytes()).ok()? },
            archived: facts.archived.map(Timestamp),
        };
        Some(AgentRow { record, saved: profile.source })
    }

    fn index(row: &AgentRow, _index: usize) -> Option<IndexKey> {
        Some(key(row.record.id))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Agent(AgentEvent::Saved { agent, profile }) => save(rows, entry, *agent, profile),
            JournalEvent::Agent(AgentEvent::Archived { agent }) => {
                rows.change_by(BY_AGENT, &key(*agent), |row| row.record.archived = Some(entry.time))
            }
            _ => Ok(()),
        }
    }
}

/// Folds a saved profile; whether the agent is archived stays.
fn save(
    rows: &mut FamilyCache<'_, AgentFamily>,
    entry: &FoldedEntry<'_>,
    agent: AgentId,
    profile: &AgentProfile,
) -> Result<(), StoreFault> {
    match rows.find(BY_AGENT, &key(agent))? {
        Some((id, _)) => rows.change(id, |row| {
            row.record.profile = profile.clone();
            row.saved = entry.seq;
        }),
        None => {
            let record = AgentRecord { id: agent, profile: profile.clone(), archived: None };
            rows.insert(entry, AgentRow { record, saved: entry.seq })
        }
    }
}

/// Returns all agents in order of id.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn all(rows: &mut dyn RowStore) -> Result<Vec<AgentRecord>, StoreFault> {
    let found = all_rows::<AgentFamily>(rows, BY_AGENT)?;
    Ok(found.into_iter().map(|(_, row)| row.record).collect())
}
