//! Components: which were added, and whether they were removed. Owns the table `component`.
//!
//! What a component is called and was given stands in the entry that the row names, and nowhere else.

use palyra_types::component::ComponentEvent;
use palyra_types::{ComponentId, Seq, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// Columns that [`ComponentRow::read`] takes, in its order.
pub(crate) const COMPONENT_COLUMNS: &str = "seq, component, removed";

/// A row of `component`.
#[derive(Debug, Clone)]
pub(crate) struct ComponentRow {
    /// The entry that added it.
    pub(crate) seq: Seq,
    pub(crate) component: ComponentId,
    pub(crate) removed: Option<Timestamp>,
}

/// The table `component`.
pub(crate) struct Components;

impl Family for Components {
    type Key = ComponentId;
    type Row = ComponentRow;

    fn load(connection: &Connection, key: &ComponentId) -> rusqlite::Result<Option<ComponentRow>> {
        let sql = format!("SELECT {COMPONENT_COLUMNS} FROM component WHERE component = ?1");
        connection.prepare_cached(&sql)?.query_row([key.to_bytes()], ComponentRow::read).optional()
    }

    fn store(connection: &Connection, row: &ComponentRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO component(seq, component, removed) VALUES (?1, ?2, ?3)
            ON CONFLICT(seq) DO UPDATE SET removed = excluded.removed";
        let values = params![seq_to_sql(row.seq), row.component.to_bytes(), row.removed.map(|time| time.0)];
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds what became of a component. An id is given once; what was removed stays so.
pub(super) fn fold(
    components: &mut Held<Components>,
    connection: &Connection,
    entry: &Folded<'_>,
    event: &ComponentEvent,
) -> rusqlite::Result<()> {
    let component = event.component();
    match event {
        ComponentEvent::Added(_) => {
            if components.get(connection, &component)?.is_none() {
                components.put(component, ComponentRow { seq: entry.seq, component, removed: None });
            }
            Ok(())
        }
        ComponentEvent::Removed { .. } => {
            components.change(connection, &component, |row| row.removed = row.removed.or(Some(entry.time)))
        }
    }
}

impl ComponentRow {
    /// Reads a row of [`COMPONENT_COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: seq_from_sql(row.get(0)?),
            component: ComponentId::from_bytes(row.get(1)?),
            removed: row.get::<_, Option<i64>>(2)?.map(Timestamp),
        })
    }
}
