//! One row tried: its tests pass at the commit, and fail without the product part of it.
//!
//! Owns the verdict. The first run is the control: a test that fails anyway shows nothing.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::checkout::SpareCheckout;
use super::page::{FaultRow, TestName};

/// What a trial showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Each test passed with the mend and failed without it.
    Fails,
    /// The tests do not compile without the mend, or are no longer part of the build: they use what it added.
    DoesNotCompile,
    /// A test passed without the mend.
    PassesWithout,
    /// A test failed although the mend was there.
    FailsAnyway,
    /// The commit changes nothing of the product.
    NoProduct,
}

impl Verdict {
    /// Returns whether the row keeps its word.
    pub(super) fn is_good(self) -> bool {
        matches!(self, Self::Fails | Self::DoesNotCompile)
    }

    /// Returns the verdict in words.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Fails => "fails without the mend",
            Self::DoesNotCompile => "does not compile without the mend",
            Self::PassesWithout => "PASSES WITHOUT THE MEND",
            Self::FailsAnyway => "FAILS WITH THE MEND",
            Self::NoProduct => "THE COMMIT CHANGES NO PRODUCT",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    NotBuilt,
}

/// Tries one row.
pub(super) fn of(checkout: &SpareCheckout, row: &FaultRow) -> Result<Verdict> {
    checkout.go_to(&row.commit)?;
    for test in &row.tests {
        if run(checkout, test)? != Outcome::Passed {
            return Ok(Verdict::FailsAnyway);
        }
    }
    if checkout.take_back_product()?.is_empty() {
        return Ok(Verdict::NoProduct);
    }
    let mut verdict = Verdict::Fails;
    for test in &row.tests {
        match run(checkout, test)? {
            Outcome::Passed => return Ok(Verdict::PassesWithout),
            Outcome::Failed => {}
            Outcome::NotBuilt => verdict = Verdict::DoesNotCompile,
        }
    }
    Ok(verdict)
}

/// Runs one test. The runner ends with 100 when a test failed; anything else but 0 means that none ran.
fn run(checkout: &SpareCheckout, test: &TestName) -> Result<Outcome> {
    const TEST_RUN_FAILED: i32 = 100;
    let mut cargo = Command::new("cargo");
    cargo.args(["nextest", "run", "--locked", "--package", &test.package]);
    match &test.binary {
        Some(binary) => cargo.args(["--test", binary]),
        None => cargo.args(["--lib", "--bins"]),
    };
    cargo.args(["--no-tests", "fail", "-E", &format!("test(={})", test.path)]);
    let target = crate::repo::root().join("target/known-faults/target");
    cargo.env("CARGO_TARGET_DIR", target).current_dir(checkout.folder());
    cargo.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(match cargo.status().context("could not start cargo")?.code() {
        Some(0) => Outcome::Passed,
        Some(TEST_RUN_FAILED) => Outcome::Failed,
        _ => Outcome::NotBuilt,
    })
}
