//! An ext4 file system in a file, mounted, cut and mounted again.
//!
//! Invariant: the mount ends with the mount namespace of this process, whatever happens to it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

const VOLUME_BYTES: u64 = 512 * 1024 * 1024;

/// The file system.
pub(super) struct TestVolume {
    image: PathBuf,
    mount: PathBuf,
}

impl TestVolume {
    /// Makes an empty one below `folder` and mounts it.
    pub(super) async fn make(folder: &Path) -> Result<Self> {
        let volume = Self { image: folder.join("volume"), mount: folder.join("cut") };
        std::fs::create_dir_all(&volume.mount).context("could not make the mount point")?;
        // Made anew each time, so that nothing old shines through.
        if volume.image.exists() {
            std::fs::remove_file(&volume.image).context("could not remove the old volume")?;
        }
        let file = std::fs::File::create(&volume.image).context("could not make the volume")?;
        file.set_len(VOLUME_BYTES).context("could not size the volume")?;
        say("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), volume.image.as_os_str()]).await?;
        volume.mount().await?;
        Ok(volume)
    }

    pub(super) async fn mount(&self) -> Result<()> {
        say("mount", &["-o".as_ref(), "loop".as_ref(), self.image.as_os_str(), self.mount.as_os_str()]).await
    }

    pub(super) async fn unmount(&self) -> Result<()> {
        say("umount", &[self.mount.as_os_str()]).await
    }

    /// Returns where it is mounted.
    pub(super) fn path(&self) -> &Path {
        &self.mount
    }
}

async fn say<W: AsRef<std::ffi::OsStr>>(program: &str, words: &[W]) -> Result<()> {
    let output = Command::new(program).args(words).output().await;
    let output = output.with_context(|| format!("could not start {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} failed: {}", said.trim());
    Ok(())
}
