//! Native code on the disk, beside the component it was made of.
//!
//! Owns the form of `native-ENGINE`: a line of its own, the SHA-256 of what follows, the code. Invariants: a file is there
//! as a whole or not at all; one that somebody else could have written, or that was damaged, is not read; what the
//! compiler says is never in memory as a whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::engine_settings::SETTINGS_VERSION;

/// How a file of native code begins.
const HEADER: &[u8] = b"palyra/native/v1\n";
/// How the names of such files begin.
const NAME_BEGINS: &str = "native-";
/// Where native code lies until it is whole.
pub(crate) const UNFINISHED: &str = ".new-native";
/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;
/// Bytes of native code, at most: four times those of the largest component.
pub(crate) const NATIVE_BYTES_MAX: usize = 128 << 20;
/// Bytes that are taken down at a time.
const PIECE_BYTES: usize = 64 << 10;

/// What became of what a compiler said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakenDown {
    /// All of it stands in the file.
    Whole {
        /// Bytes of native code.
        bytes: usize,
    },
    /// It was more than is kept.
    TooLarge,
}

/// Writes native code into an unfinished file, to its end; what is too much is read and dropped.
pub(crate) fn take_down(from: OwnedFd, unfinished: &Path) -> io::Result<TakenDown> {
    let mut from = File::from(from);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(unfinished)?;
    file.write_all(HEADER)?;
    file.write_all(&[0; DIGEST_BYTES])?;
    let (mut sum, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; PIECE_BYTES]);
    loop {
        let length = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += length;
        if bytes > NATIVE_BYTES_MAX {
            io::copy(&mut from, &mut io::sink())?;
            return Ok(TakenDown::TooLarge);
        }
        sum.update(&piece[..length]);
        file.write_all(&piece[..length])?;
    }
    file.seek(SeekFrom::Start(HEADER.len() as u64))?;
    file.write_all(&sum.finalize())?;
    file.sync_all()?;
    Ok(TakenDown::Whole { bytes })
}

/// Puts an unfinished file in its place, and removes the code of other engines.
pub(crate) fn put(folder: &Path, name: &str) -> io::Result<()> {
    std::fs::rename(folder.join(UNFINISHED), folder.join(name))?;
    File::open(folder)?.sync_all()?;
    for file in std::fs::read_dir(folder)?.flatten() {
        let known = file.file_name().into_string().unwrap_or_default();
        if known.starts_with(NAME_BEGINS) && known != name {
            // What stays is in nobody's way.
            let _ = std::fs::remove_file(file.path());
        }
    }
    Ok(())
}

/// Returns the files of native code in a folder with their sizes; a link is none.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        let found = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        (name.starts_with(NAME_BEGINS) || name == UNFINISHED).then(|| (file.path(), found.len()))
    });
    files.collect()
}

/// Native code that was read, behind what stands before it.
pub(crate) struct NativeCode(Vec<u8>);

impl NativeCode {
    pub(crate) fn code(&self) -> &[u8] {
        &self.0[HEADER.len() + DIGEST_BYTES..]
    }
}

/// Reads native code, if it is whole and nobody else could have written it.
pub(crate) fn read(path: &Path) -> Option<NativeCode> {
    const OTHERS_WRITE: u32 = 0o022;
    let file = OpenOptions::new().read(true).open(path).ok()?;
    let (about, folder) = (file.metadata().ok()?, path.parent()?.metadata().ok()?);
    let ours = about.is_file() && about.uid() == folder.uid();
    if !ours || about.mode() & OTHERS_WRITE != 0 || folder.mode() & OTHERS_WRITE != 0 {
        return None;
    }
    let bytes_max = HEADER.len() + DIGEST_BYTES + NATIVE_BYTES_MAX;
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).ok()?.min(bytes_max) + 1);
    file.take(bytes_max as u64).read_to_end(&mut bytes).ok()?;
    let (sum, code) = bytes.strip_prefix(HEADER)?.split_at_checked(DIGEST_BYTES)?;
    let whole = Sha256::digest(code)[..] == *sum;
    whole.then_some(NativeCode(bytes))
}

/// Returns the bytes of the file of native code after its digest was compared; `None` where it differs.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] where there is none, and every other error of its read.
pub(crate) fn check(path: &Path) -> io::Result<Option<u64>> {
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut file = File::open(path)?;
    let mut begin = [0; HEADER.len() + DIGEST_BYTES];
    match file.read_exact(&mut begin) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut sum = Sha256::new();
    let mut bytes = begin.len();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let length = match file.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += length;
        sum.update(&piece[..length]);
    }
    let is_whole = begin.starts_with(HEADER) && sum.finalize()[..] == begin[HEADER.len()..];
    Ok(is_whole.then_some(bytes as u64))
}

/// Names native code by what is ours of that which decides about it: the settings. Whether it fits the engine's version
/// and the processor is judged by the engine when it is taken up, and code that does not is made again.
pub(crate) fn name() -> String {
    format!("{NAME_BEGINS}{}-{SETTINGS_VERSION}", std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_a_compiler_says_stands_whole_or_is_too_large() {
        let folder = tempfile::tempdir().unwrap();
        let said = |bytes: usize| {
            let (mut from, to) = UnixStream::pair().unwrap();
            let saying = std::thread::spawn(move || {
                for _ in 0..bytes / PIECE_BYTES {
                    from.write_all(&[7; PIECE_BYTES]).unwrap();
                }
            });
            let taken = take_down(to.into(), &folder.path().join(UNFINISHED)).unwrap();
            saying.join().expect("all of it is read");
            taken
        };
        assert_eq!(said(NATIVE_BYTES_MAX + PIECE_BYTES), TakenDown::TooLarge);
        let bytes = 3 * PIECE_BYTES;
        assert_eq!(said(bytes), TakenDown::Whole { bytes });
        for old in ["native-0001", "component.wasm"] {
            std::fs::write(folder.path().join(old), "x").unwrap();
        }
        put(folder.path(), "native-0002").unwrap();
        assert_eq!(read(&folder.path().join("native-0002")).unwrap().code(), vec![7; bytes]);
        assert!(!folder.path().join("native-0001").exists(), "of another engine");
        assert!(folder.path().join("component.wasm").exists());
    }
}
