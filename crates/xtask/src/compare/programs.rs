//! The programs of both sides, built in the same profile.
//!
//! Owns the worktree of the other commit below `target/compare` and its build folder. Leaves the repository's own
//! files alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::repo;

/// How the programs are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuildProfile {
    /// As they ship.
    Dist,
    /// For development: the figures say nothing.
    Debug,
}

/// The programs of one side.
#[derive(Debug, Clone)]
pub(super) struct SidePrograms {
    /// Its commit.
    pub(super) commit: String,
    pub(super) palyrad: PathBuf,
    pub(super) verifier: PathBuf,
    pub(super) bench: PathBuf,
}

impl SidePrograms {
    /// Builds what is checked out here.
    pub(super) fn of_now(profile: BuildProfile) -> Result<Self> {
        let root = repo::root();
        Self::build(&root, &repo::target(), profile)
    }

    /// Builds a commit in a worktree of its own.
    pub(super) fn of_commit(base: &str, profile: BuildProfile) -> Result<Self> {
        let checkout = check_out(base)?;
        Self::build(&checkout, &home().join("target"), profile)
    }

    fn build(source: &Path, target: &Path, profile: BuildProfile) -> Result<Self> {
        // Apart, so that each is built with its own features and no others.
        for what in [
            &["--package", "palyra", "--bin", "palyrad", "--features", "jemalloc"][..],
            &["--package", "palyra-verify"],
            &["--package", "palyra-bench"],
        ] {
            let mut command = Command::new("cargo");
            command
                .args(["build", "--quiet", "--locked"])
                .current_dir(source)
                .env("CARGO_TARGET_DIR", target);
            match profile {
                BuildProfile::Dist => command.args(["--profile", "dist"]).args(what),
                // Without the C code of the allocator, which takes minutes.
                BuildProfile::Debug => command.args(what.split_at(what.len().min(4)).0),
            };
            let status = command.status().context("could not start cargo")?;
            ensure!(status.success(), "cargo could not build {} in {}", what.join(" "), source.display());
        }
        let folder = target.join(if profile == BuildProfile::Dist { "dist" } else { "debug" });
        let program = |name: &str| std::path::absolute(folder.join(name)).context("where the programs are");
        let commit = git(source, &["describe", "--always", "--dirty"])?;
        Ok(Self {
            commit,
            palyrad: program("palyrad")?,
            verifier: program("palyra-verify")?,
            bench: program("palyra-bench")?,
        })
    }
}

/// Makes the worktree, or finds the one of an earlier run, and puts it at the commit.
pub(super) fn check_out(base: &str) -> Result<PathBuf> {
    let root = repo::root();
    let commit = git(&root, &["rev-parse", "--verify", &format!("{base}^{{commit}}")])
        .with_context(|| format!("`{base}` names no commit; `git log --oneline` lists them"))?;
    let checkout = home().join("checkout");
    if !checkout.join(".git").exists() {
        git(&root, &["worktree", "prune"])?;
        git(&root, &["worktree", "add", "--detach", &checkout.to_string_lossy(), &commit])?;
    }
    git(&checkout, &["checkout", "--quiet", "--force", "--detach", &commit])?;
    Ok(checkout)
}

/// Returns the folder of everything that the verb makes.
pub(super) fn home() -> PathBuf {
    repo::root().join("target/compare")
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").args(arguments).current_dir(folder).output();
    let output = output.context("could not start git")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`git {}` failed: {}", arguments.join(" "), complaint.trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
