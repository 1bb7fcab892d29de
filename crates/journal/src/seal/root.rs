//! The files of the root key: STATE/keys/root.key, and root.next while it is being replaced.
//!
//! Invariant: at every moment one of the two wraps every key in keys.db.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::cipher::KEY_BYTES;
use crate::quarantine::{overwrite, sync_folder};

/// Where the root key lies.
#[derive(Debug, Clone)]
pub(super) struct RootFiles {
    folder: PathBuf,
}

/// A root key.
pub(super) type RootKey = [u8; KEY_BYTES];

impl RootFiles {
    pub(super) fn beside(database: &Path) -> Self {
        Self { folder: database.with_file_name("keys") }
    }

    /// Returns the root in force, if there is one.
    pub(super) fn present(&self) -> io::Result<Option<RootKey>> {
        read(&self.folder.join("root.key"))
    }

    /// Returns the root that was about to replace it, if there is one.
    pub(super) fn next(&self) -> io::Result<Option<RootKey>> {
        read(&self.folder.join("root.next"))
    }

    /// Writes the root that will replace the present one.
    pub(super) fn announce(&self, root: &RootKey) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut text = String::with_capacity(2 * KEY_BYTES + 1);
        for byte in root {
            write!(text, "{byte:02x}").expect("writing to a string does not fail");
        }
        text.push('\n');
        let path = self.folder.join("root.next");
        overwrite(&path, text.as_bytes())?;
        sync_folder(&path)
    }

    /// Destroys the present root and lets the announced one take its place.
    pub(super) fn replace(&self) -> io::Result<()> {
        let (present, next) = (self.folder.join("root.key"), self.folder.join("root.next"));
        self.destroy_present()?;
        fs::rename(&next, &present)?;
        sync_folder(&present)
    }

    /// Overwrites the present root; the announced one is in force from here on.
    pub(super) fn destroy_present(&self) -> io::Result<()> {
        let present = self.folder.join("root.key");
        if present.exists() { overwrite(&present, &[b'0'; 2 * KEY_BYTES]) } else { Ok(()) }
    }

    /// Takes an announcement back.
    pub(super) fn withdraw(&self) -> io::Result<()> {
        let next = self.folder.join("root.next");
        overwrite(&next, &[b'0'; 2 * KEY_BYTES])?;
        fs::remove_file(&next)?;
        sync_folder(&next)
    }
}

/// Reads a root; `None` where there is no file, or one that was destroyed or never written to its end.
fn read(path: &Path) -> io::Result<Option<RootKey>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let digits = text.trim_end().as_bytes();
    let mut root = [0; KEY_BYTES];
    if digits.len() != 2 * KEY_BYTES {
        return Ok(None);
    }
    for (byte, pair) in root.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match pair {
            Some(value) => *byte = value,
            None => return Ok(None),
        }
    }
    Ok((root != [0; KEY_BYTES]).then_some(root))
}
