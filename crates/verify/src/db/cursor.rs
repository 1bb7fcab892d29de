//! Rows of one table in the order of their key, one at a time.
//!
//! Owns the check that keys rise, which is what ends a loop over a file whose pages go round in circles.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Rows};

/// Why a row could not be read, in words.
#[derive(Debug)]
pub(super) struct ReadTrouble(pub(super) String);

impl From<rusqlite::Error> for ReadTrouble {
    fn from(error: rusqlite::Error) -> Self {
        Self(format!("the file is damaged: {error}"))
    }
}

/// A row of a table.
pub(super) trait KeyedRow: Sized {
    /// Reads it from the columns of its query.
    fn read(row: &Row<'_>) -> Result<Self, ReadTrouble>;
    /// Its primary key.
    fn key(&self) -> (i64, i64);
}

/// Rows in the order of their keys, with one row of looking ahead.
pub(super) struct Cursor<'s, T> {
    rows: Rows<'s>,
    ahead: Option<T>,
    last: Option<(i64, i64)>,
    ended: bool,
}

impl<'s, T: KeyedRow> Cursor<'s, T> {
    pub(super) fn new(rows: Rows<'s>) -> Self {
        Self { rows, ahead: None, last: None, ended: false }
    }

    /// Returns the next row without taking it.
    pub(super) fn peek(&mut self) -> Result<Option<&T>, ReadTrouble> {
        if self.ahead.is_none() && !self.ended {
            self.ahead = self.read()?;
            self.ended = self.ahead.is_none();
        }
        Ok(self.ahead.as_ref())
    }

    /// Takes the next row.
    pub(super) fn next(&mut self) -> Result<Option<T>, ReadTrouble> {
        self.peek()?;
        Ok(self.ahead.take())
    }

    /// Takes the next row where the first part of its key is `at`.
    pub(super) fn next_at(&mut self, at: u64) -> Result<Option<T>, ReadTrouble> {
        match self.peek()? {
            Some(row) if u64::try_from(row.key().0) == Ok(at) => self.next(),
            Some(row) if row.key().0 < 0 => Err(ReadTrouble("a row has a negative number".to_owned())),
            Some(_) | None => Ok(None),
        }
    }

    fn read(&mut self) -> Result<Option<T>, ReadTrouble> {
        let row = match self.rows.next() {
            Ok(Some(row)) => T::read(row),
            Ok(None) => return Ok(None),
            Err(error) => Err(error.into()),
        };
        let row = row.inspect_err(|_| self.ended = true)?;
        if self.last.is_some_and(|last| last >= row.key()) {
            self.ended = true;
            return Err(ReadTrouble("rows are not in order".to_owned()));
        }
        self.last = Some(row.key());
        Ok(Some(row))
    }
}

pub(super) fn integer(row: &Row<'_>, column: usize) -> Result<i64, ReadTrouble> {
    match row.get_ref(column)? {
        ValueRef::Integer(value) => Ok(value),
        other => Err(shape(column, "a number", other)),
    }
}

pub(super) fn blob(row: &Row<'_>, column: usize) -> Result<Vec<u8>, ReadTrouble> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(bytes.to_vec()),
        other => Err(shape(column, "bytes", other)),
    }
}

pub(super) fn text(row: &Row<'_>, column: usize) -> Result<String, ReadTrouble> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(ReadTrouble("a text is not UTF-8".to_owned())),
        },
        other => Err(shape(column, "text", other)),
    }
}

pub(super) fn shape(column: usize, wanted: &str, found: ValueRef<'_>) -> ReadTrouble {
    ReadTrouble(format!("column {column} of a row is {} and not {wanted}", found.data_type()))
}
