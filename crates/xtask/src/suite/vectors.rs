//! Conformance data that other projects publish, where it is at hand.
//!
//! Owns where it lies and how long judging it may take; the repository contains none of it. How one sort is
//! judged is in the module of its name.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::command;
use crate::merkle_vectors;

/// Names the folder: `merkle/testdata.tar.gz` of transparency-dev/merkle lies in it.
pub(super) const VARIABLE: &str = "PALYRA_VECTORS";

const TIME: Duration = Duration::from_secs(15 * 60);

/// Returns the folder with the data, where one was named.
pub(super) fn folder() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|named| !named.is_empty()).map(PathBuf::from)
}

/// Judges all of it; what is missing in a folder that was named is a failure.
pub(super) fn run(folder: &Path, deadline: Instant) -> Result<()> {
    merkle(&folder.join("merkle/testdata.tar.gz"), deadline)
}

/// Judges proof vectors alone.
pub(crate) fn merkle_vectors(vectors: &Path) -> Result<ExitCode> {
    merkle(vectors, Instant::now() + TIME)?;
    Ok(ExitCode::SUCCESS)
}

fn merkle(vectors: &Path, deadline: Instant) -> Result<()> {
    merkle_vectors::judge(vectors, |program| command::run(program, deadline))
}
