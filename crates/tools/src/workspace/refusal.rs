//! Why the kernel did not open something.
//!
//! Owns the meaning of each errno of a beneath-the-root open, and the words for it.

use rustix::io::Errno;

use super::kind::EntryKind;
use crate::failure::ToolFailure;

/// Why a place was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenRefusal {
    /// Nothing is there.
    NotFound,
    /// A part of the path is not a folder.
    NotAFolder,
    /// The path leads out of the root.
    LeadsOut,
    /// The path leads through a symbolic or magic link.
    Link,
    /// The path is too long, or holds a NUL.
    Malformed,
    /// It is not of the kind that was asked for.
    Kind(EntryKind),
    /// The daemon's user may not read it.
    NoPermission,
    /// The kernel cannot resolve beneath a root.
    MechanismMissing,
    /// Anything else.
    Other(Errno),
}

impl From<Errno> for OpenRefusal {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR => Self::NotAFolder,
            Errno::XDEV => Self::LeadsOut,
            Errno::LOOP => Self::Link,
            Errno::NAMETOOLONG | Errno::INVAL => Self::Malformed,
            // Opening a socket, or the writer's end of a device without one.
            Errno::NXIO | Errno::NODEV => Self::Kind(EntryKind::Special),
            Errno::ACCESS | Errno::PERM => Self::NoPermission,
            Errno::NOSYS => Self::MechanismMissing,
            other => Self::Other(other),
        }
    }
}

impl OpenRefusal {
    /// Returns the failure of a tool that wanted `shown`.
    pub(crate) fn explain(self, shown: &str) -> ToolFailure {
        let shown: String = shown.chars().take(300).collect();
        match self {
            Self::NotFound => ToolFailure::NotFound(format!("`{shown}` does not exist")),
            Self::NotAFolder => ToolFailure::NotFound(format!(
                "`{shown}` does not exist: a part of it is a file, not a folder"
            )),
            Self::LeadsOut => ToolFailure::PathRefused(format!(
                "`{shown}` leads out of the workspace; write paths from its root, such as `src/main.rs`"
            )),
            Self::Link => ToolFailure::PathRefused(format!(
                "`{shown}` leads through a symbolic link, and links are not followed; \
                 name the file by its own path inside the workspace"
            )),
            Self::Malformed => {
                ToolFailure::PathRefused(format!("`{shown}` is not a path: it is too long, or holds a NUL"))
            }
            Self::Kind(EntryKind::Folder) => {
                ToolFailure::Unsuitable(format!("`{shown}` is a folder; list_dir shows what is in it"))
            }
            Self::Kind(kind) => {
                ToolFailure::Unsuitable(format!("`{shown}` is {}, not a regular file", kind.with_article()))
            }
            Self::NoPermission => {
                ToolFailure::Unsuitable(format!("`{shown}` may not be read by the user that Palyra runs as"))
            }
            Self::MechanismMissing => ToolFailure::System(
                "this system has no openat2 (Linux 5.6 or newer), and no file is opened without it"
                    .to_owned(),
            ),
            Self::Other(errno) => {
                ToolFailure::System(format!("could not open `{shown}`: {}", std::io::Error::from(errno)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_the_mechanism_is_named_and_nothing_replaces_it() {
        let failure = OpenRefusal::from(Errno::NOSYS).explain("a");
        assert_eq!(failure.code(), palyra_types::ErrorCode::ToolFailed);
        assert!(failure.to_string().contains("openat2"));
    }
}
