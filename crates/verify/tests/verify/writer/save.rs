//! A log as the tables of a file.
//!
//! Owns the schema and the sealing. Begin at [`Log::save`].

use std::path::Path;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rusqlite::{Connection, params};

use super::Log;
use super::log::{FILE, PART, Payload, leaf, root};

const TABLES: &str = "
    PRAGMA application_id = 0x504C594A;
    CREATE TABLE entry(seq INTEGER PRIMARY KEY, envelope BLOB NOT NULL, run_id BLOB, tape_seq INTEGER,
        kind INTEGER NOT NULL, UNIQUE(run_id, tape_seq)) STRICT;
    CREATE TABLE payload(seq INTEGER PRIMARY KEY, key_id INTEGER NOT NULL, sealed BLOB NOT NULL) STRICT;
    CREATE TABLE chunk(seq INTEGER NOT NULL, n INTEGER NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY(seq, n)) STRICT;
    CREATE TABLE static(hash BLOB PRIMARY KEY NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE TABLE session(id BLOB PRIMARY KEY, label TEXT);
    INSERT INTO session VALUES (x'01', 'one'), (x'02', 'two');";

const TABLES_OF_FORMAT_2: &str = "
    CREATE TABLE tile(level INTEGER NOT NULL, \"index\" INTEGER NOT NULL, hashes BLOB NOT NULL,
        PRIMARY KEY(level, \"index\")) STRICT;
    CREATE TABLE frontier(id INTEGER PRIMARY KEY, size INTEGER NOT NULL, hashes BLOB NOT NULL) STRICT;
    CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;";

const TILES_WITHOUT_ROWID: &str = "
    DROP TABLE tile;
    CREATE TABLE tile(level INTEGER NOT NULL, \"index\" INTEGER NOT NULL, hashes BLOB NOT NULL,
        PRIMARY KEY(level, \"index\")) STRICT, WITHOUT ROWID;";

/// A content row: its number (`u64::MAX` for the payload row) and its bytes.
pub(crate) type Content = (u64, Vec<u8>);
/// All rows of one entry's content.
pub(crate) type Rows = Vec<Content>;

impl Log {
    /// Saves the log as a database that no daemon holds.
    pub(crate) fn save(&self, path: &Path) {
        let _ = std::fs::remove_file(path);
        let mut connection = Connection::open(path).expect("a new file");
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;").expect("pragmas");
        let transaction = connection.transaction().expect("begins");
        self.write(&transaction).expect("fits the tables");
        transaction.commit().expect("commits");
    }

    fn write(&self, to: &Connection) -> rusqlite::Result<()> {
        to.execute_batch(TABLES)?;
        to.execute_batch(&format!("PRAGMA user_version = {}", self.format))?;
        let mut entry = to.prepare("INSERT INTO entry VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let mut payload = to.prepare("INSERT INTO payload VALUES (?1, ?2, ?3)")?;
        let mut chunk = to.prepare("INSERT INTO chunk VALUES (?1, ?2, ?3)")?;
        for (seq, it) in (0_i64..).zip(&self.entries) {
            let run = &it.envelope[72..88];
            let tape_seq = u32::from_be_bytes(it.envelope[88..92].try_into().expect("four"));
            let has_run = run.iter().any(|byte| *byte > 0);
            let columns = (has_run.then_some(run), (tape_seq > 0).then_some(tape_seq));
            entry.execute(params![seq, it.envelope, columns.0, columns.1, self.kind(seq as u64)])?;
            for (n, bytes) in it.payload.iter().flat_map(|payload| self.rows(seq as u64, payload)) {
                match (n, &it.payload) {
                    (u64::MAX, Some(of)) => payload.execute(params![seq, of.key_id, bytes])?,
                    (n, _) => chunk.execute(params![seq, n as i64, bytes])?,
                };
            }
        }
        for body in &self.statics {
            let hash = super::log::sha256(&[body.as_bytes()]);
            to.execute("INSERT INTO static VALUES (?1, ?2)", params![hash, body])?;
        }
        if self.format > 1 { self.write_proofs(to) } else { Ok(()) }
    }

    fn write_proofs(&self, to: &Connection) -> rusqlite::Result<()> {
        to.execute_batch(TABLES_OF_FORMAT_2)?;
        if self.entries.len().is_multiple_of(2) {
            // Both are good; the daemon's is this one.
            to.execute_batch(TILES_WITHOUT_ROWID)?;
        }
        let mut hashes: Vec<[u8; 32]> = self.entries.iter().map(|entry| leaf(&entry.envelope)).collect();
        let size = hashes.len() as u64;
        let edge = frontier(&hashes);
        to.execute("INSERT INTO frontier VALUES (0, ?1, ?2)", params![size as i64, edge])?;
        for level in 0_i64.. {
            let full = hashes.chunks_exact(256);
            for (index, tile) in (0_i64..).zip(full.clone()) {
                to.execute("INSERT INTO tile VALUES (?1, ?2, ?3)", params![level, index, tile.concat()])?;
            }
            hashes = full.map(root).collect();
            if hashes.is_empty() {
                break;
            }
        }
        for (size, signed) in &self.checkpoints {
            to.execute("INSERT INTO checkpoint VALUES (?1, ?2)", params![*size as i64, signed.note])?;
        }
        Ok(())
    }

    /// Returns the content rows of an entry, sealed where it is.
    pub(crate) fn rows(&self, seq: u64, payload: &Payload) -> Rows {
        let mut rows = Vec::new();
        if payload.in_chunks {
            rows.push((u64::MAX, payload.salt.to_vec()));
            rows.extend((1..).zip(payload.bytes.chunks(PART).map(<[u8]>::to_vec)));
        } else {
            rows.push((u64::MAX, [&payload.salt[..], &payload.bytes].concat()));
        }
        for (i, file) in (1..).zip(&payload.files) {
            rows.extend((i * FILE..).zip(file.chunks(PART).map(<[u8]>::to_vec)));
        }
        if let Some(key) = self.subject_keys.get(&payload.key_id) {
            let log_id = &self.entries[seq as usize].envelope[24..40];
            for (n, bytes) in &mut rows {
                let data = [b"palyra/seal/v1\n", log_id, &seq.to_be_bytes(), &n.to_be_bytes()].concat();
                *bytes = seal(key, &data, bytes, *n as u8);
            }
        }
        rows
    }

    /// Saves the keys of sealed payloads as a state directory has them.
    pub(crate) fn save_keys(&self, state: &Path) {
        std::fs::create_dir_all(state.join("keys")).expect("a folder");
        let root = [0x5A; 32];
        let digits: String = root.iter().map(|byte| format!("{byte:02x}")).collect();
        std::fs::write(state.join("keys/root.key"), digits).expect("a file");
        let _ = std::fs::remove_file(state.join("keys.db"));
        let to = Connection::open(state.join("keys.db")).expect("a new file");
        to.execute_batch("PRAGMA synchronous = OFF; CREATE TABLE subject_key(key_id INTEGER PRIMARY KEY, principal BLOB, wrapped BLOB)")
            .expect("a table");
        for (key_id, key) in &self.subject_keys {
            let principal = [7; 16];
            let data = [&b"palyra/subject-key/v1\n"[..], &key_id.to_be_bytes(), &principal].concat();
            let row = params![key_id, principal, seal(&root, &data, key, 1)];
            to.execute("INSERT INTO subject_key VALUES (?1, ?2, ?3)", row).expect("a row");
        }
    }
}

/// Returns the roots of the perfect subtrees, largest first, one after the other.
pub(crate) fn frontier(leaves: &[[u8; 32]]) -> Vec<u8> {
    let mut rest = leaves;
    let mut edge = Vec::new();
    while !rest.is_empty() {
        let (subtree, after) = rest.split_at(1 << rest.len().ilog2());
        edge.extend(root(subtree));
        rest = after;
    }
    edge
}

fn seal(key: &[u8; 32], data: &[u8], plain: &[u8], nonce: u8) -> Vec<u8> {
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("32 bytes"));
    let mut sealed = plain.to_vec();
    let nonce = [nonce; 12];
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(data), &mut sealed)
        .expect("seals");
    [&nonce[..], &sealed].concat()
}
