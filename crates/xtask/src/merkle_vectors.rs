//! Published proofs of other projects, run through the ledger's verification.
//!
//! Owns unpacking them and starting the ledger's example that judges them. Knows no proof: what is read and
//! what agrees is the example's own affair. Begin at [`judge`].

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::repo;

/// Judges the vectors in the folder `testdata` of transparency-dev/merkle, or in a tar.gz that holds it.
///
/// Fails when a vector disagrees or none was found. Programs are started by `run`, which fails when they do.
pub(crate) fn judge(vectors: &Path, run: impl Fn(Command) -> Result<()>) -> Result<()> {
    let vectors = std::path::absolute(vectors).context("could not find the vectors")?;
    let folder = if vectors.is_dir() { vectors } else { unpack(&vectors, &run)? };
    let mut judge = Command::new("cargo");
    judge.args([
        "run",
        "--quiet",
        "--locked",
        "--package",
        "palyra-ledger",
        "--example",
        "merkle_vectors",
        "--",
    ]);
    judge.arg(folder).current_dir(repo::root());
    run(judge)
}

fn unpack(archive: &Path, run: impl Fn(Command) -> Result<()>) -> Result<PathBuf> {
    let folder = repo::root().join("target/merkle-vectors");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).context("could not remove the vectors of last time")?;
    }
    std::fs::create_dir_all(&folder).context("could not create target/merkle-vectors")?;
    let mut tar = Command::new("tar");
    tar.arg("--extract").arg("--file").arg(archive).arg("--directory").arg(&folder);
    run(tar)?;
    Ok(folder)
}
