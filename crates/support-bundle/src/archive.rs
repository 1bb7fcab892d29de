//! The archive: a gzip of a tar file in the form of POSIX (ustar), made in memory.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

const BLOCK_BYTES: usize = 512;
const FOLDER: &str = "palyra-support";
const NAME_BYTES_MAX: usize = 100;

/// An archive that files are added to.
pub(crate) struct TarGzip {
    to: GzEncoder<Vec<u8>>,
    modified_unix: u64,
}

impl TarGzip {
    pub(crate) fn new(modified_unix: u64) -> Self {
        Self { to: GzEncoder::new(Vec::new(), Compression::default()), modified_unix }
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let header = header(name, content.len(), self.modified_unix)?;
        self.to.write_all(&header)?;
        self.to.write_all(content)?;
        let rest = content.len().next_multiple_of(BLOCK_BYTES) - content.len();
        self.to.write_all(&[0; BLOCK_BYTES][..rest])
    }

    /// Ends the archive and returns its bytes.
    pub(crate) fn finish(mut self) -> io::Result<Vec<u8>> {
        self.to.write_all(&[0; BLOCK_BYTES])?;
        self.to.write_all(&[0; BLOCK_BYTES])?;
        self.to.finish()
    }
}

fn header(name: &str, size: usize, modified_unix: u64) -> io::Result<[u8; BLOCK_BYTES]> {
    let path = format!("{FOLDER}/{name}");
    if path.len() > NAME_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, "a name is too long for the archive"));
    }
    let mut header = [0; BLOCK_BYTES];
    put(&mut header, 0, path.as_bytes());
    put(&mut header, 100, b"0000600\0");
    put(&mut header, 108, b"0000000\0");
    put(&mut header, 116, b"0000000\0");
    put(&mut header, 124, format!("{size:011o}\0").as_bytes());
    put(&mut header, 136, format!("{modified_unix:011o}\0").as_bytes());
    // The checksum is computed over blanks in its own place.
    put(&mut header, 148, b"        ");
    put(&mut header, 156, b"0");
    put(&mut header, 257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    put(&mut header, 148, format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

fn put(header: &mut [u8; BLOCK_BYTES], at: usize, bytes: &[u8]) {
    for (to, byte) in header.iter_mut().skip(at).zip(bytes) {
        *to = *byte;
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn tar_unpacks_what_was_packed() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("empty", String::new()),
            ("one.json", "{}\n".to_owned()),
            ("block", "x".repeat(512)),
            ("long", "y".repeat(70_001)),
        ];
        let mut archive = TarGzip::new(1_700_000_000);
        for (name, text) in &files {
            archive.add(name, text.as_bytes()).unwrap();
        }
        assert!(archive.add(&"n".repeat(100), b"").is_err());
        let file = folder.path().join("a.tar.gz");
        std::fs::write(&file, archive.finish().unwrap()).unwrap();
        let unpacked =
            Command::new("tar").arg("-xzf").arg(&file).arg("-C").arg(folder.path()).output().unwrap();
        assert!(unpacked.status.success() && unpacked.stderr.is_empty(), "{unpacked:?}");
        for (name, text) in &files {
            assert_eq!(&std::fs::read_to_string(folder.path().join(FOLDER).join(name)).unwrap(), text);
        }
    }
}
