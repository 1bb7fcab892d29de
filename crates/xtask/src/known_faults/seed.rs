//! The first contents of the build folder: what the repository itself has built.
//!
//! Crates of other people need not be built again; cargo knows them by their place in the registry. Own crates are
//! newer in the checkout and are built there. Libraries are linked, for the compiler replaces them and never writes
//! into them; everything else is copied.

use std::path::Path;

use anyhow::{Context, Result};

/// Fills the build folder, unless it has contents or there is nothing to fill it with.
pub(super) fn fill(from: &Path, to: &Path) -> Result<()> {
    if to.exists() || !from.join("debug/.fingerprint").is_dir() {
        return Ok(());
    }
    let unfinished = to.with_extension("unfinished");
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished).context("could not remove an unfinished build folder")?;
    }
    for folder in ["debug/build", "debug/.fingerprint", "debug/deps"] {
        copy(&from.join(folder), &unfinished.join(folder))
            .with_context(|| format!("could not copy {folder} of the repository's build folder"))?;
    }
    std::fs::rename(&unfinished, to).context("could not rename the build folder")
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&source, &target)?;
        } else if is_library(&source) {
            if std::fs::hard_link(&source, &target).is_err() {
                copy_file(&source, &target)?;
            }
        } else if kind.is_file() && !is_program(&source) {
            copy_file(&source, &target)?;
        }
    }
    Ok(())
}

/// Copies with the time of the last change: cargo compares it with that of the sources.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::copy(from, to)?;
    let changed = from.metadata()?.modified()?;
    std::fs::File::open(to)?.set_modified(changed)
}

fn is_library(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "rlib" || extension == "rmeta")
}

/// Programs and tests, which are large and made anew; their folder is `deps`, and they have no extension.
fn is_program(file: &Path) -> bool {
    let is_in_deps = file.parent().is_some_and(|folder| folder.ends_with("deps"));
    is_in_deps && file.extension().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_their_times_are_taken_over_and_programs_are_not() {
        let folder = std::env::temp_dir().join(format!("palyra-seed-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        for file in [
            "debug/.fingerprint/a-1/lib-a",
            "debug/build/b-2/output",
            "debug/deps/liba-1.rlib",
            "debug/deps/test-3",
        ] {
            let file = from.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("it is made");
            std::fs::write(&file, "x").expect("it is written");
            let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
            std::fs::File::options()
                .write(true)
                .open(&file)
                .and_then(|file| file.set_modified(long_ago))
                .expect("its time is set");
        }
        fill(&from, &to).expect("it is filled");
        for file in ["debug/.fingerprint/a-1/lib-a", "debug/build/b-2/output", "debug/deps/liba-1.rlib"] {
            let age = |root: &Path| {
                root.join(file).metadata().and_then(|data| data.modified()).expect("it is there")
            };
            assert_eq!(age(&from), age(&to), "{file}");
        }
        assert!(!to.join("debug/deps/test-3").exists());
        std::fs::remove_dir_all(&folder).expect("it is removed");
    }
}
