//! The tables of `journal.db`, by class: log, proofs, projections.
//!
//! Owns every `CREATE`. Invariant: log tables never migrate in place and are only appended to (triggers hold
//! that against our own mistakes); projections are dropped and folded anew when their version changes.

use palyra_journal_core::families::FAMILIES;
use rusqlite::Connection;

use crate::rows;

/// The format of the log tables, kept in `PRAGMA user_version`. An older program refuses a newer one.
pub(crate) const FORMAT: i32 = 2;

/// The format without tree and checkpoints, which a start brings up to [`FORMAT`].
pub(crate) const FORMAT_WITHOUT_TREE: i32 = 1;

/// `PRAGMA application_id`: "PLYJ".
pub(crate) const APPLICATION_ID: i32 = 0x504C_594A;

/// Version of the projections' tables and folds; another one found at start is folded anew. Families have their own.
pub(crate) const PROJECTIONS_VERSION: i64 = 13;

/// The log, in an order in which it can be copied.
pub(crate) const LOG_TABLES: &[&str] = &["static", "entry", "payload", "chunk"];

/// What proves the log: made from it with a key that is gone, or cheap to keep and slow to make anew.
pub(crate) const PROOF_TABLES: &[&str] = &["tile", "frontier", "checkpoint"];

/// Payloads above this size lie in chunks.
pub(crate) const PAYLOAD_INLINE_BYTES_MAX: usize = 8 * 1024;

/// Size of a chunk; the last one of a payload may be smaller.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;

const LOG: &str = "
CREATE TABLE entry(
    seq INTEGER PRIMARY KEY,
    envelope BLOB NOT NULL,
    run_id BLOB,
    tape_seq INTEGER,
    kind INTEGER NOT NULL,
    UNIQUE(run_id, tape_seq)
) STRICT;
CREATE TRIGGER entry_append BEFORE INSERT ON entry
WHEN NEW.seq IS NOT coalesce((SELECT seq FROM entry ORDER BY seq DESC LIMIT 1), -1) + 1
    OR EXISTS (SELECT 1 FROM entry WHERE run_id = NEW.run_id AND tape_seq = NEW.tape_seq)
BEGIN SELECT RAISE(ABORT, 'entries are appended, never replaced'); END;
CREATE TRIGGER entry_update BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'entries never change'); END;
CREATE TRIGGER entry_delete BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END;

CREATE TABLE payload(
    seq INTEGER PRIMARY KEY,
    key_id INTEGER NOT NULL,
    sealed BLOB NOT NULL
) STRICT;
CREATE TRIGGER payload_replace BEFORE INSERT ON payload
WHEN EXISTS (SELECT 1 FROM payload WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'payloads are never replaced'); END;
CREATE TRIGGER payload_update BEFORE UPDATE ON payload
BEGIN SELECT RAISE(ABORT, 'payloads never change'); END;

CREATE TABLE chunk(
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY(seq, n)
) STRICT;
CREATE TRIGGER chunk_replace BEFORE INSERT ON chunk
WHEN EXISTS (SELECT 1 FROM chunk WHERE seq = NEW.seq AND n = NEW.n)
BEGIN SELECT RAISE(ABORT, 'chunks are never replaced'); END;
CREATE TRIGGER chunk_update BEFORE UPDATE ON chunk
BEGIN SELECT RAISE(ABORT, 'chunks never change'); END;

CREATE TABLE static(
    hash BLOB PRIMARY KEY NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE TRIGGER static_replace BEFORE INSERT ON static
WHEN EXISTS (SELECT 1 FROM static WHERE hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'static texts are never replaced'); END;
CREATE TRIGGER static_update BEFORE UPDATE ON static
BEGIN SELECT RAISE(ABORT, 'static texts never change'); END;
CREATE TRIGGER static_delete BEFORE DELETE ON static
BEGIN SELECT RAISE(ABORT, 'static texts are never deleted'); END;
";

const VERSION: &str = "
CREATE TABLE projections(version INTEGER NOT NULL) STRICT;
CREATE TABLE family(name TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
";

const TREE: &str = "
CREATE TABLE tile(
    level INTEGER NOT NULL,
    \"index\" INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY(level, \"index\")
) STRICT;
CREATE TRIGGER tile_replace BEFORE INSERT ON tile
WHEN EXISTS (SELECT 1 FROM tile WHERE level = NEW.level AND \"index\" = NEW.\"index\")
BEGIN SELECT RAISE(ABORT, 'tiles are never replaced'); END;
CREATE TRIGGER tile_update BEFORE UPDATE ON tile
BEGIN SELECT RAISE(ABORT, 'tiles never change'); END;
CREATE TRIGGER tile_delete BEFORE DELETE ON tile
BEGIN SELECT RAISE(ABORT, 'tiles are never deleted'); END;

CREATE TABLE frontier(
    id INTEGER PRIMARY KEY CHECK (id = 0),
    size INTEGER NOT NULL,
    hashes BLOB NOT NULL
) STRICT;
INSERT INTO frontier(id, size, hashes) VALUES (0, 0, x'');
CREATE TRIGGER frontier_grows BEFORE UPDATE ON frontier
WHEN NEW.size <= OLD.size
BEGIN SELECT RAISE(ABORT, 'the tree only grows'); END;
CREATE TRIGGER frontier_delete BEFORE DELETE ON frontier
BEGIN SELECT RAISE(ABORT, 'the frontier is never deleted'); END;
";

const CHECKPOINT: &str = "
CREATE TABLE checkpoint(
    size INTEGER PRIMARY KEY,
    note TEXT NOT NULL
) STRICT;
CREATE TRIGGER checkpoint_replace BEFORE INSERT ON checkpoint
WHEN EXISTS (SELECT 1 FROM checkpoint WHERE size = NEW.size)
BEGIN SELECT RAISE(ABORT, 'checkpoints are never replaced'); END;
CREATE TRIGGER checkpoint_update BEFORE UPDATE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'checkpoints never change'); END;
";

/// Creates all tables and stamps the format; the caller holds the transaction.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(LOG)?;
    add_proofs(connection)?;
    create_projections(connection)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)
}

/// Adds what format 2 has and format 1 had not, and stamps the format; the caller holds the transaction.
pub(crate) fn add_proofs(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TREE)?;
    connection.execute_batch(CHECKPOINT)?;
    connection.pragma_update(None, "user_version", FORMAT)
}

/// Drops and creates the tree's tables; the caller holds the transaction and fills them afterwards.
pub(crate) fn recreate_tree(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DROP TABLE tile; DROP TABLE frontier;")?;
    connection.execute_batch(TREE)
}

/// Creates the projections' tables in a database that has none.
pub(crate) fn create_projections(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(VERSION)?;
    connection.execute("INSERT INTO projections(version) VALUES (?1)", [PROJECTIONS_VERSION])?;
    rows::create_families(connection, FAMILIES)?;
    rows::finish_rebuild(connection, FAMILIES)
}

/// Drops everything that is neither log nor proof and creates the projections' tables, whatever became of them; the
/// caller holds the transaction and folds the log afterwards.
pub(crate) fn recreate_projections(connection: &Connection) -> rusqlite::Result<()> {
    let kept = [LOG_TABLES, PROOF_TABLES].concat();
    let derived = "SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'table')
        AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name";
    let mut statement = connection.prepare(derived)?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found = found.collect::<rusqlite::Result<Vec<(String, String)>>>()?;
    for (kind, name) in found.iter().filter(|(_, name)| !kept.contains(&name.as_str())) {
        let name = name.replace('"', "\"\"");
        connection.execute_batch(&format!("DROP {kind} \"{name}\""))?;
    }
    create_projections(connection)
}
