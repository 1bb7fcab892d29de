//! Skills: for which agents each is switched on, and whether it may take part. An id is given once; a removed one stays
//! removed.
//!
//! The name of a skill and the tools that it leaves are in the entry that made the row, and nowhere else.

use palyra_types::event::JournalEvent;
use palyra_types::skill::{SkillEvent, SkillQuarantine, SkillRecord};
use palyra_types::{AgentId, Seq, SkillId, Timestamp};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, LogView, RowStore, RowsPerKey,
    StoreFault, StoredRow,
};

use super::removable::{IN_USE_FIRST, in_use_first, listed};

/// Skills that are read at once, at most; removed ones are left out first.
const SKILL_RECORDS_MAX: usize = 10_000;

/// The family.
pub struct SkillFamily;

/// A skill; the row's id is the entry that installed it.
#[derive(Debug, Clone)]
pub struct SkillRow {
    /// Its id.
    pub skill: SkillId,
    /// The agents that it is switched on for, in order of id.
    pub agents: Vec<AgentId>,
    /// The entry that put it into quarantine.
    pub quarantined: Option<Seq>,
    /// When it was removed.
    pub removed: Option<Timestamp>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct SkillFacts {
    #[prost(bytes = "vec", tag = "1")]
    skill: Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    agents: Vec<Vec<u8>>,
    #[prost(uint64, optional, tag = "3")]
    quarantined: Option<u64>,
    #[prost(sint64, optional, tag = "4")]
    removed: Option<i64>,
}

const BY_SKILL: usize = 1;

fn key(skill: SkillId) -> IndexKey {
    IndexKey::new().bytes(&skill.to_bytes())
}

impl Family for SkillFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "skill",
        version: 1,
        indexes: &[IN_USE_FIRST, FamilyIndex { name: "by_skill", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    type Row = SkillRow;

    fn facts(row: &SkillRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&SkillFacts {
            skill: row.skill.to_bytes().to_vec(),
            agents: row.agents.iter().map(|agent| agent.to_bytes().to_vec()).collect(),
            quarantined: row.quarantined.map(|seq| seq.0),
            removed: row.removed.map(|time| time.0),
        })
    }

    fn load(stored: &StoredRow) -> Option<SkillRow> {
        let facts = <SkillFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let agent = |bytes: Vec<u8>| Some(AgentId::from_bytes(bytes.try_into().ok()?));
        Some(SkillRow {
            skill: SkillId::from_bytes(facts.skill.try_into().ok()?),
            agents: facts.agents.into_iter().map(agent).collect::<Option<_>>()?,
            quarantined: facts.quarantined.map(Seq),
            removed: facts.removed.map(Timestamp),
        })
    }

    fn index(row: &SkillRow, index: usize) -> Option<IndexKey> {
        Some(if index == BY_SKILL { key(row.skill) } else { in_use_first(row.removed) })
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Skill(event) = entry.event else { return Ok(()) };
        let key = key(event.skill());
        match event {
            SkillEvent::Installed(installed) => match rows.find(BY_SKILL, &key)? {
                Some(_) => Ok(()),
                None => {
                    let skill = installed.skill;
                    let row = SkillRow { skill, agents: Vec::new(), quarantined: None, removed: None };
                    rows.insert(entry, row)
                }
            },
            SkillEvent::Enabled { agent, .. } => rows.change_by(BY_SKILL, &key, |row| row.enable(*agent)),
            SkillEvent::Disabled { agent, .. } => {
                rows.change_by(BY_SKILL, &key, |row| row.agents.retain(|enabled| enabled != agent))
            }
            SkillEvent::Quarantined { .. } => rows.change_by(BY_SKILL, &key, |row| {
                row.quarantined = row.quarantined.or(Some(entry.seq));
            }),
            SkillEvent::Removed { .. } => rows.change_by(BY_SKILL, &key, |row| {
                row.agents.clear();
                row.removed = row.removed.or(Some(entry.time));
            }),
        }
    }
}

impl SkillRow {
    fn enable(&mut self, agent: AgentId) {
        if self.removed.is_none() {
            self.quarantined = None;
            if let Err(place) = self.agents.binary_search(&agent) {
                self.agents.insert(place, agent);
            }
        }
    }
}

/// Returns all skills in the order in which they were installed. Above the limit those in use come first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts an entry that it names.
pub fn records(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<SkillRecord>, StoreFault> {
    let found = listed::<SkillFamily>(rows, SKILL_RECORDS_MAX)?;
    found.into_iter().map(|(id, row)| record(log, id.into(), row)).collect()
}

fn record(log: &mut dyn LogView, seq: Seq, row: SkillRow) -> Result<SkillRecord, StoreFault> {
    let entry = log.entry(seq)?;
    let quarantine = row.quarantined.map(|since| quarantine(log, seq, since, row.skill)).transpose()?;
    match entry.event {
        JournalEvent::Skill(SkillEvent::Installed(installed)) if installed.skill == row.skill => {
            let (by, created, removed) = (entry.principal, entry.time, row.removed);
            Ok(SkillRecord { installed, by, created, quarantine, agents: row.agents, removed, seq })
        }
        _ => Err(StoreFault::Contradiction { seq }),
    }
}

fn quarantine(
    log: &mut dyn LogView,
    row: Seq,
    since: Seq,
    named: SkillId,
) -> Result<SkillQuarantine, StoreFault> {
    let entry = log.entry(since)?;
    match entry.event {
        JournalEvent::Skill(SkillEvent::Quarantined { skill, fault }) if skill == named => {
            Ok(SkillQuarantine { since: entry.time, fault })
        }
        _ => Err(StoreFault::Contradiction { seq: row }),
    }
}
