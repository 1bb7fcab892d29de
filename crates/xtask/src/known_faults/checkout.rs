//! A checkout of its own, in which commits are taken back.
//!
//! Owns the folder below `target` and what git does in it. Leaves the repository's own files alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::repo;

use super::product;

/// A worktree of the repository that nobody else uses.
#[derive(Debug)]
pub(super) struct SpareCheckout {
    folder: PathBuf,
}

impl SpareCheckout {
    /// Makes the worktree, or finds the one of an earlier run.
    pub(super) fn open() -> Result<Self> {
        let folder = repo::root().join("target/known-faults/checkout");
        if !folder.join(".git").exists() {
            let at = folder.to_string_lossy().into_owned();
            git(&repo::root(), &["worktree", "prune"])?;
            git(&repo::root(), &["worktree", "add", "--detach", &at, "HEAD"])?;
        }
        Ok(Self { folder })
    }

    /// Returns its folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts it at a commit, with nothing else in it.
    pub(super) fn go_to(&self, commit: &str) -> Result<()> {
        git(&self.folder, &["checkout", "--quiet", "--force", "--detach", commit])?;
        git(&self.folder, &["clean", "--quiet", "-d", "--force"])?;
        Ok(())
    }

    /// Takes the product part of the commit back; returns the files that changed by it.
    pub(super) fn take_back_product(&self) -> Result<Vec<String>> {
        let changed = git(&self.folder, &["diff", "--no-renames", "--name-only", "HEAD^", "HEAD"])?;
        let changed: Vec<String> =
            changed.lines().filter(|path| product::is_product(path)).map(str::to_owned).collect();
        for path in &changed {
            self.take_back(path)?;
        }
        Ok(changed)
    }

    fn take_back(&self, path: &str) -> Result<()> {
        let file = self.folder.join(path);
        let now = std::fs::read_to_string(&file).unwrap_or_default();
        let former =
            Command::new("git").args(["show", &format!("HEAD^:{path}")]).current_dir(&self.folder).output();
        let former = former.context("could not start git")?;
        if !former.status.success() {
            // The commit added it. What names it in a `mod` line is taken back, too.
            return std::fs::remove_file(&file).with_context(|| format!("could not remove {path}"));
        }
        let before = String::from_utf8_lossy(&former.stdout);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("could not make the folder of {path}"))?;
        }
        std::fs::write(&file, product::taken_back(&before, &now))
            .with_context(|| format!("could not write {path}"))
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output =
        Command::new("git").args(arguments).current_dir(folder).output().context("could not start git")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`git {}` failed: {}", arguments.join(" "), complaint.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
