//! The files of the epochs' signing keys: STATE/keys/epoch-N.key, readable by the daemon alone.
//!
//! Owns their spelling, and their end: overwritten, then removed. Knows nobody who vouches for them.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_ledger::EpochKey;
use palyra_ports::{Clock, Entropy};
use palyra_types::Epoch;

use crate::quarantine::{overwrite, sync_folder};

const KEYS_FOLDER_NAME: &str = "keys";

/// Size of a key's file, at most; ours have 65 bytes.
const KEY_FILE_BYTES_MAX: usize = 4_096;

/// Holds the space of the next key, so that a start on a full disk can write it.
const NEXT_KEY_FILE_NAME: &str = "next-epoch.key";

/// Where the keys of epochs come from and lie.
pub(crate) struct KeySource {
    pub(crate) state_dir: PathBuf,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
}

/// Writes the key of an epoch durably. One left by a start that got no further is replaced.
pub(crate) fn save(state_dir: &Path, epoch: Epoch, key: &EpochKey) -> io::Result<()> {
    let folder = state_dir.join(KEYS_FOLDER_NAME);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    sync_folder(&folder)?;
    let path = folder.join(format!("epoch-{epoch}.key"));
    let next = folder.join(NEXT_KEY_FILE_NAME);
    let mut text = String::with_capacity(65);
    for byte in key.secret() {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
    }
    text.push('\n');
    overwrite(&next, text.as_bytes())?;
    fs::rename(&next, &path)?;
    // Space for the next start's key is taken now; a disk that has none will say so elsewhere.
    let reserved = overwrite(&next, "0".repeat(text.len()).as_bytes());
    match reserved {
        Err(error) if error.kind() != io::ErrorKind::StorageFull => Err(error),
        _ => sync_folder(&path),
    }
}

/// Returns the keys that are there, by epoch; files that hold no key are passed over.
pub(crate) fn load(state_dir: &Path) -> io::Result<Vec<(Epoch, EpochKey)>> {
    let mut keys = Vec::new();
    for (epoch, path) in files(state_dir)? {
        let text = fs::read_to_string(path)?;
        if let Some(seed) = parse(text.trim_end()) {
            keys.push((epoch, EpochKey::from_entropy(seed)));
        }
    }
    keys.sort_by_key(|(epoch, _)| *epoch);
    Ok(keys)
}

/// Returns the newest epoch of which there is a key file.
pub(crate) fn newest(state_dir: &Path) -> io::Result<Option<Epoch>> {
    Ok(files(state_dir)?.into_iter().map(|(epoch, _)| epoch).max())
}

/// Destroys the keys of all epochs but one; those that could not be are destroyed by the next start.
pub(crate) fn destroy_older(state_dir: &Path, kept: Epoch) {
    if let Err(error) = destroy_others(state_dir, kept) {
        tracing::error!(%error, "an older signing key could not be destroyed");
    }
}

/// Destroys every key but that of one epoch: overwritten, synced, removed, and the folder synced.
fn destroy_others(state_dir: &Path, kept: Epoch) -> io::Result<()> {
    let others: Vec<_> = files(state_dir)?.into_iter().filter(|(epoch, _)| *epoch != kept).collect();
    for (_, path) in &others {
        let length = usize::try_from(fs::metadata(path)?.len()).unwrap_or(KEY_FILE_BYTES_MAX);
        overwrite(path, &vec![b'0'; length.min(KEY_FILE_BYTES_MAX)])?;
        fs::remove_file(path)?;
    }
    match others.first() {
        Some((_, path)) => sync_folder(path),
        None => Ok(()),
    }
}

fn files(state_dir: &Path) -> io::Result<Vec<(Epoch, PathBuf)>> {
    let found = match fs::read_dir(state_dir.join(KEYS_FOLDER_NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found?,
    };
    let mut files = Vec::new();
    for file in found {
        let file = file?;
        let name = file.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("epoch-")?.strip_suffix(".key"));
        if let Some(epoch) = number.and_then(|number| number.parse().ok()) {
            files.push((Epoch(epoch), file.path()));
        }
    }
    Ok(files)
}

fn parse(hex: &str) -> Option<[u8; 32]> {
    let mut seed = [0; 32];
    if hex.len() != 2 * seed.len() || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in seed.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(seed)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_lies_where_only_the_daemon_reads_it() {
        let state = tempfile::tempdir().unwrap();
        for seed in [1, 2] {
            save(state.path(), Epoch(7), &EpochKey::from_entropy([seed; 32])).unwrap();
        }
        let path = state.path().join("keys/epoch-7.key");
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", "02".repeat(32)));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(state.path().join("keys")).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn only_the_key_in_use_outlives_a_handover() {
        let state = tempfile::tempdir().unwrap();
        for epoch in [1, 2, 30] {
            save(state.path(), Epoch(epoch), &EpochKey::from_entropy([epoch as u8; 32])).unwrap();
        }
        fs::write(state.path().join("keys/epoch-4.key"), "no key").unwrap();
        let found: Vec<_> =
            load(state.path()).unwrap().iter().map(|(epoch, key)| (epoch.0, key.secret()[0])).collect();
        assert_eq!(found, [(1, 1), (2, 2), (30, 30)]);
        destroy_others(state.path(), Epoch(30)).unwrap();
        let left: Vec<_> = files(state.path()).unwrap().into_iter().map(|(epoch, _)| epoch).collect();
        assert_eq!(left, [Epoch(30)]);
        assert!(state.path().join("keys/next-epoch.key").exists(), "the next start's space is kept");
    }
}
