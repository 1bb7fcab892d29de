//! STATE/keys.db: the wrapped keys of principals, and how many texts each may still seal.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use palyra_ports::Entropy;
use palyra_types::PrincipalId;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::cipher::{KEY_BYTES, Key, wrap_bound_to};
use super::root::RootKey;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS subject_key(
    key_id INTEGER PRIMARY KEY AUTOINCREMENT,
    principal BLOB NOT NULL,
    wrapped BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS key_use(
    key_id INTEGER PRIMARY KEY,
    messages INTEGER NOT NULL
) STRICT;
";

/// Texts that one key seals, at most; random nonces allow 2^32.
pub(super) const KEY_MESSAGES_MAX: i64 = 1 << 31;
/// Texts that are counted at once, before the first of them is sealed.
pub(super) const MESSAGES_RESERVED: i64 = 1 << 20;

/// A key as it is used.
pub(super) struct SubjectKey {
    pub(super) id: i64,
    pub(super) key: Key,
}

/// The file of keys.
pub(super) struct KeysDb {
    connection: Connection,
}

pub(super) fn path(database: &Path) -> PathBuf {
    database.with_file_name("keys.db")
}

impl KeysDb {
    /// Opens the file for writing; makes it when it is missing.
    pub(super) fn open(database: &Path) -> rusqlite::Result<Self> {
        let path = path(database);
        create_private(&path).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let connection = Connection::open(&path)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "EXTRA")?;
        connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
        connection.execute_batch(TABLES)?;
        Ok(Self { connection })
    }

    /// Opens the file to read from it; `None` where there is none.
    pub(super) fn open_to_read(database: &Path) -> Option<Self> {
        let connection =
            Connection::open_with_flags(path(database), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        Some(Self { connection })
    }

    /// Returns a key, unwrapped by the first root that does.
    pub(super) fn load(&self, key_id: i64, roots: &[RootKey]) -> rusqlite::Result<Option<Key>> {
        let sql = "SELECT principal, wrapped FROM subject_key WHERE key_id = ?1";
        let found =
            self.connection.query_row(sql, [key_id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((principal, wrapped)): Option<([u8; 16], Vec<u8>)> = found else { return Ok(None) };
        let bound_to = wrap_bound_to(key_id, PrincipalId::from_bytes(principal));
        Ok(roots.iter().find_map(|root| unwrap(root, &bound_to, &wrapped)).map(|key| Key::new(&key)))
    }

    /// Returns whether a root wraps the keys; `None` where there are none.
    pub(super) fn is_wrapped_by(&self, root: &RootKey) -> rusqlite::Result<Option<bool>> {
        let sql = "SELECT key_id FROM subject_key LIMIT 1";
        let any = self.connection.query_row(sql, [], |row| row.get(0)).optional()?;
        match any {
            None => Ok(None),
            Some(key_id) => Ok(Some(self.load(key_id, &[*root])?.is_some())),
        }
    }

    /// Returns the principal's newest key that is not worn out, or makes one; counts the texts it may seal now.
    pub(super) fn take(
        &mut self,
        principal: PrincipalId,
        root: &RootKey,
        entropy: &dyn Entropy,
    ) -> rusqlite::Result<SubjectKey> {
        let transaction = self.connection.transaction()?;
        let sql = "SELECT k.key_id, k.wrapped FROM subject_key k JOIN key_use u ON u.key_id = k.key_id
            WHERE k.principal = ?1 AND u.messages + ?2 <= ?3 ORDER BY k.key_id DESC LIMIT 1";
        let values = (principal.to_bytes(), MESSAGES_RESERVED, KEY_MESSAGES_MAX);
        let found = transaction.query_row(sql, values, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let known: Option<(i64, Vec<u8>)> = found;
        let known = known
            .and_then(|(id, wrapped)| Some((id, unwrap(root, &wrap_bound_to(id, principal), &wrapped)?)));
        let (id, bytes) = match known {
            Some(known) => known,
            None => {
                let mut bytes = [0; KEY_BYTES];
                entropy.fill(&mut bytes);
                let insert = "INSERT INTO subject_key(principal, wrapped) VALUES (?1, x'')";
                transaction.execute(insert, [principal.to_bytes()])?;
                let id = transaction.last_insert_rowid();
                let wrapped = Key::new(root).seal(entropy, &wrap_bound_to(id, principal), &bytes);
                transaction
                    .execute("UPDATE subject_key SET wrapped = ?2 WHERE key_id = ?1", (id, wrapped))?;
                transaction.execute("INSERT INTO key_use(key_id, messages) VALUES (?1, 0)", [id])?;
                (id, bytes)
            }
        };
        let count = "UPDATE key_use SET messages = messages + ?2 WHERE key_id = ?1";
        transaction.execute(count, (id, MESSAGES_RESERVED))?;
        transaction.commit()?;
        Ok(SubjectKey { id, key: Key::new(&bytes) })
    }

    /// Destroys the keys that are not in use, and wraps the others anew.
    pub(super) fn rewrap(
        &mut self,
        used: &[i64],
        old: &RootKey,
        new: &RootKey,
        entropy: &dyn Entropy,
    ) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for (id, principal, wrapped) in all_wrapped(&transaction)? {
            let bound_to = wrap_bound_to(id, PrincipalId::from_bytes(principal));
            match unwrap(old, &bound_to, &wrapped).filter(|_| used.contains(&id)) {
                Some(bytes) => {
                    let wrapped = Key::new(new).seal(entropy, &bound_to, &bytes);
                    transaction
                        .execute("UPDATE subject_key SET wrapped = ?2 WHERE key_id = ?1", (id, wrapped))?;
                }
                None => {
                    transaction.execute("DELETE FROM subject_key WHERE key_id = ?1", [id])?;
                    transaction.execute("DELETE FROM key_use WHERE key_id = ?1", [id])?;
                }
            }
        }
        transaction.commit()
    }

    #[cfg(test)]
    pub(super) fn ids(&self) -> Vec<i64> {
        let mut statement =
            self.connection.prepare("SELECT key_id FROM subject_key ORDER BY key_id").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[cfg(test)]
    pub(super) fn wear_out(&self, key_id: i64) {
        let sql = "UPDATE key_use SET messages = ?2 WHERE key_id = ?1";
        self.connection.execute(sql, (key_id, KEY_MESSAGES_MAX)).unwrap();
    }
}

/// A key as it lies in the file: its number, whose it is, and itself, wrapped.
type WrappedKey = (i64, [u8; 16], Vec<u8>);

fn all_wrapped(connection: &Connection) -> rusqlite::Result<Vec<WrappedKey>> {
    let mut rows = connection.prepare("SELECT key_id, principal, wrapped FROM subject_key")?;
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

fn unwrap(root: &RootKey, bound_to: &[u8], wrapped: &[u8]) -> Option<[u8; KEY_BYTES]> {
    Key::new(root).open(bound_to, wrapped)?.try_into().ok()
}

/// Makes a file that only we can read; SQLite gives its rollback journal the same mode.
fn create_private(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map(drop)
}
