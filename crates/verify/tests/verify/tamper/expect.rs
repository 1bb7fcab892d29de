//! What a verifier has to answer.

use std::path::{Path, PathBuf};

use palyra_verify::VerifyReport;

/// A broken file with the question and the answer.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) key: Option<String>,
    pub(crate) since: Option<String>,
    pub(crate) codes: Vec<u8>,
    pub(crate) seq: Seq,
}

/// Which entry has to be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seq {
    /// This one.
    Is(u64),
    /// None.
    None,
    /// This one or an earlier one, where one change breaks several things.
    AtMost(u64),
    /// Any.
    Any,
}

impl Case {
    /// Asks without key and kept checkpoint.
    pub(crate) fn plain(code: u8, seq: u64) -> Self {
        Self { key: None, since: None, codes: vec![code], seq: Seq::Is(seq) }
    }

    pub(crate) fn any(codes: &[u8], seq: Seq) -> Self {
        Self { key: None, since: None, codes: codes.to_vec(), seq }
    }

    pub(crate) fn fits(&self, report: &VerifyReport) -> bool {
        let seq = report.fault.as_ref().and_then(|fault| fault.seq);
        let named = match self.seq {
            Seq::Is(expected) => seq == Some(expected),
            Seq::None => seq.is_none(),
            Seq::AtMost(most) => seq.is_some_and(|seq| seq <= most),
            Seq::Any => true,
        };
        self.codes.contains(&report.exit_code()) && named
    }
}

/// A folder to break things in.
pub(crate) struct TamperFolder {
    pub(crate) folder: PathBuf,
}

impl TamperFolder {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.join("journal.db")
    }

    pub(crate) fn bundle(&self) -> PathBuf {
        self.folder.join("bundle")
    }
}

/// Opens the file to break it, without what keeps others from doing so.
pub(crate) fn open(path: &Path) -> rusqlite::Connection {
    let to = rusqlite::Connection::open(path).expect("a database");
    to.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;").expect("pragmas");
    let triggers: Vec<String> = to
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        .and_then(|mut find| find.query_map([], |row| row.get(0))?.collect())
        .expect("a schema");
    for trigger in triggers {
        to.execute_batch(&format!("DROP TRIGGER \"{trigger}\"")).expect("a trigger");
    }
    to
}

/// Returns a blob of a row.
pub(crate) fn blob(of: &rusqlite::Connection, sql: &str, key: (i64, i64)) -> Vec<u8> {
    of.query_row(sql, key, |row| row.get(0)).expect("a row")
}
