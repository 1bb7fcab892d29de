//! A checkout of its own, in which commits are taken back.
//!
//! Owns the folder below `target`, what git does in it, and the build folder beside it. Leaves the repository's own
//! files alone. The build folder begins with what the repository has built of other people's crates.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};

use crate::repo;

use super::revert::{self, FileVersion, RevertOutcome};

/// A worktree of the repository that nobody else uses.
#[derive(Debug)]
pub(super) struct SpareCheckout {
    folder: PathBuf,
    head: String,
}

impl SpareCheckout {
    /// Makes the worktree, or finds the one of an earlier run.
    pub(super) fn open() -> Result<Self> {
        let folder = home().join("checkout");
        if !folder.join(".git").exists() {
            let at = folder.to_string_lossy().into_owned();
            git(&repo::root(), &["worktree", "prune"])?;
            git(&repo::root(), &["worktree", "add", "--detach", &at, "HEAD"])?;
        }
        super::seed::fill(&repo::root().join("target"), &home().join("target"))?;
        std::fs::create_dir_all(home().join("logs")).context("could not make the folder of logs")?;
        let head = git(&repo::root(), &["rev-parse", "HEAD"])?.trim().to_owned();
        Ok(Self { folder, head })
    }

    /// Returns its folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the commit that the repository is at.
    pub(super) fn head(&self) -> &str {
        &self.head
    }

    /// Puts it at a commit, with nothing else in it.
    pub(super) fn go_to(&self, commit: &str) -> Result<()> {
        git(&self.folder, &["checkout", "--quiet", "--force", "--detach", commit])?;
        git(&self.folder, &["clean", "--quiet", "-d", "--force"])?;
        Ok(())
    }

    /// Returns how many commits lie before one, so that neighbours can be tried one after the other.
    pub(super) fn age(&self, commit: &str) -> Result<usize> {
        Ok(git(&self.folder, &["rev-list", "--count", commit])?.trim().parse()?)
    }

    /// Merges the product part of a commit out of the commit that is checked out, and writes nothing.
    pub(super) fn merge_out(&self, commit: &str) -> Result<RevertOutcome> {
        let changed =
            git(&self.folder, &["diff", "--no-renames", "--name-only", &format!("{commit}^"), commit])?;
        let renamed = git(
            &self.folder,
            &["diff", "--find-renames", "--name-status", "--diff-filter=R", commit, "HEAD"],
        )?;
        let changed = match revert::product_of_one_mend(&changed) {
            Ok(changed) => changed,
            Err(outcome) => return Ok(outcome),
        };
        let mut files = Vec::new();
        for path in changed {
            let path_now = revert::path_now(path, &renamed);
            let version = FileVersion {
                before: self.show(&format!("{commit}^"), path)?,
                after: self.show(commit, path)?,
                now: self.show("HEAD", path_now)?,
            };
            match revert::without(&version, &home())? {
                Some(text) => files.push((path_now.to_owned(), text)),
                None => return Ok(RevertOutcome::Conflict { path: path_now.to_owned() }),
            }
        }
        Ok(RevertOutcome::Clean { files })
    }

    /// Writes what was merged.
    pub(super) fn put_all(&self, files: &[(String, Option<String>)]) -> Result<()> {
        files.iter().try_for_each(|(path, text)| self.put(path, text.as_deref()))
    }

    fn show(&self, commit: &str, path: &str) -> Result<Option<String>> {
        let output = run(&self.folder, &["show", &format!("{commit}:{path}")])?;
        Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    fn put(&self, path: &str, text: Option<&str>) -> Result<()> {
        let file = self.folder.join(path);
        let Some(text) = text else {
            return match std::fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(error).with_context(|| format!("could not remove {path}"))
                }
                _ => Ok(()),
            };
        };
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("could not make the folder of {path}"))?;
        }
        if std::fs::read_to_string(&file).is_ok_and(|now| now == text) {
            return Ok(());
        }
        std::fs::write(&file, text).with_context(|| format!("could not write {path}"))
    }
}

/// Returns the folder of everything that the verb makes.
pub(super) fn home() -> PathBuf {
    repo::root().join("target/known-faults")
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = run(folder, arguments)?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`git {}` failed: {}", arguments.join(" "), complaint.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn run(folder: &Path, arguments: &[&str]) -> Result<Output> {
    Command::new("git").args(arguments).current_dir(folder).output().context("could not start git")
}
