//! A small file system and the file that fills it.
//!
//! Invariant: mounted in a mount namespace of its own, so that nothing is left of it when its process ends.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

/// Large enough for the pre-written log and some runs beside it.
const VOLUME_MIB: u64 = 40;
const BLOCK_BYTES: u64 = 4_096;

/// A small file system, mounted.
pub(super) struct SmallDisk {
    mount: PathBuf,
}

impl SmallDisk {
    /// Mounts an empty one.
    pub(super) async fn mount(mount: &Path) -> Result<Self> {
        let options = format!("size={VOLUME_MIB}m,mode=0700");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &options, "none"]).arg(mount);
        let output = command.output().await.context("could not start mount")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "a small file system cannot be mounted ({}); this needs root or user namespaces",
            said.trim()
        );
        Ok(Self { mount: mount.to_owned() })
    }

    pub(super) async fn unmount(self) -> Result<()> {
        let status =
            Command::new("umount").arg(&self.mount).status().await.context("could not start umount")?;
        ensure!(status.success(), "the small file system is still in use");
        Ok(())
    }

    /// Fills it until only so much is free.
    pub(super) fn fill_but(&self, free_bytes: u64) -> Result<()> {
        let mut file = File::create(self.ballast()).context("could not make the ballast")?;
        let block = vec![1_u8; usize::try_from(BLOCK_BYTES).unwrap_or(0)];
        while self.free_bytes()? > free_bytes {
            file.write_all(&block).context("could not fill the disk")?;
        }
        Ok(())
    }

    /// Gives the space back.
    pub(super) fn empty(&self) -> Result<()> {
        std::fs::remove_file(self.ballast()).context("could not remove the ballast")
    }

    pub(super) fn free_bytes(&self) -> Result<u64> {
        let found = rustix::fs::statvfs(&self.mount).context("could not look at the disk")?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    fn ballast(&self) -> PathBuf {
        self.mount.join("ballast")
    }
}
