//! Where an attack takes place: a folder of its own with a workspace, and what lies beside it.

use std::io;
use std::path::PathBuf;

use tempfile::TempDir;

/// Where grounds are: not below `/tmp`, which a sandbox covers, so that nothing below it could be touched anyway.
const PLACE: &str = "/var/tmp";

/// What lies outside and may be neither read nor changed.
pub const SECRET: &str = "canary-7f3a91";

/// The folder; gone when dropped.
#[derive(Debug)]
pub struct TrialFolder {
    folder: TempDir,
}

impl TrialFolder {
    /// Makes `work`, where attackers are let in, `outside`, where they are not, and `scratch`.
    ///
    /// # Errors
    /// The system's, when it gives no folder.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("palyra-attack-").tempdir_in(PLACE)?;
        for part in ["room", "outside", "scratch"] {
            std::fs::create_dir(folder.path().join(part))?;
        }
        Ok(Self { folder })
    }

    /// Returns the workspace.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("room")
    }

    /// Returns the folder beside it.
    #[must_use]
    pub fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Returns the folder for what programs make.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.folder.path().join("scratch")
    }
}
