//! Skills: for which agents each is switched on, and whether it may take part. Owns the table `skill`.
//!
//! What a skill is called and what it leaves of the tools stands in the entry that the row names, and nowhere else.

use palyra_types::skill::SkillEvent;
use palyra_types::{AgentId, Seq, SkillId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// Columns that [`SkillRow::read`] takes, in its order.
pub(crate) const SKILL_COLUMNS: &str = "seq, skill, agents, quarantined_seq, removed";

/// A row of `skill`.
#[derive(Debug, Clone)]
pub(crate) struct SkillRow {
    /// The entry that installed it.
    pub(crate) seq: Seq,
    pub(crate) skill: SkillId,
    /// In order of id.
    pub(crate) agents: Vec<AgentId>,
    /// The entry that put it into quarantine.
    pub(crate) quarantined: Option<Seq>,
    pub(crate) removed: Option<Timestamp>,
}

/// The table `skill`.
pub(crate) struct Skills;

impl Family for Skills {
    type Key = SkillId;
    type Row = SkillRow;

    fn load(connection: &Connection, key: &SkillId) -> rusqlite::Result<Option<SkillRow>> {
        let sql = format!("SELECT {SKILL_COLUMNS} FROM skill WHERE skill = ?1");
        connection.prepare_cached(&sql)?.query_row([key.to_bytes()], SkillRow::read).optional()
    }

    fn store(connection: &Connection, row: &SkillRow) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO skill(seq, skill, agents, quarantined_seq, removed) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT(seq) DO UPDATE SET agents = excluded.agents,
                quarantined_seq = excluded.quarantined_seq, removed = excluded.removed";
        let agents: Vec<u8> = row.agents.iter().flat_map(|agent| agent.to_bytes()).collect();
        let (quarantined, removed) = (row.quarantined.map(seq_to_sql), row.removed.map(|time| time.0));
        let values = params![seq_to_sql(row.seq), row.skill.to_bytes(), agents, quarantined, removed];
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds what became of a skill. An id is given once; what was removed stays so.
pub(super) fn fold(
    skills: &mut Held<Skills>,
    connection: &Connection,
    entry: &Folded<'_>,
    event: &SkillEvent,
) -> rusqlite::Result<()> {
    let skill = event.skill();
    match event {
        SkillEvent::Installed(_) => {
            if skills.get(connection, &skill)?.is_none() {
                let row =
                    SkillRow { seq: entry.seq, skill, agents: Vec::new(), quarantined: None, removed: None };
                skills.put(skill, row);
            }
            Ok(())
        }
        SkillEvent::Enabled { agent, .. } => skills.change(connection, &skill, |row| {
            if row.removed.is_none() {
                row.quarantined = None;
                if let Err(place) = row.agents.binary_search(agent) {
                    row.agents.insert(place, *agent);
                }
            }
        }),
        SkillEvent::Disabled { agent, .. } => {
            skills.change(connection, &skill, |row| row.agents.retain(|enabled| enabled != agent))
        }
        SkillEvent::Quarantined { .. } => {
            skills.change(connection, &skill, |row| row.quarantined = row.quarantined.or(Some(entry.seq)))
        }
        SkillEvent::Removed { .. } => skills.change(connection, &skill, |row| {
            row.agents.clear();
            row.removed = row.removed.or(Some(entry.time));
        }),
    }
}

impl SkillRow {
    /// Reads a row of [`SKILL_COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let agents: Vec<u8> = row.get(2)?;
        let agents = agents.chunks_exact(16).filter_map(|id| id.try_into().ok()).map(AgentId::from_bytes);
        Ok(Self {
            seq: seq_from_sql(row.get(0)?),
            skill: SkillId::from_bytes(row.get(1)?),
            agents: agents.collect(),
            quarantined: row.get::<_, Option<i64>>(3)?.map(seq_from_sql),
            removed: row.get::<_, Option<i64>>(4)?.map(Timestamp),
        })
    }
}
