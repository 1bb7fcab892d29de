//! A change that is ready and not carried out: in a file of its own until the journal has decided about it.
//!
//! Owns that file. Invariant: it holds no value in the clear, and carrying it out twice is carrying it out once.

use std::io;
use std::path::Path;

use palyra_ports::{SecretName, SecretStoreError};
use palyra_types::Seq;
use serde::{Deserialize, Serialize};

use crate::envelope::Envelope;
use crate::files;
use crate::root::disk;

const FILE: &str = "staged.json";
/// The form that is written.
const FORM: u32 = 1;

/// What is ready.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StagedChange {
    form: u32,
    since: u64,
    pub(crate) change: FolderChange,
}

/// What is to become of the folder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FolderChange {
    /// This takes the place of what was sealed under its name.
    Seal(Envelope),
    /// The secret of this name goes.
    Remove(String),
    /// The folder beside takes the place of this one.
    Passphrase,
}

impl StagedChange {
    pub(crate) fn new(change: FolderChange, since: Seq) -> Self {
        Self { form: FORM, since: since.0, change }
    }

    pub(crate) fn since(&self) -> Seq {
        Seq(self.since)
    }

    /// Puts it on the disk.
    pub(crate) fn store(&self, folder: &Path) -> Result<(), SecretStoreError> {
        let bytes = serde_json::to_vec(self).map_err(|error| disk("written")(error.into()))?;
        files::write(folder, FILE, &bytes).and_then(files::WriteDurability::durable).map_err(disk("written"))
    }

    /// Returns what is ready in a folder. What cannot be understood was never decided about by this version.
    pub(crate) fn load(folder: &Path) -> io::Result<Option<Self>> {
        let read = files::read(&folder.join(FILE))?;
        let staged: Option<Self> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(staged.filter(|staged| staged.form == FORM))
    }

    /// Takes it off the disk.
    pub(crate) fn forget(folder: &Path) -> io::Result<()> {
        // One that comes back after a power cut is carried out, or given up, once more.
        files::remove(folder, FILE).map(drop)
    }
}

impl FolderChange {
    /// Returns the name of the secret that it is about.
    pub(crate) fn name(&self) -> Option<SecretName> {
        match self {
            Self::Seal(envelope) => envelope.name.parse().ok(),
            Self::Remove(name) => name.parse().ok(),
            Self::Passphrase => None,
        }
    }
}
