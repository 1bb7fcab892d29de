//! One name in one folder, held by the folder's descriptor: what is there, and how it changes.
//!
//! Owns every system call that changes a file of a workspace. Knows no plan: who calls decides the order.
//!
//! Invariant: a name is one component; no call follows a link at it, and none replaces what was not seen: what is
//! displaced is moved aside, never overwritten.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{
    AtFlags, Gid, Mode, RenameFlags, Uid, fchmod, fchown, fstat, fsync, linkat, renameat, renameat_with,
    statat, unlinkat,
};
use rustix::io::Errno;

use super::digest::Sha256;
use super::entries::read_entries;
use super::open::{open_file, open_new_file};
use super::refusal::OpenRefusal;
use crate::failure::ToolFailure;
use crate::lines::is_binary;

/// Bytes of a file that is changed or made, at most.
pub(crate) const FILE_BYTES_MAX: u64 = palyra_types::effect::PRE_IMAGE_BYTES_MAX as u64;

const PERMISSIONS: u32 = 0o777;
const SET_ID: u32 = 0o6000;
const OWNER_WRITES: u32 = 0o200;

/// A name in an open folder.
#[derive(Debug, Clone)]
pub(crate) struct FileSlot {
    folder: Arc<OwnedFd>,
    name: OsString,
}

/// What is at a name, for who would change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SlotContent {
    /// Nothing.
    Absent,
    /// A file that may be changed.
    File(FoundFile),
}

/// A file that may be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Who may do what with it.
    pub(crate) access: FileAccess,
}

/// Who may do what with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAccess {
    /// These bits less the process's mask: a new file.
    New(u32),
    /// Exactly these bits.
    Bits(u32),
    /// Exactly these bits, user and group.
    Owned {
        /// Its permission bits.
        bits: u32,
        /// Its user.
        user: u32,
        /// Its group.
        group: u32,
    },
}

/// What is at a name, as far as it can be told from something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotState {
    /// Nothing.
    Absent,
    /// A regular file with these bytes.
    Bytes(Sha256),
    /// Anything else.
    Other,
}

impl SlotContent {
    /// Returns the digest of what is there.
    pub(crate) fn sha256(&self) -> Option<Sha256> {
        match self {
            Self::Absent => None,
            Self::File(file) => Some(Sha256::of(&file.bytes)),
        }
    }
}

impl FileAccess {
    /// Returns the permission bits.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::New(bits) | Self::Bits(bits) | Self::Owned { bits, .. } => bits,
        }
    }
}

impl FileSlot {
    pub(super) fn new(folder: Arc<OwnedFd>, name: &OsStr) -> Self {
        Self { folder, name: name.to_owned() }
    }

    /// Returns another name in the same folder.
    pub(crate) fn beside(&self, name: &str) -> Self {
        Self { folder: Arc::clone(&self.folder), name: name.into() }
    }

    /// Returns the name.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Returns names in the same folder, at most so many.
    pub(crate) fn names(&self, names_max: usize) -> Vec<OsString> {
        let entries = read_entries(&self.folder, names_max).map(|entries| entries.named).unwrap_or_default();
        entries.into_iter().map(|named| named.name).collect()
    }

    /// Returns what is there, for who would change it; what may not be changed is refused with its reason.
    pub(crate) fn look(&self, shown: &str) -> Result<SlotContent, ToolFailure> {
        let unsuitable = |why: &str| Err(ToolFailure::Unsuitable(format!("`{shown}` {why}")));
        let opened = match open_file(&self.folder, Path::new(&self.name)) {
            Ok(opened) => opened,
            Err(OpenRefusal::NotFound) => return Ok(SlotContent::Absent),
            Err(refusal) => return Err(refusal.explain(shown)),
        };
        let status = fstat(&opened.file).map_err(|errno| OpenRefusal::from(errno).explain(shown))?;
        if status.st_nlink != 1 {
            return unsuitable(
                "has more than one name (hard links); what it is elsewhere would not change with it",
            );
        }
        if status.st_mode & SET_ID != 0 {
            return unsuitable("runs with the rights of its owner, and is not changed");
        }
        if status.st_mode & OWNER_WRITES == 0 {
            return unsuitable("is write-protected; ask the user to lift that");
        }
        if opened.bytes > FILE_BYTES_MAX {
            let why = format!("has {} bytes; files over {FILE_BYTES_MAX} are not changed", opened.bytes);
            return unsuitable(&why);
        }
        let bytes = read_bounded(opened.file)
            .map_err(|cause| ToolFailure::System(format!("could not read `{shown}`: {cause}")))?;
        let Some(bytes) = bytes else { return unsuitable("grows while it is read") };
        if is_binary(&bytes) {
            return unsuitable("is a binary file, and only text is changed");
        }
        let access = FileAccess::Owned {
            bits: status.st_mode & PERMISSIONS,
            user: status.st_uid,
            group: status.st_gid,
        };
        Ok(SlotContent::File(FoundFile { bytes, access }))
    }

    /// Returns what is there, without a word about why it may not be used.
    pub(crate) fn see(&self) -> SlotState {
        let opened = match open_file(&self.folder, Path::new(&self.name)) {
            Ok(opened) if opened.bytes <= FILE_BYTES_MAX => opened,
            Ok(_) => return SlotState::Other,
            Err(OpenRefusal::NotFound) => return SlotState::Absent,
            Err(_) => return SlotState::Other,
        };
        match read_bounded(opened.file) {
            Ok(Some(bytes)) => SlotState::Bytes(Sha256::of(&bytes)),
            Ok(None) | Err(_) => SlotState::Other,
        }
    }

    /// Makes a file here, with its bytes on the disk when this returns; `midway` is called between the steps.
    pub(crate) fn make(
        &self,
        bytes: &[u8],
        access: FileAccess,
        mut midway: impl FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let asked = match access {
            FileAccess::New(bits) => bits,
            // Nobody else reads it before it has its own bits.
            FileAccess::Bits(_) | FileAccess::Owned { .. } => 0o600,
        };
        let mut file = open_new_file(&self.folder, Path::new(&self.name), Mode::from_raw_mode(asked))?;
        midway()?;
        let half = bytes.len() / 2;
        file.write_all(&bytes[..half])?;
        midway()?;
        file.write_all(&bytes[half..])?;
        if let FileAccess::Owned { user, group, .. } = access {
            let made = fstat(&file)?;
            if (made.st_uid, made.st_gid) != (user, group) {
                fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
            }
        }
        if let FileAccess::Bits(bits) | FileAccess::Owned { bits, .. } = access {
            fchmod(&file, Mode::from_raw_mode(bits & PERMISSIONS))?;
        }
        midway()?;
        file.sync_all()
    }

    /// Moves what is here to a name where nothing is; whatever is there is left alone, and that is an error.
    pub(crate) fn move_to(&self, other: &Self) -> io::Result<()> {
        let moved =
            renameat_with(&self.folder, &self.name, &other.folder, &other.name, RenameFlags::NOREPLACE);
        match moved {
            // A file system without the flag: a link never replaces anything.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                linkat(&self.folder, &self.name, &other.folder, &other.name, AtFlags::empty())?;
                Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
            }
            moved => Ok(moved?),
        }
    }

    /// Changes places with another name in one step; says whether the file system could.
    pub(crate) fn exchange(&self, other: &Self) -> io::Result<ExchangeOutcome> {
        let done = renameat_with(&self.folder, &self.name, &other.folder, &other.name, RenameFlags::EXCHANGE);
        match done {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(ExchangeOutcome::Unsupported),
            done => Ok(done.map(|()| ExchangeOutcome::Done)?),
        }
    }

    /// Moves what is here over another name, whatever is there: for file systems without the exchange only.
    pub(crate) fn move_over(&self, other: &Self) -> io::Result<()> {
        Ok(renameat(&self.folder, &self.name, &other.folder, &other.name)?)
    }

    /// Removes what is here, if it is no folder; that nothing is here is fine.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match unlinkat(&self.folder, &self.name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            // A file system that may only be read says so before it looks.
            Err(Errno::ROFS) if self.is_absent() => Ok(()),
            done => Ok(done?),
        }
    }

    fn is_absent(&self) -> bool {
        matches!(statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
    }

    /// Puts the folder's names on the disk.
    pub(crate) fn sync_folder(&self) -> io::Result<()> {
        Ok(fsync(&self.folder)?)
    }
}

/// Whether two names changed places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExchangeOutcome {
    /// They did.
    Done,
    /// The file system cannot.
    Unsupported,
}

/// Reads a file to its end; `None` when it is longer than it may be.
fn read_bounded(file: std::fs::File) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= FILE_BYTES_MAX).then_some(bytes))
}
