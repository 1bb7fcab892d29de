//! The adapter: one row in, one row out, in whatever transaction the connection is.

use palyra_journal_core::families::epochs::{self, StartedEpoch};
use palyra_journal_core::family::{
    ChangedColumns, ContentCell, ContentSource, FamilyTable, IndexKey, RowId, RowLookup, RowScan, RowStore,
    RowWrite, ScannedRow, StoreFault, StoredRow,
};
use palyra_types::proof::SeqRange;
use palyra_types::{Epoch, Seq};
use rusqlite::types::Type;
use rusqlite::{CachedStatement, Connection, Row, ToSql};

use super::family_sql::FamilyStatements;
use crate::sql::{count_to_sql, seq_from_sql, seq_to_sql};

/// The rows of a connection.
pub(crate) struct SqliteRows<'a> {
    connection: &'a Connection,
    statements: &'a FamilyStatements,
}

/// Returns the failure of SQLite behind a fault; a damaged row is one too.
pub(crate) fn sql_error(fault: StoreFault) -> rusqlite::Error {
    match fault {
        StoreFault::Failed(source) => match source.downcast::<rusqlite::Error>() {
            Ok(error) => *error,
            Err(source) => rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, source),
        },
        fault @ (StoreFault::Damaged { .. }
        | StoreFault::Contradiction { .. }
        | StoreFault::Conflict { .. }) => {
            rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, Box::new(fault))
        }
    }
}

fn failed(error: rusqlite::Error) -> StoreFault {
    StoreFault::Failed(Box::new(error))
}

impl<'a> SqliteRows<'a> {
    /// The rows of the registry's families.
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self::with(connection, FamilyStatements::of_registry())
    }

    /// The rows of the families that these statements are for.
    pub(crate) fn with(connection: &'a Connection, statements: &'a FamilyStatements) -> Self {
        Self { connection, statements }
    }

    fn prepare(&self, sql: &str) -> Result<CachedStatement<'a>, StoreFault> {
        self.connection.prepare_cached(sql).map_err(failed)
    }
}

impl RowStore for SqliteRows<'_> {
    fn get(
        &mut self,
        table: &'static FamilyTable,
        by: RowLookup<'_>,
    ) -> Result<Option<StoredRow>, StoreFault> {
        let sql = self.statements.family(table);
        let (mut statement, place) = match by {
            RowLookup::Id(id) => (self.prepare(&sql.by_id)?, RowName::Id(id)),
            RowLookup::Key { index, key } => (self.prepare(&sql.indexes[index].by_key)?, RowName::Key(key)),
        };
        place.bind(&mut statement, 1).map_err(failed)?;
        let mut rows = statement.raw_query();
        let row = rows.next().map_err(failed)?;
        row.map(|row| read(table, row)).transpose().map_err(failed)
    }

    fn scan(&mut self, table: &'static FamilyTable, scan: &RowScan) -> Result<Vec<ScannedRow>, StoreFault> {
        let sql = self.statements.family(table).indexes[scan.index].scan(scan.order);
        let sql = if scan.after.is_some() { &sql.next } else { &sql.first };
        let mut statement = self.prepare(sql)?;
        let bound = bind_scan(&mut statement, scan);
        bound.map_err(failed)?;
        let mut rows = statement.raw_query();
        let mut page = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let scanned = read(table, row).and_then(|stored| {
                let key = row.get(2 + value_count(table))?;
                Ok(ScannedRow { key: IndexKey::from_bytes(key), row: stored })
            });
            page.push(scanned.map_err(failed)?);
        }
        Ok(page)
    }

    fn write(
        &mut self,
        table: &'static FamilyTable,
        id: RowId,
        write: RowWrite<'_>,
    ) -> Result<(), StoreFault> {
        let sql = self.statements.family(table);
        let sql = match write {
            RowWrite::Insert(_) => &sql.insert,
            RowWrite::Update(_, changed) => sql.update(changed),
        };
        let mut statement = self.prepare(sql)?;
        let bound = bind_row(&mut statement, table, id, write);
        bound.and_then(|()| statement.raw_execute()).map(drop).map_err(failed)
    }

    fn sourced(
        &mut self,
        table: &'static FamilyTable,
        column: usize,
        range: SeqRange,
    ) -> Result<Vec<(RowId, Seq)>, StoreFault> {
        let mut statement = self.prepare(&self.statements.family(table).sourced[column])?;
        let bound = |seq: Seq| i64::try_from(seq.0).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| Ok((RowId::from(seq_from_sql(row.get(0)?)), seq_from_sql(row.get(1)?)));
        let rows = statement.query_map((bound(range.first), bound(range.last)), read).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}

/// What names a row in a statement.
enum RowName<'a> {
    Id(RowId),
    Key(&'a IndexKey),
}

impl RowName<'_> {
    fn bind(&self, statement: &mut CachedStatement<'_>, at: usize) -> rusqlite::Result<()> {
        match self {
            Self::Id(id) => statement.raw_bind_parameter(at, seq_to_sql(Seq::from(*id))),
            Self::Key(key) => statement.raw_bind_parameter(at, key.as_bytes()),
        }
    }
}

fn bind_scan(statement: &mut CachedStatement<'_>, scan: &RowScan) -> rusqlite::Result<()> {
    statement.raw_bind_parameter(1, count_to_sql(scan.limit))?;
    statement.raw_bind_parameter(2, scan.range.from.as_bytes())?;
    statement.raw_bind_parameter(3, scan.range.until.as_bytes())?;
    let Some((key, id)) = &scan.after else { return Ok(()) };
    RowName::Key(key).bind(statement, 4)?;
    RowName::Id(*id).bind(statement, 5)
}

fn bind_row(
    statement: &mut CachedStatement<'_>,
    table: &FamilyTable,
    id: RowId,
    write: RowWrite<'_>,
) -> rusqlite::Result<()> {
    let mut at = 0;
    let mut bind = |value: &dyn ToSql| {
        at += 1;
        statement.raw_bind_parameter(at, value)
    };
    bind(&seq_to_sql(Seq::from(id)))?;
    let (row, written) = match write {
        RowWrite::Insert(row) => (row, ChangedColumns::ALL),
        RowWrite::Update(row, changed) => (row, changed),
    };
    bind(&row.facts)?;
    for (index, key) in row.keys.iter().enumerate() {
        if written.has_key(index) {
            bind(&key.as_ref().map(IndexKey::as_bytes))?;
        }
    }
    if !written.has_content() {
        return Ok(());
    }
    for (column, cell) in table.content.iter().zip(&row.content) {
        bind(&cell.bytes)?;
        if column.source == ContentSource::Own {
            bind(&seq_to_sql(cell.source))?;
        }
    }
    Ok(())
}

/// Returns how many columns the content of a row takes.
fn value_count(table: &FamilyTable) -> usize {
    let own = table.content.iter().filter(|column| column.source == ContentSource::Own);
    table.content.len() + own.count()
}

fn read(table: &FamilyTable, row: &Row<'_>) -> rusqlite::Result<StoredRow> {
    let birth = seq_from_sql(row.get(0)?);
    let mut at = 2;
    let mut content = Vec::with_capacity(table.content.len());
    for column in table.content {
        let bytes = row.get(at)?;
        at += 1;
        let source = match column.source {
            ContentSource::Birth => birth,
            ContentSource::Own => {
                at += 1;
                seq_from_sql(row.get(at - 1)?)
            }
        };
        content.push(ContentCell { bytes, source });
    }
    Ok(StoredRow { id: RowId::from(birth), facts: row.get(1)?, content })
}

/// Returns the newest epoch of a connection, by which late writers are refused; zero before the first.
pub(crate) fn newest_epoch(connection: &Connection) -> rusqlite::Result<Epoch> {
    epochs::newest(&mut SqliteRows::new(connection)).map_err(sql_error)
}

/// Returns every epoch, newest first.
pub(crate) fn epochs_descending(connection: &Connection) -> rusqlite::Result<Vec<StartedEpoch>> {
    epochs::descending(&mut SqliteRows::new(connection)).map_err(sql_error)
}
