//! Finds what is protected in a workspace.
//!
//! Owns the order in which the tree is looked through. Decides by names and by what lies beside them, never by who made
//! them. Begin at [`scan`].

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use palyra_types::places::{is_git, runs_later_itself};
use rustix::fs::FileType;

use super::git_config::SettingsKind;
use super::git_folder::{self, GitFolderKind};
use super::protected_paths::{ProtectedPaths, ReadOnlyName};
use super::tree::{TreeEntry, WorkspaceTree};
use super::walk::{RunRisk, SETTINGS_BYTES_MAX, ScanResult, TreeWalk, folded_name};

/// Looks through a whole workspace; `protected` is what is protected there by its path.
pub(crate) fn scan(tree: &WorkspaceTree, protected: &ProtectedPaths) -> io::Result<ScanResult> {
    let mut walk = TreeWalk::begin(tree)?;
    let mut queue = VecDeque::from([PathBuf::new()]);
    while let Some(path) = queue.pop_front() {
        folder(&mut walk, protected, &path, &mut queue);
    }
    Ok(walk.end())
}

fn folder(walk: &mut TreeWalk<'_>, protected: &ProtectedPaths, path: &Path, queue: &mut VecDeque<PathBuf>) {
    let Some(entries) = walk.list(path) else { return };
    if is_git_folder(&entries) {
        git_folder::look(walk, path, GitFolderKind::Repository);
    }
    let above = path.file_name().map(folded_name);
    let read_only = protected.read_only_in(path);
    for TreeEntry { name, kind } in entries {
        let inner = path.join(&name);
        let name = folded_name(&name);
        match read_only.get(&name) {
            Some(_) if kind == FileType::Symlink => walk.found_link(inner.clone()),
            Some(ReadOnlyName::Itself) => walk.found_read_only(inner.clone()),
            Some(ReadOnlyName::OnTheWay) | None => {}
        }
        if protected.own.contains(&inner) {
            walk.found_mounted(inner, RunRisk::Content);
        } else if is_git(&name) {
            git_entry(walk, &inner, kind);
        } else if name == ".gitmodules" {
            let risk = walk.settings(&inner, kind, SettingsKind::Modules);
            walk.found_mounted(inner, risk);
        } else if is_run_later(above.as_deref(), &name) {
            walk.found_mounted(inner, RunRisk::Content);
        } else if kind == FileType::Directory {
            queue.push_back(inner);
        }
    }
}

/// Looks at something that git takes for a repository by its name.
fn git_entry(walk: &mut TreeWalk<'_>, path: &Path, kind: FileType) {
    match kind {
        FileType::Directory => git_folder::look(walk, path, GitFolderKind::Repository),
        FileType::RegularFile => {
            let text = walk.tree.read(path, SETTINGS_BYTES_MAX);
            // Git makes the file before it writes where it leads to; until then git refuses to follow it.
            let is_harmless = text.is_ok_and(|text| {
                text.is_empty() || git_folder::follow(walk, path, &String::from_utf8_lossy(&text))
            });
            let harmless = RunRisk::Settings(BTreeSet::new());
            walk.found_mounted(path.to_owned(), if is_harmless { harmless } else { RunRisk::Content });
        }
        FileType::Symlink => {
            // The link stays as it is, and what it leads to is looked at where it lies.
            walk.mount(path.join("config"));
            walk.found(path.to_owned(), RunRisk::Content);
        }
        _ => walk.found_mounted(path.to_owned(), RunRisk::Content),
    }
}

/// Returns whether something runs by itself what has this folded name, in a folder of that one.
fn is_run_later(above: Option<&str>, name: &str) -> bool {
    let names: Vec<String> = above.into_iter().chain([name]).map(str::to_owned).collect();
    runs_later_itself(&names)
}

/// Returns whether git would take a folder with these names for a repository. Source: `is_git_directory` of git.
fn is_git_folder(entries: &[TreeEntry]) -> bool {
    let has = |name: &str| entries.iter().any(|entry| folded_name(&entry.name) == name);
    has("head") && ((has("objects") && has("refs")) || has("commondir"))
}
