//! The manifest: what a backup holds, and of which journal.
//!
//! Owns its form and which names of files it may have. What it names was written by another: nothing of it is used before
//! [`BackupManifest::parse`] has accepted all of it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The file in the folder of a backup.
pub const MANIFEST_FILE_NAME: &str = "manifest.json";

/// The form of backups that this version makes and reads.
pub const BACKUP_FORMAT: u32 = 1;

/// The file of the journal.
pub(crate) const JOURNAL_FILE_NAME: &str = "journal.db";

/// The first part of the names of files of the state directory.
pub(crate) const STATE_FOLDER: &str = "state";
/// The first part of the names of files of the configuration.
pub(crate) const CONFIG_FOLDER: &str = "config";

/// Names at the top of a state directory that a backup may hold.
pub(crate) const STATE_NAMES: [&str; 8] =
    ["chat_history", "components", "keys", "keys.db", "kept-aside", "skills", "vault", "workspaces"];

/// Size of a manifest, at most.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Files of a backup, at most.
pub(crate) const FILES_MAX: usize = 400_000;
/// Folders within folders, at most.
pub(crate) const DEPTH_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 4_096;
const KIND: &str = "palyra-backup";

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupManifest {
    kind: String,
    format: u32,
    /// When it was made: RFC 3339, UTC.
    pub created: String,
    /// The same in microseconds.
    pub created_unix_us: i64,
    /// The version of the program that made it.
    pub program_version: String,
    /// The id of the journal's log.
    pub log: String,
    /// Entries of the journal.
    pub entries: u64,
    /// The newest signed head in the copy: a note as in docs/journal-format.md, section 4.
    pub checkpoint: Option<String>,
    /// What opens the vault.
    pub vault_key: VaultKeyState,
    /// Whether the journal has sealed payloads whose root key is not in the backup.
    pub seal_key_left_out: bool,
    /// Names in the state directory that are not in the backup, because they are not files.
    pub left_out: Vec<String>,
    /// Its files.
    pub files: Vec<BackedUpFile>,
}

/// What opens the secrets of the vault in a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VaultKeyState {
    /// There are no secrets.
    NoSecrets,
    /// The passphrase, which is in no backup.
    Passphrase,
    /// A key file that is not in the backup.
    KeyFileLeftOut,
    /// A key file that is in the backup.
    KeyFileIncluded,
}

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackedUpFile {
    /// Its name below the folder of the backup, with `/` between its parts.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its permissions.
    pub mode: u32,
    /// SHA-256 of its content in hexadecimal.
    pub sha256: String,
}

/// Why a text is not a manifest.
#[derive(Debug, thiserror::Error)]
pub enum InvalidManifest {
    /// It cannot be read.
    #[error("its manifest cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of something else.
    #[error("its manifest is not one of a backup")]
    OtherKind,
    /// A newer version made it.
    #[error("its format is {0}, and this version reads format {BACKUP_FORMAT}")]
    OtherFormat(u32),
    /// A file has a name or a digest that a backup does not have.
    #[error("its manifest names a file {name:?} that a backup cannot have: {why}")]
    File {
        /// The name.
        name: String,
        /// What does not fit.
        why: &'static str,
    },
    /// It has too many files, or the sum of their sizes is not a number.
    #[error("its manifest names too much: {0}")]
    TooMuch(&'static str),
    /// It names no journal.
    #[error("its manifest names no {JOURNAL_FILE_NAME}")]
    NoJournal,
}

impl BackupManifest {
    /// Makes the manifest of an empty backup.
    pub(crate) fn new(created_unix_us: i64, program_version: &str) -> Self {
        let created = jiff::Timestamp::from_microsecond(created_unix_us).map(|time| time.to_string());
        Self {
            kind: KIND.to_owned(),
            format: BACKUP_FORMAT,
            created: created.unwrap_or_default(),
            created_unix_us,
            program_version: program_version.to_owned(),
            log: String::new(),
            entries: 0,
            checkpoint: None,
            vault_key: VaultKeyState::NoSecrets,
            seal_key_left_out: false,
            left_out: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Reads a manifest and checks every name and number in it.
    ///
    /// # Errors
    /// [`InvalidManifest`].
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidManifest> {
        #[derive(Deserialize)]
        struct ManifestForm {
            kind: String,
            format: u32,
        }
        let form: ManifestForm = serde_json::from_slice(bytes)?;
        if form.kind != KIND {
            return Err(InvalidManifest::OtherKind);
        }
        if form.format != BACKUP_FORMAT {
            return Err(InvalidManifest::OtherFormat(form.format));
        }
        let manifest: Self = serde_json::from_slice(bytes)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Returns the text of the manifest.
    ///
    /// # Errors
    /// [`InvalidManifest`] where it names what it could not be read with.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, InvalidManifest> {
        self.check()?;
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Returns the bytes of all files.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    fn check(&self) -> Result<(), InvalidManifest> {
        if self.files.len() > FILES_MAX {
            return Err(InvalidManifest::TooMuch("files"));
        }
        let mut names = BTreeSet::new();
        let mut bytes: u64 = 0;
        for file in &self.files {
            let invalid = |why| InvalidManifest::File { name: shortened(&file.name), why };
            check_name(&file.name).map_err(invalid)?;
            if file.sha256.len() != 64
                || !file.sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            {
                return Err(invalid("its digest is not SHA-256 in hexadecimal"));
            }
            if file.mode > 0o777 {
                return Err(invalid("it has more than permissions"));
            }
            if !names.insert(file.name.as_str()) {
                return Err(invalid("it is named twice"));
            }
            bytes = bytes.checked_add(file.bytes).ok_or(InvalidManifest::TooMuch("bytes"))?;
        }
        if !names.contains(JOURNAL_FILE_NAME) {
            return Err(InvalidManifest::NoJournal);
        }
        Ok(())
    }
}

/// Checks that a name leads to a place within a backup that a backup has.
fn check_name(name: &str) -> Result<(), &'static str> {
    if name.len() > NAME_BYTES_MAX {
        return Err("it is too long");
    }
    if name.contains('\0') {
        return Err("it has a zero byte");
    }
    let parts: Vec<&str> = name.split('/').collect();
    if parts.len() > DEPTH_MAX {
        return Err("it is in too many folders");
    }
    if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        return Err("it does not stay below the folder");
    }
    match parts.as_slice() {
        [JOURNAL_FILE_NAME] => Ok(()),
        [STATE_FOLDER, top, ..] if STATE_NAMES.contains(top) => Ok(()),
        [CONFIG_FOLDER, _, ..] => Ok(()),
        _ => Err("no backup has a file there"),
    }
}

fn shortened(name: &str) -> String {
    name.chars().take(100).collect()
}

/// Returns a digest in hexadecimal.
pub(crate) fn hex(digest: Sha256) -> String {
    use std::fmt::Write as _;
    digest.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
