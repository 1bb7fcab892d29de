//! Stored grants: how often each was used, and whether it was revoked. Owns the table `stored_grant`.
//!
//! What a grant permits stands in the entry that the row names, and nowhere else.

use palyra_types::approval::StoredGrant;
use palyra_types::event::{ApprovalEvent, DecidedBy, TapeEvent, ToolEvent};
use palyra_types::{Seq, StoredGrantId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// Columns that [`StoredGrantRow::read`] takes, in its order.
pub(crate) const STORED_GRANT_COLUMNS: &str = "seq, stored_grant, uses_max, uses, revoked";

/// A row of `stored_grant`.
#[derive(Debug, Clone)]
pub(crate) struct StoredGrantRow {
    /// The entry that gave it.
    pub(crate) seq: Seq,
    pub(crate) grant: StoredGrantId,
    pub(crate) uses_max: Option<u32>,
    pub(crate) uses: u32,
    pub(crate) revoked: Option<Timestamp>,
}

impl StoredGrantRow {
    /// Returns whether it is neither revoked nor used up.
    pub(crate) fn stands(&self) -> bool {
        self.revoked.is_none() && self.uses_max.is_none_or(|uses_max| self.uses < uses_max)
    }
}

/// The table `stored_grant`.
pub(crate) struct StoredGrants;

impl Family for StoredGrants {
    type Key = StoredGrantId;
    type Row = StoredGrantRow;

    fn load(connection: &Connection, key: &StoredGrantId) -> rusqlite::Result<Option<StoredGrantRow>> {
        let sql = format!("SELECT {STORED_GRANT_COLUMNS} FROM stored_grant WHERE stored_grant = ?1");
        connection.prepare_cached(&sql)?.query_row([key.to_bytes()], StoredGrantRow::read).optional()
    }

    fn store(connection: &Connection, row: &StoredGrantRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO stored_grant(seq, stored_grant, uses_max, uses, revoked)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT(seq) DO UPDATE SET uses = excluded.uses, revoked = excluded.revoked";
        let revoked = row.revoked.map(|time| time.0);
        let values = params![seq_to_sql(row.seq), row.grant.to_bytes(), row.uses_max, row.uses, revoked];
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds one tape entry.
pub(super) fn fold(
    grants: &mut Held<StoredGrants>,
    connection: &Connection,
    entry: &Folded<'_>,
    event: &TapeEvent,
) -> rusqlite::Result<()> {
    match event {
        TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) => given(grants, connection, entry, stored),
        TapeEvent::Tool(ToolEvent::Decided(decided)) => match decided.decided_by {
            DecidedBy::Grant(grant) => {
                grants.change(connection, &grant, |row| row.uses = row.uses.saturating_add(1))
            }
            DecidedBy::Policy | DecidedBy::Budget | DecidedBy::Approval(_) => Ok(()),
        },
        _ => Ok(()),
    }
}

/// An id is given once.
fn given(
    grants: &mut Held<StoredGrants>,
    connection: &Connection,
    entry: &Folded<'_>,
    stored: &StoredGrant,
) -> rusqlite::Result<()> {
    let (grant, uses_max) = (stored.grant, stored.uses_max);
    if grants.get(connection, &grant)?.is_none() {
        grants.put(grant, StoredGrantRow { seq: entry.seq, grant, uses_max, uses: 0, revoked: None });
    }
    Ok(())
}

/// Folds a revocation; the first one counts.
pub(super) fn revoked(
    grants: &mut Held<StoredGrants>,
    connection: &Connection,
    entry: &Folded<'_>,
    grant: StoredGrantId,
) -> rusqlite::Result<()> {
    grants.change(connection, &grant, |row| row.revoked = row.revoked.or(Some(entry.time)))
}

impl StoredGrantRow {
    /// Reads a row of [`STORED_GRANT_COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: seq_from_sql(row.get(0)?),
            grant: StoredGrantId::from_bytes(row.get(1)?),
            uses_max: row.get(2)?,
            uses: row.get(3)?,
            revoked: row.get::<_, Option<i64>>(4)?.map(Timestamp),
        })
    }
}
