//! Rows of one family, held in memory between reading and writing them.
//!
//! Owns which rows have changed. Invariant: after [`Held::flush`] the table equals what is held; after
//! [`Held::forget`] nothing is held, so the next look goes to the table.

use std::collections::BTreeMap;

use rusqlite::Connection;

/// Rows held at most; beyond it they are written and forgotten.
pub(crate) const ROWS_HELD_MAX: usize = 4_096;

/// A table whose rows are folded one by one.
pub(crate) trait Family {
    /// What names a row.
    type Key: Ord + Clone;
    /// A row.
    type Row: Clone;

    /// Reads one row.
    fn load(connection: &Connection, key: &Self::Key) -> rusqlite::Result<Option<Self::Row>>;

    /// Inserts or updates one row.
    fn store(connection: &Connection, row: &Self::Row) -> rusqlite::Result<()>;

    /// Takes note that the table holds a row as it is.
    fn stored(_row: &mut Self::Row) {}
}

/// The rows of a family that are in use.
pub(crate) struct Held<F: Family> {
    rows: BTreeMap<F::Key, (F::Row, Written)>,
    changed: Vec<F::Key>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Yes,
    NotYet,
}

impl<F: Family> Held<F> {
    pub(crate) fn new() -> Self {
        Self { rows: BTreeMap::new(), changed: Vec::new() }
    }

    /// Returns a copy of a row, from memory or from the table.
    pub(crate) fn get(&mut self, connection: &Connection, key: &F::Key) -> rusqlite::Result<Option<F::Row>> {
        if let Some((row, _)) = self.rows.get(key) {
            return Ok(Some(row.clone()));
        }
        let row = F::load(connection, key)?;
        if let Some(row) = &row {
            self.rows.insert(key.clone(), (row.clone(), Written::Yes));
        }
        Ok(row)
    }

    /// Changes a row if it exists.
    pub(crate) fn change(
        &mut self,
        connection: &Connection,
        key: &F::Key,
        change: impl FnOnce(&mut F::Row),
    ) -> rusqlite::Result<()> {
        if !self.rows.contains_key(key) {
            match F::load(connection, key)? {
                Some(row) => drop(self.rows.insert(key.clone(), (row, Written::Yes))),
                None => return Ok(()),
            }
        }
        if let Some((row, written)) = self.rows.get_mut(key) {
            change(row);
            if *written == Written::Yes {
                *written = Written::NotYet;
                self.changed.push(key.clone());
            }
        }
        Ok(())
    }

    /// Sets a row.
    pub(crate) fn put(&mut self, key: F::Key, row: F::Row) {
        let before = self.rows.insert(key.clone(), (row, Written::NotYet));
        if !matches!(before, Some((_, Written::NotYet))) {
            self.changed.push(key);
        }
    }

    /// Writes what changed, in the order in which rows were first changed.
    pub(crate) fn flush(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        for key in std::mem::take(&mut self.changed) {
            if let Some((row, written)) = self.rows.get_mut(&key) {
                F::store(connection, row)?;
                F::stored(row);
                *written = Written::Yes;
            }
        }
        if self.rows.len() > ROWS_HELD_MAX {
            self.rows.clear();
        }
        Ok(())
    }

    /// Returns whether writing is due, for folds over many entries.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() > ROWS_HELD_MAX
    }

    /// Drops everything held, changed or not: the transaction was rolled back.
    pub(crate) fn forget(&mut self) {
        self.rows.clear();
        self.changed.clear();
    }
}
