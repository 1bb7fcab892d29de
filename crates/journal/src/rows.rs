//! Rows of families in SQLite: tables and statements made from the declarations, and nothing of what rows mean.
//!
//! Owns the tables `f_NAME` and `family`, which holds the version of each. Invariant: a family whose row in `family` is
//! missing has a table that cannot be used; it is made anew at start. Begin at [`SqliteRows`].

mod family_sql;
mod sqlite_rows;

mod family_versions;

pub(crate) use family_sql::{FamilyStatements, create_families, family_tables};
pub(crate) use family_versions::{begin_rebuild, drop_unknown_families, finish_rebuild, stale_families};
pub(crate) use sqlite_rows::{SqliteRows, epochs_descending, newest_epoch, sql_error};
