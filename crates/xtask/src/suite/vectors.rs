//! Conformance data that other projects publish, where it is at hand.
//!
//! Owns where it lies and how long judging it may take; the repository contains none of it. How one sort is
//! judged is in the module of its name.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::command;
use crate::published::{self, PublishedCases};

/// Names the folder: in it lie `merkle/testdata.tar.gz` of transparency-dev/merkle and `cedar/corpus-tests.tar.gz` of
/// cedar-policy.
pub(super) const VARIABLE: &str = "PALYRA_VECTORS";

const TIME: Duration = Duration::from_secs(15 * 60);

/// Returns the folder with the data, where one was named.
pub(super) fn folder() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|named| !named.is_empty()).map(PathBuf::from)
}

/// One case of so many is judged by the suite; `cargo xtask cedar-corpus` judges all.
const CEDAR_EVERY: u64 = 4;

/// Judges all proofs, and those policies that the seed draws; what is missing in a folder that was named is a failure.
pub(super) fn run(folder: &Path, seed: u64, deadline: Instant) -> Result<()> {
    judge(published::MERKLE, &folder.join("merkle/testdata.tar.gz"), published::built_before, deadline)?;
    let share = format!("{}/{CEDAR_EVERY}", seed % CEDAR_EVERY);
    let corpus = folder.join("cedar/corpus-tests.tar.gz");
    judge(published::CEDAR, &corpus, |published, cases| drawn(published, cases, &share), deadline)
}

fn drawn(published: PublishedCases, cases: &Path, share: &str) -> Command {
    let mut judge = published::built_before(published, cases);
    judge.arg(share);
    judge
}

/// Judges the cases of one project alone.
pub(crate) fn published_cases(published: PublishedCases, cases: &Path) -> Result<ExitCode> {
    judge(published, cases, published::built_now, Instant::now() + TIME)?;
    Ok(ExitCode::SUCCESS)
}

fn judge(
    published: PublishedCases,
    cases: &Path,
    judge: impl Fn(PublishedCases, &Path) -> Command,
    deadline: Instant,
) -> Result<()> {
    published::judge(published, cases, judge, |program| command::run(program, deadline))
}
