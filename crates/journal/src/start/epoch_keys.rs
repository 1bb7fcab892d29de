//! The files of the epochs' signing keys: STATE/keys/epoch-N.key, readable by the daemon alone.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use palyra_ledger::EpochKey;
use palyra_types::Epoch;

use super::error::OpenError;
use crate::quarantine::sync_folder;

const KEYS_FOLDER_NAME: &str = "keys";

/// Holds the space of the next key, so that a start on a full disk can write it.
const NEXT_KEY_FILE_NAME: &str = "next-epoch.key";

/// Writes the key of an epoch durably. One left by a start that got no further is replaced.
pub(super) fn save(state_dir: &Path, epoch: Epoch, key: &EpochKey) -> Result<(), OpenError> {
    try_save(state_dir, epoch, key).map_err(OpenError::doing("saving the epoch's key"))
}

fn try_save(state_dir: &Path, epoch: Epoch, key: &EpochKey) -> io::Result<()> {
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

/// Writes over what is there, so that a full disk does not matter.
fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
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
}
