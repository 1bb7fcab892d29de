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

/// Writes the key of an epoch durably. One left by a start that got no further is replaced.
pub(super) fn save(state_dir: &Path, epoch: Epoch, key: &EpochKey) -> Result<(), OpenError> {
    try_save(state_dir, epoch, key).map_err(OpenError::doing("saving the epoch's key"))
}

fn try_save(state_dir: &Path, epoch: Epoch, key: &EpochKey) -> io::Result<()> {
    let folder = state_dir.join(KEYS_FOLDER_NAME);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    sync_folder(&folder)?;
    let path = folder.join(format!("epoch-{epoch}.key"));
    let fresh = folder.join(format!("epoch-{epoch}.key.fresh"));
    let mut text = String::with_capacity(65);
    for byte in key.secret() {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
    }
    text.push('\n');
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, &path)?;
    sync_folder(&path)
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
