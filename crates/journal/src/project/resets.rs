//! Every reset of every session, for branches look further back than the latest. Owns the table
//! `session_reset`.

use palyra_types::Seq;
use palyra_types::session::SessionRef;
use rusqlite::Connection;

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::seq_to_sql;

/// The table `session_reset`.
pub(crate) struct Resets;

impl Family for Resets {
    type Key = Seq;
    type Row = (SessionRef, Seq);

    /// A reset is folded once; nobody looks for its row.
    fn load(_: &Connection, _: &Seq) -> rusqlite::Result<Option<Self::Row>> {
        Ok(None)
    }

    fn store(connection: &Connection, (session, seq): &Self::Row) -> rusqlite::Result<()> {
        let sql = "INSERT INTO session_reset(principal, session, seq) VALUES (?1, ?2, ?3)
            ON CONFLICT DO NOTHING";
        let values = (session.principal.to_bytes(), session.id.to_bytes(), seq_to_sql(*seq));
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds a reset.
pub(super) fn reset(resets: &mut Held<Resets>, entry: &Folded<'_>, session: palyra_types::SessionId) {
    let session = SessionRef { principal: entry.principal, id: session };
    resets.put(entry.seq, (session, entry.seq));
}
