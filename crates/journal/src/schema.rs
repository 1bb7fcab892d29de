//! The tables of `journal.db`, by class: log, proofs, projections, scratch.
//!
//! Owns every `CREATE`. Invariant: log tables never migrate in place and are only appended to (triggers hold
//! that against our own mistakes); projections are dropped and folded anew when their version changes.

use rusqlite::Connection;

/// The format of the log tables, kept in `PRAGMA user_version`. An older program refuses a newer one.
pub(crate) const FORMAT: i32 = 2;

/// The format without tree and checkpoints, which a start brings up to [`FORMAT`].
pub(crate) const FORMAT_WITHOUT_TREE: i32 = 1;

/// `PRAGMA application_id`: "PLYJ".
pub(crate) const APPLICATION_ID: i32 = 0x504C_594A;

/// Version of the projections' tables and folds; another one found at start is folded anew.
pub(crate) const PROJECTIONS_VERSION: i64 = 11;

/// The log, in an order in which it can be copied.
pub(crate) const LOG_TABLES: &[&str] = &["static", "entry", "payload", "chunk"];

/// What proves the log: made from it with a key that is gone, or cheap to keep and slow to make anew.
pub(crate) const PROOF_TABLES: &[&str] = &["tile", "frontier", "checkpoint"];

/// Tables that are derived from the log.
pub(crate) const PROJECTION_TABLES: &[&str] = &[
    "kind_seen",
    "epoch",
    "principal",
    "token",
    "agent",
    "session",
    "session_reset",
    "run",
    "input_key",
    "approval",
    "stored_grant",
    "effect",
    "undo",
    "skill",
    "component",
    "posture",
    "shadow",
];

/// Tables that may be emptied at any start. None yet.
pub(crate) const SCRATCH_TABLES: &[&str] = &[];

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

// Columns marked "content" may be emptied by an erasure of the entry whose seq stands beside them.
const PROJECTIONS: &str = "
CREATE TABLE kind_seen(
    kind INTEGER NOT NULL,
    on_tape INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY(kind, on_tape)
) STRICT, WITHOUT ROWID;

CREATE TABLE epoch(
    epoch INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    key BLOB NOT NULL
) STRICT;

CREATE TABLE principal(
    principal BLOB PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,            -- content of seq
    seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE token(
    token BLOB PRIMARY KEY NOT NULL,
    principal BLOB NOT NULL,
    sha256 BLOB NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    label TEXT NOT NULL,           -- content of seq
    seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agent(
    agent BLOB PRIMARY KEY NOT NULL,
    profile BLOB NOT NULL,         -- content of seq
    archived INTEGER,
    seq INTEGER NOT NULL
) STRICT;

CREATE TABLE session(
    seq INTEGER PRIMARY KEY,
    principal BLOB NOT NULL,
    session BLOB NOT NULL,
    agent BLOB NOT NULL,
    key TEXT,                      -- content of seq
    label TEXT,                    -- content of label_seq
    label_seq INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    last_run BLOB,
    reset_at INTEGER,
    archived INTEGER,
    branch_session BLOB,
    branch_run BLOB,
    branch_run_seq INTEGER,
    branch_tape_seq INTEGER,
    branch_since INTEGER,
    UNIQUE(principal, session)
) STRICT;
CREATE UNIQUE INDEX session_key ON session(principal, key) WHERE key IS NOT NULL;

CREATE TABLE session_reset(
    principal BLOB NOT NULL,
    session BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY(principal, session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE input_key(
    principal BLOB NOT NULL,
    idempotency BLOB NOT NULL,
    run BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY(principal, idempotency)
) STRICT, WITHOUT ROWID;

CREATE TABLE run(
    seq INTEGER PRIMARY KEY,
    run BLOB NOT NULL UNIQUE,
    principal BLOB NOT NULL,
    session BLOB NOT NULL,
    agent BLOB NOT NULL,
    state INTEGER NOT NULL,
    wait INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    error INTEGER NOT NULL,
    last_tape_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    usage_source INTEGER NOT NULL,
    idempotency BLOB,
    delivery INTEGER NOT NULL,
    input_preview TEXT NOT NULL,   -- content of seq
    running INTEGER NOT NULL,
    questions INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    asked INTEGER NOT NULL,
    held INTEGER NOT NULL,
    unprepared INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX run_idempotency ON run(principal, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX run_of_principal ON run(principal);
CREATE INDEX run_of_session ON run(principal, session);
CREATE INDEX run_open ON run(principal, session) WHERE state < 2;

CREATE TABLE approval(
    seq INTEGER PRIMARY KEY,
    approval BLOB NOT NULL UNIQUE,
    run BLOB NOT NULL,
    principal BLOB NOT NULL,
    state INTEGER NOT NULL,
    voters BLOB NOT NULL,
    expires INTEGER,
    decided_seq INTEGER
) STRICT;
CREATE INDEX approval_of_run ON approval(run);
CREATE INDEX approval_of_principal ON approval(principal);
CREATE INDEX approval_pending ON approval(seq) WHERE state = 0;
CREATE INDEX approval_pending_of_principal ON approval(principal) WHERE state = 0;
CREATE INDEX approval_expiring ON approval(expires, approval) WHERE state = 0 AND expires IS NOT NULL;

CREATE TABLE stored_grant(
    seq INTEGER PRIMARY KEY,
    stored_grant BLOB NOT NULL UNIQUE,
    uses_max INTEGER,
    uses INTEGER NOT NULL,
    revoked INTEGER
) STRICT;
CREATE INDEX stored_grant_standing ON stored_grant(stored_grant)
    WHERE revoked IS NULL AND (uses_max IS NULL OR uses < uses_max);

CREATE TABLE effect(
    seq INTEGER PRIMARY KEY,
    run BLOB NOT NULL,
    effect INTEGER NOT NULL,
    session BLOB NOT NULL,
    principal BLOB NOT NULL,
    contract INTEGER NOT NULL,
    conduct INTEGER NOT NULL,
    state INTEGER NOT NULL,
    approval BLOB,
    failure INTEGER NOT NULL,
    tool TEXT NOT NULL,            -- content of seq
    started INTEGER,
    started_tape_seq INTEGER,
    started_seq INTEGER,
    ended INTEGER,
    ended_tape_seq INTEGER,
    ended_seq INTEGER,
    unprepared INTEGER NOT NULL,
    settled INTEGER,
    settled_seq INTEGER,
    job INTEGER,
    job_state INTEGER NOT NULL,
    job_settled INTEGER,
    UNIQUE(run, effect)
) STRICT;
CREATE INDEX effect_started ON effect(started_seq) WHERE started_seq IS NOT NULL;
CREATE INDEX effect_of_principal ON effect(principal, started_seq) WHERE started_seq IS NOT NULL;
CREATE INDEX effect_changing ON effect(principal, started_seq)
    WHERE started_seq IS NOT NULL AND contract <> 0;
CREATE INDEX effect_unknown ON effect(started_seq) WHERE state = 4 OR (job_state = 3 AND state = 2);
CREATE INDEX effect_open_job ON effect(started_seq) WHERE job_state = 1;
CREATE INDEX effect_job ON effect(job) WHERE job IS NOT NULL;

CREATE TABLE undo(
    seq INTEGER PRIMARY KEY,
    undo BLOB NOT NULL,
    run BLOB NOT NULL,
    finished INTEGER NOT NULL
) STRICT;
CREATE INDEX undo_of_id ON undo(undo, finished);
CREATE INDEX undo_of_run ON undo(run);

CREATE TABLE skill(
    seq INTEGER PRIMARY KEY,
    skill BLOB NOT NULL UNIQUE,
    agents BLOB NOT NULL,
    quarantined_seq INTEGER,
    removed INTEGER
) STRICT;

CREATE TABLE component(
    seq INTEGER PRIMARY KEY,
    component BLOB NOT NULL UNIQUE,
    removed INTEGER
) STRICT;

CREATE TABLE posture(
    seq INTEGER PRIMARY KEY,
    ended_seq INTEGER
) STRICT;
CREATE INDEX posture_standing ON posture(seq) WHERE ended_seq IS NULL;

CREATE TABLE shadow(
    candidate BLOB PRIMARY KEY NOT NULL,
    seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Creates all tables and stamps the format; the caller holds the transaction.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(LOG)?;
    connection.execute_batch(TREE)?;
    connection.execute_batch(CHECKPOINT)?;
    create_projections(connection)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)
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
    connection.execute_batch(PROJECTIONS)
}

/// Drops everything that is neither log nor proof and creates the projections' tables, whatever became of them; the
/// caller holds the transaction and folds the log afterwards.
pub(crate) fn recreate_projections(connection: &Connection) -> rusqlite::Result<()> {
    let kept = [LOG_TABLES, PROOF_TABLES, SCRATCH_TABLES].concat();
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
