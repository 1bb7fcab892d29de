//! What holds the journal to its past: where its newest head is kept besides, an order to accept that it was cut
//! off, and the daily change of its key.
//!
//! Owns the anchor's folder and the order's file. Invariant: an order is removed once the journal has carried it
//! out, and not before.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use palyra_journal::{Derived, JournalStore, OpenError, OpenOptions};
use palyra_types::proof::ReopenReason;
use palyra_types::state_dir::{ACCEPT_ROLLBACK_FILE_NAME, ORDER_RESTORED, REBUILD_FILE_NAME, config_dir};

/// Below the configuration directory: the newest signed head of each log that this user's daemons wrote.
const ANCHORS_FOLDER_NAME: &str = "anchors";

/// Size of an order, at most: one word.
const ORDER_BYTES_MAX: usize = 64;

/// Opens the journal with its anchor, and carries out an order that lies in the state directory.
pub(crate) fn open(
    options: OpenOptions,
    environment: &BTreeMap<String, String>,
) -> Result<JournalStore, OpenError> {
    let order = options.state_dir.join(ACCEPT_ROLLBACK_FILE_NAME);
    let anchor_dir = anchor_dir(&options.state_dir, environment);
    let reopen = read_order(&order);
    let rebuild = options.state_dir.join(REBUILD_FILE_NAME);
    let derived = if rebuild.exists() { Derived::Rebuilt } else { options.derived };
    let journal = JournalStore::open(&OpenOptions { anchor_dir, reopen, derived, ..options })?;
    if let Err(error) = fs::remove_file(&rebuild)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(path = %rebuild.display(), %error, "an order that was carried out cannot be removed");
    }
    if reopen.is_some()
        && let Err(error) = fs::remove_file(&order)
    {
        // A log in order takes no notice of it at the next start.
        tracing::warn!(path = %order.display(), %error, "an order that was carried out cannot be removed");
    }
    Ok(journal)
}

/// Returns where heads are anchored; nowhere when that would be copied and put back with the state directory.
fn anchor_dir(state_dir: &Path, environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let folder = config_dir(|name| environment.get(name).map(Into::into))?.join(ANCHORS_FOLDER_NAME);
    let real = |path: &Path| {
        let known = path.ancestors().find_map(|known| Some((known, fs::canonicalize(known).ok()?)));
        match known {
            Some((known, real)) => real.join(path.strip_prefix(known).unwrap_or(path)),
            None => path.to_owned(),
        }
    };
    if real(&folder).starts_with(real(state_dir)) {
        tracing::warn!(folder = %folder.display(), "no anchor is kept: its folder is part of the state directory");
        return None;
    }
    Some(folder)
}

fn read_order(path: &Path) -> Option<ReopenReason> {
    let text = match fs::read(path) {
        Ok(bytes) if bytes.len() <= ORDER_BYTES_MAX => String::from_utf8(bytes).unwrap_or_default(),
        Ok(_) => String::new(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "an order for the journal cannot be read");
            return None;
        }
    };
    let reason = match text.trim_end() {
        "rollback_accepted" => Some(ReopenReason::RollbackAccepted),
        ORDER_RESTORED => Some(ReopenReason::Restored),
        "key_lost" => Some(ReopenReason::KeyLost),
        _ => None,
    };
    if reason.is_none() {
        tracing::warn!(path = %path.display(), "an order for the journal is not understood");
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(config: &Path) -> BTreeMap<String, String> {
        [("XDG_CONFIG_HOME".to_owned(), config.display().to_string())].into()
    }

    #[test]
    fn no_anchor_is_kept_below_the_state_directory() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        let config = home.path().join("config");
        assert_eq!(anchor_dir(&state, &environment(&config)), Some(config.join("palyra/anchors")));
        fs::create_dir_all(&state).unwrap();
        assert_eq!(anchor_dir(&state, &environment(&state.join("config"))), None);
        std::os::unix::fs::symlink(&state, home.path().join("link")).unwrap();
        assert_eq!(anchor_dir(&state, &environment(&home.path().join("link/config"))), None);
        assert_eq!(anchor_dir(&state, &BTreeMap::new()), None);
    }

    #[test]
    fn an_order_is_one_word() {
        let state = tempfile::tempdir().unwrap();
        let order = state.path().join(ACCEPT_ROLLBACK_FILE_NAME);
        assert_eq!(read_order(&order), None);
        let words = [
            ("rollback_accepted\n", Some(ReopenReason::RollbackAccepted)),
            ("restored\n", Some(ReopenReason::Restored)),
            ("key_lost", Some(ReopenReason::KeyLost)),
            ("yes\n", None),
        ];
        for (word, reason) in words {
            fs::write(&order, word).unwrap();
            assert_eq!(read_order(&order), reason, "{word}");
        }
    }
}
