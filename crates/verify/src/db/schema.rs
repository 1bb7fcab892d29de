//! Whether the tables are what the format says.
//!
//! Owns the list of docs/journal-format.md, section 1, with columns and keys. Everything that is ordered later is
//! ordered by a key that is checked here, so nothing has to be sorted.

use rusqlite::Connection;

const APPLICATION_ID: i64 = 0x504C_594A;

/// A column as `PRAGMA table_xinfo` tells it: name and place in the primary key.
type TableColumn = (&'static str, i64);

const TABLES: [(&str, &[TableColumn]); 4] = [
    ("entry", &[("seq", 1), ("envelope", 0), ("run_id", 0), ("tape_seq", 0), ("kind", 0)]),
    ("payload", &[("seq", 1), ("key_id", 0), ("sealed", 0)]),
    ("chunk", &[("seq", 1), ("n", 2), ("sealed", 0)]),
    ("static", &[("hash", 1), ("body", 0)]),
];

const TABLES_OF_FORMAT_2: [(&str, &[TableColumn]); 3] = [
    ("tile", &[("level", 1), ("index", 2), ("hashes", 0)]),
    ("frontier", &[("id", 1), ("size", 0), ("hashes", 0)]),
    ("checkpoint", &[("size", 1), ("note", 0)]),
];

/// What is known of a file whose tables are in shape.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) format: u32,
    /// The index over `entry(run_id, tape_seq)`.
    pub(super) by_run: String,
    /// The index over `chunk(seq, n)`.
    pub(super) by_part: String,
    /// The index over `tile(level, index)`, where that is not the table itself.
    pub(super) by_tile: Option<String>,
}

/// Reads the schema; an error says what is out of shape.
pub(super) fn read(connection: &Connection) -> Result<Schema, String> {
    let unreadable = |error: rusqlite::Error| format!("it is not a database that can be read: {error}");
    let pragma = |name: &str| {
        connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).map_err(unreadable)
    };
    if pragma("application_id")? != APPLICATION_ID {
        return Err("it is not a journal: another application_id".to_owned());
    }
    let encoding: String =
        connection.query_row("PRAGMA encoding", [], |row| row.get(0)).map_err(unreadable)?;
    if encoding != "UTF-8" {
        return Err(format!("its text is in {encoding}"));
    }
    let format = match pragma("user_version")? {
        1 => 1,
        2 => 2,
        other => return Err(format!("it is of format {other}; this program reads 1 and 2")),
    };
    for (table, columns) in TABLES.iter().chain(TABLES_OF_FORMAT_2.iter().filter(|_| format == 2)) {
        check_table(connection, table, columns).map_err(|what| format!("table `{table}` {what}"))?;
    }
    if format == 1 {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE name IN ('tile', 'frontier', 'checkpoint')";
        let proofs: i64 = connection.query_row(sql, [], |row| row.get(0)).map_err(unreadable)?;
        if proofs > 0 {
            return Err("it says format 1, and has the proofs of format 2".to_owned());
        }
    }
    let index = |table, columns| {
        find_index(connection, table, columns)
            .ok_or_else(|| format!("table `{table}` has no unique index over {columns:?}"))
    };
    // Without rowid the table is its own index.
    let sql = "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND name = 'tile' AND wr = 0";
    let indexed: i64 = connection.query_row(sql, [], |row| row.get(0)).map_err(unreadable)?;
    let by_tile = (format > 1 && indexed > 0).then(|| index("tile", ["level", "index"])).transpose()?;
    let (by_run, by_part) = (index("entry", ["run_id", "tape_seq"])?, index("chunk", ["seq", "n"])?);
    Ok(Schema { format, by_run, by_part, by_tile })
}

fn check_table(connection: &Connection, table: &str, columns: &[TableColumn]) -> Result<(), String> {
    let unreadable = |error: rusqlite::Error| format!("cannot be read: {error}");
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND rootpage > 1";
    let there: i64 = connection.query_row(sql, [table], |row| row.get(0)).map_err(unreadable)?;
    if there != 1 {
        return Err("is missing or not a table".to_owned());
    }
    let mut statement = connection
        .prepare("SELECT name, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid")
        .map_err(unreadable)?;
    let mut rows = statement.query([table]).map_err(unreadable)?;
    let mut expected = columns.iter();
    while let Some(row) = rows.next().map_err(unreadable)? {
        let (name, key, hidden): (String, i64, i64) = (
            row.get(0).map_err(unreadable)?,
            row.get(1).map_err(unreadable)?,
            row.get(2).map_err(unreadable)?,
        );
        if expected.next() != Some(&(name.as_str(), key)) || hidden != 0 {
            return Err(format!("has an unexpected column `{name}`"));
        }
    }
    if expected.next().is_some() { Err("lacks a column".to_owned()) } else { Ok(()) }
}

/// Returns the index that SQLite made for a UNIQUE or PRIMARY KEY over exactly these columns, ascending.
fn find_index(connection: &Connection, table: &str, columns: [&str; 2]) -> Option<String> {
    let sql = "SELECT i.name FROM pragma_index_list(?1) AS i WHERE i.\"unique\" = 1 AND i.partial = 0
               AND i.name GLOB 'sqlite_autoindex_*'
               AND (SELECT count(*) FROM pragma_index_xinfo(i.name) AS x WHERE x.key = 1) = 2
               AND (SELECT count(*) FROM pragma_index_xinfo(i.name) AS x
                    WHERE x.key = 1 AND x.\"desc\" = 0 AND x.coll = 'BINARY'
                    AND x.name = CASE x.seqno WHEN 0 THEN ?2 ELSE ?3 END) = 2";
    connection.query_row(sql, [table, columns[0], columns[1]], |row| row.get(0)).ok()
}
