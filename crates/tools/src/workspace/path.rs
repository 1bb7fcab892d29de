//! A path as a model writes it, made relative to the workspace root.
//!
//! Owns the refusals in words; the reading itself is the one that policy judges. It protects nothing: what keeps a path
//! inside the root is the kernel's resolution when the path is opened.

use std::path::{Path, PathBuf};

use palyra_types::path_reading::{PATH_BYTES_MAX, PathProblem, PathReading};

use super::show::show_path;
use crate::failure::ToolFailure;

/// A path below the workspace root, without `.` and `..`; empty for the root itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspacePath(PathBuf);

impl WorkspacePath {
    /// Reads what a model wrote; an absolute path is taken when it spells a place below `root`.
    pub(crate) fn parse(text: &str, root: &Path) -> Result<Self, ToolFailure> {
        let reading = PathReading::read(text, root.to_str());
        reading
            .below_root()
            .map(|names| Self(names.iter().collect()))
            .map_err(|problem| refused(text, problem))
    }

    /// Returns it relative to the root; empty for the root itself.
    pub(crate) fn as_path(&self) -> &Path {
        &self.0
    }

    /// Returns it in a form that can be opened; `.` for the root itself.
    pub(crate) fn to_open(&self) -> &Path {
        if self.0.as_os_str().is_empty() { Path::new(".") } else { &self.0 }
    }

    /// Returns its last name; `None` for the root.
    pub(crate) fn name(&self) -> Option<&std::ffi::OsStr> {
        self.0.file_name()
    }

    /// Returns the folder that holds it; `None` for the root.
    pub(crate) fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.to_owned()))
    }

    /// Returns it for a reader.
    pub(crate) fn show(&self) -> String {
        show_path(&self.0)
    }

    /// Makes a path without looking at it, to show that looking is not what protects.
    #[cfg(test)]
    pub(crate) fn unchecked(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

fn refused(written: &str, problem: PathProblem) -> ToolFailure {
    let reason = match problem {
        PathProblem::TooLong | PathProblem::HoldsNul => {
            format!("a path has at most {PATH_BYTES_MAX} bytes and no NUL; name the file by its path")
        }
        PathProblem::HasParentStep | PathProblem::AbsoluteOutside => {
            let shown: String = show_path(Path::new(written)).chars().take(200).collect();
            format!("`{shown}` {problem}; write paths from the workspace root, such as `src/main.rs`")
        }
    };
    ToolFailure::PathRefused(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let shown = match WorkspacePath::parse(text, Path::new("/home/me/desk")) {
            Ok(path) => path.show(),
            Err(failure) => failure.code().slug().to_owned(),
        };
        assert_eq!(shown, expect, "{text:?}");
    }

    #[test]
    fn spellings_of_one_place_become_one_path() {
        check("src/main.rs", "src/main.rs");
        check("./src//./main.rs/", "src/main.rs");
        check("", ".");
        check(".", ".");
        check("/home/me/desk", ".");
        check("/home/me/desk/src", "src");
        check("~/x", "~/x");
        check("%2e%2e/x", "%2e%2e/x");
        check("//home/me/./desk/src", "src");
        check("..\\x", "\"..\\\\x\"");
        check(".git/a\\..\\..\\b", "\".git/a\\\\..\\\\..\\\\b\"");
    }

    #[test]
    fn what_cannot_be_below_the_root_is_refused_early() {
        for text in ["..", "a/../b", "/", "/etc/passwd", "/home/me/deskshop", "/home/me/desk/../x", "a\0b"] {
            check(text, "path_refused");
        }
        check(&"a/".repeat(2048), "path_refused");
    }
}
