//! From a path to the module it holds.
//!
//! Owns cargo's conventions of where targets and modules lie. Reads no file.

use crate::tidy::source::{FilePlace, SourceFile};

/// Returns an empty file that knows its crate, its place and its module path.
pub(super) fn file(path: &str) -> SourceFile {
    let parts: Vec<&str> = path.split('/').collect();
    let (folder, rest) = match parts[..] {
        ["crates", folder, ref rest @ ..] => (folder, rest),
        _ => ("", &parts[..]),
    };
    let (place, module) = match *rest {
        ["src", "bin", ..] => (FilePlace::OwnTarget, Vec::new()),
        ["src", ref below @ ..] => (FilePlace::Source, module_path(below)),
        ["tests" | "benches" | "examples", ..] => (FilePlace::TestTarget, Vec::new()),
        _ => (FilePlace::OwnTarget, Vec::new()),
    };
    SourceFile {
        path: path.to_owned(),
        crate_folder: folder.to_owned(),
        place,
        module,
        ..SourceFile::default()
    }
}

fn module_path(below_src: &[&str]) -> Vec<String> {
    let mut path: Vec<String> =
        below_src.iter().map(|part| part.trim_end_matches(".rs").to_owned()).collect();
    let last = path.last().map(String::as_str);
    if last == Some("mod") || (path.len() == 1 && matches!(last, Some("lib" | "main"))) {
        path.pop();
    }
    path
}
