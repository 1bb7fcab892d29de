//! Cases that other projects publish, run through ours.
//!
//! Owns unpacking them and starting the example that judges them. Knows no case: what is read and what agrees is the
//! example's own affair. Begin at [`judge`].

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::repo;

/// Cases of one project, and the example that judges them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublishedCases {
    package: &'static str,
    example: &'static str,
    /// Where they are unpacked, below `target`.
    folder: &'static str,
}

/// Proofs of transparency-dev/merkle, for the ledger's verification.
pub(crate) const MERKLE: PublishedCases =
    PublishedCases { package: "palyra-ledger", example: "merkle_vectors", folder: "merkle-vectors" };

/// The integration corpus of cedar-policy, for the policies' index and evaluator.
pub(crate) const CEDAR: PublishedCases =
    PublishedCases { package: "palyra-policy", example: "cedar_corpus", folder: "cedar-corpus" };

/// Judges the cases in a folder, or in a tar.gz that holds it.
///
/// Fails when a case disagrees or none was found. Programs are started by `run`, which fails when they do; `judge`
/// starts the example, and gets the folder as its argument.
pub(crate) fn judge(
    published: PublishedCases,
    cases: &Path,
    judge: impl Fn(PublishedCases, &Path) -> Command,
    run: impl Fn(Command) -> Result<()>,
) -> Result<()> {
    let cases = std::path::absolute(cases).context("could not find the cases")?;
    if cases.is_dir() {
        return run(judge(published, &cases));
    }
    let folder = unpack(published, &cases, &run)?;
    run(judge(published, &folder))?;
    std::fs::remove_dir_all(&folder).context("could not remove what was unpacked")
}

/// Builds the example where that is needed, and starts it.
pub(crate) fn built_now(published: PublishedCases, folder: &Path) -> Command {
    let mut judge = Command::new("cargo");
    judge.args([
        "run",
        "--quiet",
        "--locked",
        "--package",
        published.package,
        "--example",
        published.example,
        "--",
    ]);
    judge.arg(folder).current_dir(repo::root());
    judge
}

/// Starts the example that the suite has built with everything else.
pub(crate) fn built_before(published: PublishedCases, folder: &Path) -> Command {
    let mut judge = Command::new(repo::target().join("debug/examples").join(published.example));
    judge.arg(folder).current_dir(repo::root());
    judge
}

fn unpack(
    published: PublishedCases,
    archive: &Path,
    run: &impl Fn(Command) -> Result<()>,
) -> Result<PathBuf> {
    let folder = repo::target().join(published.folder);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).context("could not remove what was unpacked last time")?;
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
    let mut tar = Command::new("tar");
    tar.arg("--extract").arg("--file").arg(archive).arg("--directory").arg(&folder);
    run(tar)?;
    Ok(folder)
}
