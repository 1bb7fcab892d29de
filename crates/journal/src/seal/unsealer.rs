//! Opening sealed columns, inside of the statements that read them.
//!
//! Every connection has its own few keys, read when they are first needed. A text that does not open is NULL: whoever
//! reads it knows the entry and says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use palyra_types::{LogId, Seq};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Result};

use super::cipher::{Key, SealPlace};
use super::keys_db::KeysDb;
use super::root::RootFiles;

/// Keys held by one connection, at most.
const KEYS_HELD_MAX: usize = 1_024;

/// Writes SQL that reads the column `sealed` of a table `row`, part `n` of an entry `e` with payload `p`.
pub(crate) fn unseal_column(row: &str, n: &str) -> String {
    format!(
        "CASE WHEN p.key_id > 0 THEN unseal(p.key_id, {row}.sealed, substr(e.envelope, 25, 16), e.seq, {n}) \
         ELSE {row}.sealed END"
    )
}

/// Adds `unseal(key_id, sealed, log_id, seq, n)` to a connection; `n` is -1 for the payload's own row.
pub(crate) fn add_unseal(connection: &Connection, database: &Path) -> Result<()> {
    let keys = SubjectKeys { database: database.to_owned(), held: Mutex::default() };
    let flags = FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("unseal", 5, flags, move |context| Ok(keys.unseal(context)))
}

struct SubjectKeys {
    database: PathBuf,
    held: Mutex<BTreeMap<i64, Key>>,
}

impl SubjectKeys {
    fn unseal(&self, context: &Context<'_>) -> Option<Vec<u8>> {
        let key_id: i64 = context.get(0).ok()?;
        let sealed = context.get_raw(1).as_blob().ok()?;
        let place = SealPlace {
            log_id: LogId(context.get(2).ok()?),
            seq: Seq(context.get::<i64>(3).ok()?.cast_unsigned()),
            chunk: u64::try_from(context.get::<i64>(4).ok()?).ok(),
        };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.contains_key(&key_id) {
            let key = self.load(key_id)?;
            if held.len() >= KEYS_HELD_MAX {
                held.clear();
            }
            held.insert(key_id, key);
        }
        held.get(&key_id)?.open(&place.bound_to(), sealed)
    }

    fn load(&self, key_id: i64) -> Option<Key> {
        let files = RootFiles::beside(&self.database);
        let roots = [files.present().ok()?, files.next().ok()?];
        let roots: Vec<_> = roots.into_iter().flatten().collect();
        KeysDb::open_to_read(&self.database)?.load(key_id, &roots).ok()?
    }
}
