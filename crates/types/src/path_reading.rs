//! The one reading of a path that a model wrote: which names it has, and from where they are followed.
//!
//! Owns how a text becomes names. Policy judges these names and tools open them, so both always mean the same file.
//! Looks at no disk; what keeps an opened file inside the workspace is the kernel's resolution.
//!
//! Invariant: only `/` separates names. A backslash, a space, a dot at the end and a letter of another case are letters
//! of a name, as they are for the kernel.

use std::fmt;

/// Bytes of a path, at most: what the kernel takes, less the byte at its end.
pub const PATH_BYTES_MAX: usize = 4095;

/// From where the names of a path are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathAnchor {
    /// The root of the workspace.
    Workspace,
    /// The root of the file system.
    FileSystem,
}

/// Why a path names no file below the workspace root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum PathProblem {
    /// The kernel takes no path of this length.
    #[error("has more than {PATH_BYTES_MAX} bytes")]
    TooLong,
    /// The kernel ends a path at a NUL.
    #[error("has a NUL byte")]
    HoldsNul,
    /// It has `..`, and where that leads depends on links.
    #[error("contains `..`")]
    HasParentStep,
    /// It is absolute, and does not begin with the workspace root.
    #[error("is absolute and outside the workspace")]
    AbsoluteOutside,
}

/// A path as its text spells it, without `.`, empty names and what `..` takes back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathReading {
    anchor: PathAnchor,
    climbs: usize,
    names: Vec<String>,
    problem: Option<PathProblem>,
}

impl PathReading {
    /// Reads a text; an absolute one that begins with the names of `root` is read from the workspace root.
    #[must_use]
    pub fn read(text: &str, root: Option<&str>) -> Self {
        let mut reading = Self::read_names(text);
        let has_parent_step = text.split('/').any(|name| name == "..");
        let below = root.filter(|_| reading.anchor == PathAnchor::FileSystem && !has_parent_step);
        if let Some(root) = below.map(Self::read_names)
            && root.anchor == PathAnchor::FileSystem
            && reading.names.starts_with(&root.names)
        {
            reading.anchor = PathAnchor::Workspace;
            reading.names.drain(..root.names.len());
        }
        reading.problem = if text.len() > PATH_BYTES_MAX {
            Some(PathProblem::TooLong)
        } else if text.contains('\0') {
            Some(PathProblem::HoldsNul)
        } else if has_parent_step {
            Some(PathProblem::HasParentStep)
        } else {
            (reading.anchor == PathAnchor::FileSystem).then_some(PathProblem::AbsoluteOutside)
        };
        reading
    }

    fn read_names(text: &str) -> Self {
        let anchor = if text.starts_with('/') { PathAnchor::FileSystem } else { PathAnchor::Workspace };
        let (mut climbs, mut names) = (0, Vec::new());
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    if names.pop().is_none() {
                        climbs += 1;
                    }
                }
                name => names.push(name.to_owned()),
            }
        }
        Self { anchor, climbs, names, problem: None }
    }

    /// Returns the names from the workspace root, none for the root itself; or why a tool does not open this path.
    ///
    /// # Errors
    /// [`PathProblem`]: also for a path with `..` that would end below the root.
    pub fn below_root(&self) -> Result<&[String], PathProblem> {
        self.problem.map_or(Ok(&self.names), Err)
    }

    /// Returns from where its names are followed.
    #[must_use]
    pub fn anchor(&self) -> PathAnchor {
        self.anchor
    }

    /// Returns how often `..` leads beyond the anchor.
    #[must_use]
    pub fn climbs(&self) -> usize {
        self.climbs
    }

    /// Returns its names, `..` resolved by spelling alone.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns whether its spelling leads out of the workspace.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.anchor == PathAnchor::FileSystem || self.climbs > 0
    }
}

/// The normal form: from the workspace root without `.` and `..`, `.` for the root itself; else absolute, or with `../`
/// in front.
impl fmt::Display for PathReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begin = match self.anchor {
            PathAnchor::FileSystem => "/".to_owned(),
            PathAnchor::Workspace => "../".repeat(self.climbs),
        };
        if begin.is_empty() && self.names.is_empty() {
            return f.write_str(".");
        }
        write!(f, "{begin}{}", self.names.join("/"))
    }
}

#[cfg(test)]
mod tests;
