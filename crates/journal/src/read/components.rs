//! Components: rows of their projection, each with what the entry that it names says.

use palyra_ports::read_records::COMPONENT_RECORDS_MAX;
use palyra_types::component::{ComponentEvent, ComponentRecord};
use palyra_types::event::JournalEvent;
use rusqlite::Connection;

use crate::entry::StoredEntry;
use crate::fault::{EntryFault, ReadFault};
use crate::project::{COMPONENT_COLUMNS, ComponentRow};
use crate::sql::count_to_sql;

/// Returns all components, those that were removed too, in the order in which they were added.
pub(crate) fn components(connection: &Connection) -> Result<Vec<ComponentRecord>, ReadFault> {
    let sql = format!(
        "SELECT {COMPONENT_COLUMNS} FROM component ORDER BY removed IS NOT NULL, seq DESC LIMIT {}",
        count_to_sql(COMPONENT_RECORDS_MAX)
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], ComponentRow::read)?;
    let mut records = rows.map(|row| record(connection, &row?)).collect::<Result<Vec<_>, _>>()?;
    records.sort_by_key(|record| record.seq);
    Ok(records)
}

/// A row that contradicts the entry that it names is damage.
fn record(connection: &Connection, row: &ComponentRow) -> Result<ComponentRecord, ReadFault> {
    let entry = StoredEntry::at(connection, row.seq)?;
    match entry.event()? {
        JournalEvent::Component(ComponentEvent::Added(added)) if added.component == row.component => {
            Ok(ComponentRecord {
                added,
                by: entry.envelope.principal,
                created: entry.envelope.time,
                removed: row.removed,
                seq: row.seq,
            })
        }
        _ => Err(EntryFault::Row.at(row.seq)),
    }
}
