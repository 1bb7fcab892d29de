//! What a git folder can have run.
//!
//! Owns the list of its members by which git starts programs, or finds others that say so. Everything else in it is
//! free: objects, references, the index and the log of them. Source: gitrepository-layout(5), githooks(5).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use palyra_types::places::is_git;
use rustix::fs::FileType;

use super::git_config::{SettingsKind, resolve};
use super::tree::TreeEntry;
use super::walk::{RunRisk, TreeWalk, folded_name};

/// Folders of submodules in each other, at most.
const MODULE_DEPTH_MAX: usize = 8;
/// Bytes of a small file of git that are read.
const SMALL_BYTES_MAX: usize = 1 << 20;

/// What a git folder is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitFolderKind {
    /// A repository of its own, also of a submodule.
    Repository,
    /// A further worktree of the repository above it.
    Worktree,
}

/// Looks at a git folder.
pub(super) fn look(walk: &mut TreeWalk<'_>, path: &Path, kind: GitFolderKind) {
    let Some(entries) = walk.list(path) else { return };
    for TreeEntry { name, kind: entry } in entries {
        let member = path.join(&name);
        match (folded_name(&name).as_str(), entry) {
            ("config" | "config.worktree", entry) => {
                let risk = walk.settings(&member, entry, SettingsKind::Repository(path));
                walk.found_mounted(member, risk);
            }
            // Empty while git makes a worktree; git refuses such a folder.
            ("commondir", _) => {
                let is_usual = kind == GitFolderKind::Worktree
                    && walk
                        .tree
                        .read(&member, SMALL_BYTES_MAX)
                        .is_ok_and(|text| text.is_empty() || text.trim_ascii() == b"../..");
                let risk = if is_usual { RunRisk::Settings(BTreeSet::new()) } else { RunRisk::Content };
                walk.found_mounted(member, risk);
            }
            ("hooks", FileType::Directory) => hooks(walk, member),
            ("info", FileType::Directory) => {
                let attributes = member.join("attributes");
                if walk.tree.stat(&attributes).is_ok() {
                    walk.found_mounted(attributes, RunRisk::Content);
                }
            }
            ("rebase-merge" | "rebase-apply", FileType::Directory) => todo_list(walk, &member),
            ("modules", FileType::Directory) => modules(walk, &member, 0),
            ("worktrees", FileType::Directory) => worktrees(walk, &member),
            // A link in the place of one of these leads to what was not looked at.
            ("hooks" | "info" | "modules" | "worktrees" | "rebase-merge" | "rebase-apply", _) => {
                walk.found_mounted(member, RunRisk::Content);
            }
            _ => {}
        }
    }
}

/// Git's own samples are not run: their names end so.
fn hooks(walk: &mut TreeWalk<'_>, path: PathBuf) {
    for TreeEntry { name, kind } in walk.list(&path).unwrap_or_default() {
        let is_sample = name.to_string_lossy().ends_with(".sample") && kind == FileType::RegularFile;
        if !is_sample {
            walk.found(path.join(name), RunRisk::Content);
        }
    }
    walk.mount(path);
}

/// A rebase that was begun goes on with commands of this list.
fn todo_list(walk: &mut TreeWalk<'_>, path: &Path) {
    let list = path.join("git-rebase-todo");
    let Ok(bytes) = walk.tree.read(&list, SMALL_BYTES_MAX) else { return };
    let text = String::from_utf8_lossy(&bytes);
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned).unwrap_or_default();
    if text.lines().any(|line| ["exec", "x"].contains(&first(line).as_str())) {
        walk.found(list, RunRisk::Content);
    }
}

/// The name of a submodule may have several parts.
fn modules(walk: &mut TreeWalk<'_>, path: &Path, depth: usize) {
    for TreeEntry { name, kind } in walk.list(path).unwrap_or_default() {
        let inner = path.join(&name);
        match kind {
            FileType::Directory if walk.tree.stat(&inner.join("HEAD")).is_ok() => {
                look(walk, &inner, GitFolderKind::Repository);
            }
            FileType::Directory if depth < MODULE_DEPTH_MAX => modules(walk, &inner, depth + 1),
            FileType::Directory | FileType::Symlink => walk.found_mounted(inner, RunRisk::Content),
            _ => {}
        }
    }
}

fn worktrees(walk: &mut TreeWalk<'_>, path: &Path) {
    for TreeEntry { name, kind } in walk.list(path).unwrap_or_default() {
        let inner = path.join(&name);
        match kind {
            FileType::Directory => look(walk, &inner, GitFolderKind::Worktree),
            FileType::Symlink => walk.found_mounted(inner, RunRisk::Content),
            _ => {}
        }
    }
}

/// Looks at what a `.git` that is a file leads to, and returns whether that is a submodule's or a worktree's folder in a
/// `.git` of this workspace.
pub(super) fn follow(walk: &mut TreeWalk<'_>, file: &Path, text: &str) -> bool {
    let Some(target) = known_target(walk.tree.path(), file, text) else { return false };
    let above = target.parent().filter(|above| above.file_name().is_some_and(|name| name == "worktrees"));
    match above.and_then(Path::parent) {
        Some(common) => {
            look(walk, common, GitFolderKind::Repository);
            look(walk, &target, GitFolderKind::Worktree);
        }
        None => look(walk, &target, GitFolderKind::Repository),
    }
    true
}

fn known_target(root: &Path, file: &Path, text: &str) -> Option<PathBuf> {
    let target = text.strip_prefix("gitdir:")?.trim();
    if target.contains('\n') {
        return None;
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    let inner = match Path::new(target).strip_prefix(root) {
        Ok(inner) => resolve(Path::new(""), inner),
        Err(_relative) => resolve(folder, Path::new(target)),
    }?;
    let parts: Vec<String> = inner.iter().map(folded_name).collect();
    let git = parts.iter().position(|part| is_git(part))?;
    let below = &parts[git + 1..];
    let known = below.first().is_some_and(|part| part == "modules" || part == "worktrees");
    (known && below.len() >= 2 && !below.iter().any(|part| is_git(part))).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_leads_only_to_what_is_looked_at() {
        let leads = |file: &str, text: &str| known_target(Path::new("/w"), Path::new(file), text).is_some();
        assert!(leads("sub/.git", "gitdir: ../.git/modules/sub\n"));
        assert!(leads("a/b/.git", "gitdir: ../../.git/modules/a/b\n"));
        assert!(leads("tree/.git", "gitdir: /w/.git/worktrees/tree\n"));
        for text in [
            "gitdir: ev\n",
            "gitdir: ../ev\n",
            "gitdir: ../.git\n",
            "gitdir: ../.git/objects/ev\n",
            "gitdir: ../.git/modules\n",
            "gitdir: ../.git/modules/../objects/ev\n",
            "gitdir: /elsewhere/.git/modules/x\n",
            "gitdir: ../../../.git/modules/x\n",
            "gitdir: ../.git/modules/x/.git/y\n",
            "gitdir: ../.git/modules/a\nb\n",
            "../.git/modules/sub\n",
            "",
        ] {
            assert!(!leads("sub/.git", text), "{text:?}");
        }
    }
}
