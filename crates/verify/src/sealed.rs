//! Keys of sealed payloads, and opening what they seal.
//!
//! Owns docs/journal-format.md, section 6. Reads keys only to open payloads; writes nothing, prints nothing.

use std::io::ErrorKind::NotFound;
use std::path::Path;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use rusqlite::OptionalExtension as _;

use crate::digest::{self, LogId};
use crate::read_only::{self, ReadOnly};

const SEAL_DOMAIN: &[u8] = b"palyra/seal/v1\n";
const SUBJECT_DOMAIN: &[u8] = b"palyra/subject-key/v1\n";
/// The number that stands for the payload row itself.
pub(crate) const PAYLOAD_ROW: u64 = u64::MAX;

/// Why keys could not be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenKeysError {
    /// `keys/root.key` is not there, or not 64 hex digits.
    #[error("could not read the root key in keys/root.key")]
    Root,
    /// `keys.db` is not there, or no such database.
    #[error("could not read keys.db: {0}")]
    Database(String),
}

/// The keys below a daemon's state directory.
pub struct StateKeys {
    /// `None` where nothing was ever sealed.
    stored: Option<StoredKeys>,
    last: Option<(i64, Option<LessSafeKey>)>,
}

/// Wrapped keys with what unwraps them.
struct StoredKeys {
    database: ReadOnly,
    root: LessSafeKey,
}

impl StateKeys {
    /// Opens the keys of the state directory `state`. In one without `keys.db` nothing was ever sealed, so no
    /// payload may be marked as sealed.
    ///
    /// # Errors
    /// Where `state` is not a folder, or either of its two files cannot be read.
    pub fn open(state: &Path) -> Result<Self, OpenKeysError> {
        let file = state.join("keys.db");
        if state.is_dir() && std::fs::symlink_metadata(&file).is_err_and(|error| error.kind() == NotFound) {
            return Ok(Self { stored: None, last: None });
        }
        let text = std::fs::read_to_string(state.join("keys/root.key")).map_err(|_| OpenKeysError::Root)?;
        let root = digest::unhex(text.trim()).and_then(|bytes| key(&bytes)).ok_or(OpenKeysError::Root)?;
        let database = read_only::open(&file).map_err(|error| OpenKeysError::Database(error.to_string()))?;
        Ok(Self { stored: Some(StoredKeys { database, root }), last: None })
    }

    /// Returns the key of this number; `None` where it is gone or not to be opened.
    pub(crate) fn get(&mut self, key_id: i64) -> Option<&LessSafeKey> {
        if self.last.as_ref().is_none_or(|(id, _)| *id != key_id) {
            self.last = Some((key_id, self.read(key_id)));
        }
        self.last.as_ref().and_then(|(_, key)| key.as_ref())
    }

    fn read(&self, key_id: i64) -> Option<LessSafeKey> {
        let StoredKeys { database, root } = self.stored.as_ref()?;
        let sql = "SELECT principal, wrapped FROM subject_key WHERE key_id = ?1";
        let row = database.connection().query_row(sql, [key_id], |row| {
            Ok((row.get_ref(0)?.as_blob().map(<[u8]>::to_vec), row.get_ref(1)?.as_blob().map(<[u8]>::to_vec)))
        });
        let (Ok(principal), Ok(wrapped)) = row.optional().ok()?? else { return None };
        let data = [SUBJECT_DOMAIN, &key_id.to_be_bytes(), &principal].concat();
        key(&open(root, &data, &wrapped)?)
    }
}

/// Opens row `n` of the entry `seq`.
pub(crate) fn open_row(
    key: &LessSafeKey,
    log_id: &LogId,
    seq: u64,
    n: u64,
    sealed: &[u8],
) -> Option<Vec<u8>> {
    open(key, &[SEAL_DOMAIN, log_id, &seq.to_be_bytes(), &n.to_be_bytes()].concat(), sealed)
}

fn open(key: &LessSafeKey, data: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
    let mut sealed = sealed.to_vec();
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = key.open_in_place(nonce, Aad::from(data), &mut sealed).ok()?.len();
    sealed.truncate(opened);
    Some(sealed)
}

fn key(bytes: &[u8]) -> Option<LessSafeKey> {
    UnboundKey::new(&AES_256_GCM, bytes).ok().map(LessSafeKey::new)
}
