//! Folders that would become a git repository by what a call writes, or are one under another name than `.git`.
//!
//! Git takes a folder with `HEAD`, `objects` and `refs` for a repository, whatever it is called, and runs what its
//! settings say as soon as somebody asks git for the status there. Invariant: no call of a file tool completes one, nor
//! changes what git runs in one. Source: `is_git_directory` of git, gitrepository-layout(5).

use std::collections::BTreeSet;
use std::path::{Component, Path};

use palyra_types::places::folded;
use rustix::fs::{AtFlags, statat};

use crate::failure::ToolFailure;
use crate::workspace::{Workspace, WorkspacePath};

/// Names by which git knows a repository, and by which it finds what to run in one, folded.
const MEMBERS: [&str; 8] =
    ["head", "objects", "refs", "commondir", "config", "config.worktree", "hooks", "info"];
/// Those of them that make a folder a repository, as git spells them.
const MARKS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// Fails when a call that writes these files writes a member of such a folder.
pub(super) fn refuse(workspace: &Workspace, written: &[&WorkspacePath]) -> Result<(), ToolFailure> {
    for path in written {
        for folder in folders_with_a_member(path) {
            if is_repository(workspace, &folder, written) {
                return Err(ToolFailure::Unsuitable(format!(
                    "with `{}` the folder `{}` is a git repository, whose settings and hooks git would run; choose another \
                     name, or make the repository with `git init` by run_command",
                    path.show(),
                    folder.show()
                )));
            }
        }
    }
    Ok(())
}

/// Returns the folders on the way to a path of which the next name is a member.
fn folders_with_a_member(path: &WorkspacePath) -> Vec<WorkspacePath> {
    let (mut found, mut at) = (Vec::new(), path.clone());
    while let (Some(folder), Some(name)) = (at.parent(), at.name()) {
        if MEMBERS.contains(&folded(&name.to_string_lossy()).as_str()) {
            found.push(folder.clone());
        }
        at = folder;
    }
    found
}

/// Returns whether git takes a folder for a repository, with what a call writes there.
fn is_repository(workspace: &Workspace, folder: &WorkspacePath, written: &[&WorkspacePath]) -> bool {
    let opened = workspace.folder(folder).ok();
    let is_there = |name: &str| {
        opened.as_ref().is_some_and(|opened| statat(opened, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
    };
    let made: BTreeSet<String> =
        written.iter().filter_map(|path| next_name(folder.as_path(), path.as_path())).collect();
    let [head, objects, refs, common] = MARKS.map(|name| is_there(name) || made.contains(&folded(name)));
    head && ((objects && refs) || common)
}

/// Returns the folded name that follows a folder on the way to a path.
fn next_name(folder: &Path, path: &Path) -> Option<String> {
    match path.strip_prefix(folder).ok()?.components().next()? {
        Component::Normal(name) => Some(folded(&name.to_string_lossy())),
        _ => None,
    }
}
