//! Copying the bytes of a file, with their digest.

use std::io::{Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::BackupError;
use crate::manifest::hex;
use crate::watch::BackupWatch;

/// Bytes that are copied between two looks at a request to stop.
const PIECE_BYTES: usize = 256 * 1024;

/// Where the bytes come from and go to, by name for messages.
pub(crate) struct CopyPaths<'a> {
    pub(crate) from: &'a Path,
    pub(crate) to: &'a Path,
}

/// The bytes that were copied.
pub(crate) struct CopiedBytes {
    pub(crate) count: u64,
    pub(crate) sha256: String,
}

/// Copies all bytes until the end, or until a stop is requested.
pub(crate) fn copy_bytes(
    mut reading: impl Read,
    writing: &mut impl Write,
    paths: &CopyPaths<'_>,
    watch: &BackupWatch,
) -> Result<CopiedBytes, BackupError> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    let mut bytes = 0;
    loop {
        if watch.stop.is_requested() {
            return Err(BackupError::Stopped);
        }
        let count = reading.read(&mut piece).map_err(BackupError::on("reading", paths.from))?;
        if count == 0 {
            break;
        }
        digest.update(&piece[..count]);
        writing.write_all(&piece[..count]).map_err(BackupError::on("writing", paths.to))?;
        bytes += count as u64;
    }
    Ok(CopiedBytes { count: bytes, sha256: hex(digest) })
}
