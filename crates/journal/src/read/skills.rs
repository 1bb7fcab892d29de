//! Skills: rows of their projection, each with what the entries that it names say.

use palyra_ports::read_records::SKILL_RECORDS_MAX;
use palyra_types::event::JournalEvent;
use palyra_types::skill::{SkillEvent, SkillQuarantine, SkillRecord};
use rusqlite::Connection;

use crate::entry::StoredEntry;
use crate::fault::{EntryFault, ReadFault};
use crate::project::{SKILL_COLUMNS, SkillRow};
use crate::sql::count_to_sql;

/// Returns all skills, those that were removed too, in the order in which they were installed.
pub(crate) fn skills(connection: &Connection) -> Result<Vec<SkillRecord>, ReadFault> {
    let sql = format!(
        "SELECT {SKILL_COLUMNS} FROM skill ORDER BY removed IS NOT NULL, seq DESC LIMIT {}",
        count_to_sql(SKILL_RECORDS_MAX)
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], SkillRow::read)?;
    let mut records = rows.map(|row| record(connection, row?)).collect::<Result<Vec<_>, _>>()?;
    records.sort_by_key(|record| record.seq);
    Ok(records)
}

/// A row that contradicts an entry that it names is damage.
fn record(connection: &Connection, row: SkillRow) -> Result<SkillRecord, ReadFault> {
    let entry = StoredEntry::at(connection, row.seq)?;
    let JournalEvent::Skill(SkillEvent::Installed(installed)) = entry.event()? else {
        return Err(EntryFault::Row.at(row.seq));
    };
    if installed.skill != row.skill {
        return Err(EntryFault::Row.at(row.seq));
    }
    Ok(SkillRecord {
        installed,
        by: entry.envelope.principal,
        created: entry.envelope.time,
        quarantine: quarantine(connection, &row)?,
        agents: row.agents,
        removed: row.removed,
        seq: row.seq,
    })
}

fn quarantine(connection: &Connection, row: &SkillRow) -> Result<Option<SkillQuarantine>, ReadFault> {
    let Some(seq) = row.quarantined else { return Ok(None) };
    let entry = StoredEntry::at(connection, seq)?;
    match entry.event()? {
        JournalEvent::Skill(SkillEvent::Quarantined { skill, fault }) if skill == row.skill => {
            Ok(Some(SkillQuarantine { since: entry.envelope.time, fault }))
        }
        _ => Err(EntryFault::Row.at(row.seq)),
    }
}
