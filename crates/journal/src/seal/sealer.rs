//! Sealing what the writer stores, and replacing the root when content was erased.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use palyra_ports::Entropy;
use palyra_types::PrincipalId;
use palyra_types::event::EpochSealing;
use rusqlite::Connection;

use super::cipher::SealPlace;
use super::keys_db::{self, KeysDb, MESSAGES_RESERVED, SubjectKey};
use super::root::{RootFiles, RootKey};

/// Keys held for principals that write, at most; beyond it they are looked up again.
const KEYS_HELD_MAX: usize = 1_024;

/// Whether new payloads are sealed. What was sealed before is read in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PayloadSealing {
    /// They are stored as they are.
    #[default]
    Off,
    /// They are sealed under their principal's key.
    On,
}

impl PayloadSealing {
    /// Returns what an epoch says of its payloads.
    pub(crate) fn of_epoch(self) -> EpochSealing {
        match self {
            Self::Off => EpochSealing::Off,
            Self::On => EpochSealing::On,
        }
    }
}

/// The writer's end of the keys.
pub(crate) struct PayloadSealer {
    sealing: PayloadSealing,
    keys: KeysDb,
    files: RootFiles,
    root: RootKey,
    entropy: Arc<dyn Entropy>,
    held: BTreeMap<PrincipalId, CachedKey>,
}

struct CachedKey {
    subject: SubjectKey,
    left: i64,
}

/// Why keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    /// A file of keys cannot be read or written.
    #[error("the key file cannot be used: {0}")]
    Files(#[from] io::Error),
    /// The table of keys cannot be used.
    #[error("keys.db cannot be used")]
    Keys(#[from] rusqlite::Error),
    /// There are keys and nothing that unwraps them.
    #[error("keys/root.key does not open keys.db")]
    NoRoot,
}

impl PayloadSealer {
    /// Opens the keys beside a database, and finishes a replacement of the root that was cut off. `None` when nothing
    /// is to be sealed and nothing ever was.
    pub(crate) fn open(
        database: &Path,
        sealing: PayloadSealing,
        entropy: &Arc<dyn Entropy>,
    ) -> Result<Option<Self>, SealError> {
        if sealing == PayloadSealing::Off && !keys_db::path(database).exists() {
            return Ok(None);
        }
        let keys = KeysDb::open(database)?;
        let files = RootFiles::beside(database);
        let root = settle_root(&keys, &files, &**entropy)?;
        let entropy = Arc::clone(entropy);
        Ok(Some(Self { sealing, keys, files, root, entropy, held: BTreeMap::new() }))
    }

    /// Returns whether new payloads are sealed.
    pub(crate) fn seals(&self) -> bool {
        self.sealing == PayloadSealing::On
    }

    /// Returns the setting.
    pub(crate) fn sealing(&self) -> PayloadSealing {
        self.sealing
    }

    /// Seals a text of a principal; returns the key's number with it.
    pub(crate) fn seal(
        &mut self,
        principal: PrincipalId,
        place: SealPlace,
        text: &[u8],
    ) -> rusqlite::Result<(i64, Vec<u8>)> {
        self.reserve(principal, 1)?;
        let held = self.held.get_mut(&principal).expect("it was reserved just now");
        held.left -= 1;
        Ok((held.subject.id, held.subject.key.seal(&*self.entropy, &place.bound_to(), text)))
    }

    /// Makes sure that so many texts of a principal are sealed with one key.
    pub(crate) fn reserve(&mut self, principal: PrincipalId, texts: i64) -> rusqlite::Result<()> {
        if self.held.get(&principal).is_none_or(|held| held.left < texts) {
            let subject = self.keys.take(principal, &self.root, &*self.entropy)?;
            if self.held.len() >= KEYS_HELD_MAX {
                self.held.clear();
            }
            self.held.insert(principal, CachedKey { subject, left: MESSAGES_RESERVED });
        }
        Ok(())
    }

    /// Destroys the keys under which nothing lies any more, and replaces the root: what was copied before cannot be
    /// opened with what is left.
    pub(crate) fn replace_root(&mut self, log: &Connection) -> Result<(), SealError> {
        let mut used = log.prepare("SELECT DISTINCT key_id FROM payload WHERE key_id > 0")?;
        let used = used.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
        self.held.clear();
        let next = self.entropy.bytes32();
        self.files.announce(&next)?;
        self.keys.rewrap(&used, &self.root, &next, &*self.entropy)?;
        self.root = next;
        Ok(self.files.replace()?)
    }
}

/// Returns the root in force. Of two, the one that opens the keys is; the other one goes.
fn settle_root(keys: &KeysDb, files: &RootFiles, entropy: &dyn Entropy) -> Result<RootKey, SealError> {
    let (present, next) = (files.present()?, files.next()?);
    if let Some(next) = next {
        let wraps = keys.is_wrapped_by(&next)?;
        if wraps == Some(true) || (wraps.is_none() && present.is_none()) {
            files.replace()?;
            return Ok(next);
        }
        files.withdraw()?;
    }
    match present {
        Some(present) if keys.is_wrapped_by(&present)? != Some(false) => Ok(present),
        None if keys.is_wrapped_by(&[0; 32])?.is_none() => {
            let mut first = RootKey::default();
            entropy.fill(&mut first);
            files.announce(&first)?;
            files.replace()?;
            Ok(first)
        }
        Some(_) | None => Err(SealError::NoRoot),
    }
}

#[cfg(test)]
mod tests;
