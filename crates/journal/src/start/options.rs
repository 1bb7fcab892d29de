//! What a journal is opened with.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_ports::{Clock, Entropy};

use crate::write::{FreeSpace, free_space_of};

/// Where the journal lies and what it is given. The caller holds the state directory's lock.
#[derive(Clone)]
pub struct OpenOptions {
    /// The state directory; made when missing.
    pub state_dir: PathBuf,
    /// Tells the time of the journal's own entries.
    pub clock: Arc<dyn Clock>,
    /// Makes keys and salts.
    pub entropy: Arc<dyn Entropy>,
    /// Tells the free space; `None` asks the file system.
    pub free_space: Option<FreeSpace>,
    /// Cap on the database's size in pages of 4,096 bytes; `None` for SQLite's own.
    pub database_pages_max: Option<u32>,
}

impl OpenOptions {
    /// Takes the ports; everything else as usual.
    #[must_use]
    pub fn new(state_dir: PathBuf, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { state_dir, clock, entropy, free_space: None, database_pages_max: None }
    }

    /// Returns what tells the free space.
    pub(crate) fn free_space(&self) -> FreeSpace {
        self.free_space.clone().unwrap_or_else(|| free_space_of(&self.state_dir))
    }
}
