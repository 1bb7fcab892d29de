//! Whether a running daemon was built from the same thing as this program.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Both programs of the package are the same main; either may serve.
const SIBLINGS: [&str; 2] = ["palyra", "palyrad"];

/// Returns the build id of a program: version, size and time of modification.
///
/// # Errors
/// When the file cannot be looked at.
pub fn build_id_of(program: &Path) -> io::Result<String> {
    let meta = fs::metadata(program)?;
    Ok(format!("{}+{:x}-{:x}", env!("CARGO_PKG_VERSION"), meta.size(), meta.mtime()))
}

/// Returns whether `build_id` is that of `program` or of the package's other program beside it.
pub(super) fn is_same_build(build_id: &str, program: &Path) -> bool {
    let matches = |path: &Path| build_id_of(path).is_ok_and(|own| own == build_id);
    if matches(program) {
        return true;
    }
    // Follows /proc/self/exe to the folder the program lies in.
    let Some(folder) = fs::canonicalize(program).ok().and_then(|path| path.parent().map(Path::to_owned))
    else {
        return false;
    };
    SIBLINGS.iter().any(|name| matches(&folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_program_of_the_package_is_the_same_build() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, text) in [("palyra", "one"), ("palyrad", "other"), ("stranger", "a third")] {
            fs::write(at(name), text).unwrap();
        }
        let id = |name: &str| build_id_of(&at(name)).unwrap();
        assert!(is_same_build(&id("palyra"), &at("palyra")));
        assert!(is_same_build(&id("palyrad"), &at("palyra")));
        assert!(!is_same_build(&id("stranger"), &at("palyra")));
        assert!(id("palyra").starts_with(concat!(env!("CARGO_PKG_VERSION"), "+3-")));
    }
}
