//! Agents: the latest profile of each. Owns the table `agent`.

use palyra_types::agent::{AgentProfile, AgentRecord};
use palyra_types::{AgentId, Seq, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::fault::{EntryFault, ReadFault};
use crate::sql::{seq_from_sql, seq_to_sql};
use palyra_journal_core::codec::{agent_profile_from_bytes, agent_profile_to_bytes};

/// A row of `agent`.
#[derive(Debug, Clone)]
pub(crate) struct AgentRow {
    agent: AgentId,
    profile: Vec<u8>,
    archived: Option<Timestamp>,
    saved_seq: Seq,
}

/// The table `agent`.
pub(crate) struct Agents;

impl Family for Agents {
    type Key = AgentId;
    type Row = AgentRow;

    fn load(connection: &Connection, key: &AgentId) -> rusqlite::Result<Option<AgentRow>> {
        let sql = "SELECT agent, profile, archived, seq FROM agent WHERE agent = ?1";
        connection.prepare_cached(sql)?.query_row([key.to_bytes()], read).optional()
    }

    fn store(connection: &Connection, row: &AgentRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO agent(agent, profile, archived, seq) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT(agent) DO UPDATE
            SET profile = excluded.profile, archived = excluded.archived, seq = excluded.seq";
        let archived = row.archived.map(|time| time.0);
        let values = params![row.agent.to_bytes(), row.profile, archived, seq_to_sql(row.saved_seq)];
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds a saved profile; whether the agent is archived stays.
pub(super) fn saved(
    agents: &mut Held<Agents>,
    connection: &Connection,
    entry: &Folded<'_>,
    agent: AgentId,
    profile: &AgentProfile,
) -> rusqlite::Result<()> {
    let archived = agents.get(connection, &agent)?.and_then(|row| row.archived);
    let profile = agent_profile_to_bytes(profile);
    agents.put(agent, AgentRow { agent, profile, archived, saved_seq: entry.seq });
    Ok(())
}

/// Folds the archiving of an agent.
pub(super) fn archived(
    agents: &mut Held<Agents>,
    connection: &Connection,
    entry: &Folded<'_>,
    agent: AgentId,
) -> rusqlite::Result<()> {
    agents.change(connection, &agent, |row| row.archived = Some(entry.time))
}

/// Returns all agents in order of id.
pub(crate) fn all(connection: &Connection) -> Result<Vec<AgentRecord>, ReadFault> {
    let mut statement =
        connection.prepare_cached("SELECT agent, profile, archived, seq FROM agent ORDER BY agent")?;
    let rows = statement.query_map([], read)?;
    rows.map(|row| {
        let row = row?;
        let profile =
            agent_profile_from_bytes(&row.profile).map_err(|_| EntryFault::Facts.at(row.saved_seq))?;
        Ok(AgentRecord { id: row.agent, profile, archived: row.archived })
    })
    .collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<AgentRow> {
    Ok(AgentRow {
        agent: AgentId::from_bytes(row.get(0)?),
        profile: row.get(1)?,
        archived: row.get::<_, Option<i64>>(2)?.map(Timestamp),
        saved_seq: seq_from_sql(row.get(3)?),
    })
}
