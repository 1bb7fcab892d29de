//! The files beside one entry: their parts against the sizes and digests that the payload names.
//!
//! Owns the numbering of docs/journal-format.md, section 1, row `chunk`. Keeps a digest of each file, never a file.

use sha2::{Digest, Sha256};

use crate::digest::Hash;
use crate::facts::NamedFile;
use crate::limits::FILES_PER_ENTRY_MAX;

/// Numbers of one file's parts, and of the payload's own.
pub(crate) const PARTS_PER_FILE: u64 = 1 << 20;

/// What is wrong with the files of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFault {
    /// Parts out of order, or too many files.
    Numbering,
    /// A file that the payload does not name.
    Unnamed,
    /// Another size or digest than the payload names.
    Differs,
    /// Not there at all.
    Missing,
}

/// Files in the reading.
#[derive(Default)]
pub(crate) struct FileReassembly {
    done: Vec<NamedFile>,
    open: Option<OpenFile>,
    numbering_broken: bool,
}

struct OpenFile {
    index: u64,
    parts: u64,
    bytes: u64,
    hasher: Sha256,
}

impl OpenFile {
    fn close(self) -> NamedFile {
        let sha256: Hash = self.hasher.finalize().into();
        NamedFile { index: self.index, bytes: self.bytes, sha256 }
    }
}

impl FileReassembly {
    /// Takes in the part of number `n`, counted as in the table; parts come in ascending order.
    pub(crate) fn part(&mut self, n: u64, content: &[u8]) {
        let Some(index) = (n / PARTS_PER_FILE).checked_sub(1) else { return };
        if self.open.as_ref().is_some_and(|open| open.index != index) {
            self.close();
        }
        if self.done.len() >= FILES_PER_ENTRY_MAX {
            self.numbering_broken = true;
            return;
        }
        let open =
            self.open.get_or_insert_with(|| OpenFile { index, parts: 0, bytes: 0, hasher: Sha256::new() });
        self.numbering_broken |= n % PARTS_PER_FILE != open.parts;
        open.parts += 1;
        open.bytes += content.len() as u64;
        open.hasher.update(content);
    }

    fn close(&mut self) {
        self.done.extend(self.open.take().map(OpenFile::close));
    }

    /// Compares what was read with what the payload names.
    pub(crate) fn compare(mut self, named: &[NamedFile]) -> Result<(), FileFault> {
        self.close();
        if self.numbering_broken || named.len() > FILES_PER_ENTRY_MAX {
            return Err(FileFault::Numbering);
        }
        if self.done.iter().any(|file| !named.iter().any(|named| named.index == file.index)) {
            return Err(FileFault::Unnamed);
        }
        for named in named {
            match self.done.iter().find(|file| file.index == named.index) {
                Some(file) if file != named => return Err(FileFault::Differs),
                Some(_) => {}
                None if named.bytes == 0 => {}
                None => return Err(FileFault::Missing),
            }
        }
        Ok(())
    }
}
