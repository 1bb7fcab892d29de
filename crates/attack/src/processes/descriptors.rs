//! Descriptors that are open in this process and would be inherited.

use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::io::FdFlags;

/// The descriptors; closed when dropped.
pub(crate) struct LeakedDescriptors {
    read: fs::File,
    write: fs::File,
    folder: fs::File,
    socket: OwnedFd,
    inode: u64,
    /// The other end.
    heard: UnixStream,
}

impl LeakedDescriptors {
    /// Opens what lies outside, for whoever is started next.
    pub(crate) fn open(outside: &Path) -> io::Result<Self> {
        let (socket, heard) = UnixStream::pair()?;
        heard.set_nonblocking(true)?;
        let file = outside.join("file");
        let inode = fs::metadata(&file)?.ino();
        let all = Self {
            read: fs::File::open(&file)?,
            write: fs::OpenOptions::new().write(true).open(&file)?,
            folder: fs::File::open(outside)?,
            socket: socket.into(),
            inode,
            heard,
        };
        for descriptor in [all.read.as_fd(), all.write.as_fd(), all.folder.as_fd(), all.socket.as_fd()] {
            rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        Ok(all)
    }

    /// Returns their numbers.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let number = |descriptor: &dyn AsRawFd| descriptor.as_raw_fd().to_string();
        vec![
            ("FD_READ", number(&self.read)),
            ("FD_WRITE", number(&self.write)),
            ("FD_FOLDER", number(&self.folder)),
            ("FD_SOCKET", number(&self.socket)),
            ("FD_INODE", self.inode.to_string()),
        ]
    }

    /// Whether anybody wrote to the socket.
    pub(crate) fn touched(&mut self) -> bool {
        self.heard.read(&mut [0; 16]).is_ok_and(|length| length > 0)
    }
}
