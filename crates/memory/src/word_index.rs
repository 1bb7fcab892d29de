//! The word index: `SQLite` with FTS5, in memory.
//!
//! Owns the tables and the one query. Receives stems, never a query in the syntax of FTS5: each stem is a quoted string, so no
//! input can be an error or an operator. Nothing is written to a disk, and the words of a removed item are overwritten.

use palyra_types::{PrincipalId, Timestamp};
use rusqlite::{Connection, Transaction, params};

const SCHEMA: &str = "
PRAGMA temp_store = MEMORY;
PRAGMA secure_delete = ON;
CREATE TABLE item (
    slot INTEGER PRIMARY KEY,
    principal BLOB NOT NULL,
    scope INTEGER NOT NULL,
    expires INTEGER
) STRICT;
CREATE VIRTUAL TABLE word USING fts5(stems, tokenize = 'unicode61 remove_diacritics 0');
INSERT INTO word(word, rank) VALUES ('secure-delete', 1);
";

const SEARCH: &str = "
SELECT word.rowid
FROM word JOIN item ON item.slot = word.rowid
WHERE word MATCH ?1
    AND item.principal = ?2
    AND item.scope IN (SELECT value FROM json_each(?3))
    AND (item.expires IS NULL OR item.expires > ?4)
ORDER BY bm25(word), word.rowid
LIMIT ?5
";

/// What the word index keeps of an item.
pub(crate) struct WordRow<'a> {
    pub(crate) slot: i64,
    pub(crate) principal: PrincipalId,
    pub(crate) scope: u32,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) stems: &'a [String],
}

/// Which items a query may find.
pub(crate) struct ItemFilter<'a> {
    pub(crate) principal: PrincipalId,
    pub(crate) scopes: &'a [u32],
    pub(crate) now: Timestamp,
}

/// Words of items.
#[derive(Debug)]
pub(crate) struct WordIndex {
    connection: Connection,
}

impl WordIndex {
    pub(crate) fn open() -> Result<Self, rusqlite::Error> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection })
    }

    /// Adds rows whose slots are free, all or none.
    pub(crate) fn insert(&mut self, rows: &[WordRow<'_>]) -> Result<(), rusqlite::Error> {
        let transaction = self.connection.transaction()?;
        for row in rows {
            insert_row(&transaction, row)?;
        }
        transaction.commit()
    }

    /// Removes the row of a slot, if there is one.
    pub(crate) fn remove(&mut self, slot: i64) -> Result<(), rusqlite::Error> {
        let transaction = self.connection.transaction()?;
        transaction.prepare_cached("DELETE FROM word WHERE rowid = ?1")?.execute([slot])?;
        transaction.prepare_cached("DELETE FROM item WHERE slot = ?1")?.execute([slot])?;
        transaction.commit()
    }

    /// Returns slots of items that have one of `stems`, the best by BM25 first.
    pub(crate) fn search(
        &self,
        stems: &[String],
        filter: &ItemFilter<'_>,
        limit: usize,
    ) -> Result<Vec<i64>, rusqlite::Error> {
        if stems.is_empty() || filter.scopes.is_empty() {
            return Ok(Vec::new());
        }
        let scopes = filter.scopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare_cached(SEARCH)?;
        let principal = filter.principal.to_bytes();
        let slots = statement.query_map(
            params![match_expression(stems), principal, format!("[{scopes}]"), filter.now.0, limit],
            |row| row.get(0),
        )?;
        slots.collect()
    }

    /// Returns whether any table still contains `text`.
    #[cfg(test)]
    pub(crate) fn contains_bytes(&self, text: &str) -> Result<bool, rusqlite::Error> {
        let query =
            "SELECT 1 FROM (SELECT block AS bytes FROM word_data UNION ALL SELECT c0 FROM word_content)
            WHERE instr(bytes, CAST(?1 AS BLOB)) > 0 OR instr(bytes, ?1) > 0";
        self.connection.prepare(query)?.exists([text])
    }
}

fn insert_row(transaction: &Transaction<'_>, row: &WordRow<'_>) -> Result<(), rusqlite::Error> {
    let principal = row.principal.to_bytes();
    let expires = row.expires.map(|expires| expires.0);
    transaction
        .prepare_cached("INSERT INTO item(slot, principal, scope, expires) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![row.slot, principal, row.scope, expires])?;
    transaction
        .prepare_cached("INSERT INTO word(rowid, stems) VALUES (?1, ?2)")?
        .execute(params![row.slot, row.stems.join(" ")])?;
    Ok(())
}

fn match_expression(stems: &[String]) -> String {
    let quoted = stems.iter().map(|stem| format!("\"{}\"", stem.replace('"', "\"\"")));
    quoted.collect::<Vec<_>>().join(" OR ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(slot: i64, stems: &[String]) -> WordRow<'_> {
        WordRow { slot, principal: PrincipalId::from_parts(1, 1), scope: 0, expires: None, stems }
    }

    #[test]
    fn the_words_of_a_removed_item_are_gone() {
        let mut index = WordIndex::open().unwrap();
        index.insert(&[row(0, &["zebra".to_owned()]), row(1, &["cello".to_owned()])]).unwrap();
        assert!(index.contains_bytes("zebra").unwrap());
        index.remove(0).unwrap();
        assert!(!index.contains_bytes("zebra").unwrap());
        assert!(index.contains_bytes("cello").unwrap());
    }

    #[test]
    fn the_principal_is_part_of_the_query() {
        let mut index = WordIndex::open().unwrap();
        let stems = ["cello".to_owned()];
        index.insert(&[row(0, &stems)]).unwrap();
        let now = Timestamp(0);
        for (number, expected) in [(1, vec![0]), (2, Vec::new())] {
            let principal = PrincipalId::from_parts(number, 1);
            let filter = ItemFilter { principal, scopes: &[0], now };
            assert_eq!(index.search(&stems, &filter, 10).unwrap(), expected);
        }
    }
}
