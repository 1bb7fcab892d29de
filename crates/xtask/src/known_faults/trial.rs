//! One row tried: its tests pass with the mend, and fail without the product part of it.
//!
//! Owns the verdict. The first run is the control: a test that fails anyway shows nothing. A commit is taken back from
//! the state of now, and from its own where later commits changed the same lines or use what it added.

use std::fs::File;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::checkout::{self, SpareCheckout};
use super::page::{FaultRow, TestName};
use super::revert::RevertOutcome;

/// From which state a commit is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseState {
    /// The commit that the repository is at.
    Head,
    /// The commit of the row.
    Commit,
}

/// What a trial showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TrialVerdict {
    /// Each test passed with the mend and failed without it.
    Fails(BaseState),
    /// A test passed without the mend.
    PassesWithout(BaseState),
    /// A test fails although the mend is there.
    FailsAnyway,
    /// The commit changes nothing of the product.
    NoProduct,
    /// Nothing was shown, for a reason: another row is drawn.
    NotRevertible(String),
}

impl TrialVerdict {
    /// Returns whether the row keeps its word.
    pub(super) fn is_good(&self) -> bool {
        matches!(self, Self::Fails(_))
    }

    /// Returns whether the trial counts.
    pub(super) fn is_shown(&self) -> bool {
        !matches!(self, Self::NotRevertible(_))
    }

    /// Returns the verdict in words.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Fails(BaseState::Head) => "fails without the mend".to_owned(),
            Self::Fails(BaseState::Commit) => "fails without the mend, at its commit".to_owned(),
            Self::PassesWithout(BaseState::Head) => "PASSES WITHOUT THE MEND".to_owned(),
            Self::PassesWithout(BaseState::Commit) => "PASSES WITHOUT THE MEND, at its commit".to_owned(),
            Self::FailsAnyway => "FAILS WITH THE MEND".to_owned(),
            Self::NoProduct => "THE COMMIT CHANGES NO PRODUCT".to_owned(),
            Self::NotRevertible(why) => format!("not revertible: {why}"),
        }
    }
}

/// Returns the verdict on a mend whose own commit was joined with many others.
pub(super) fn of_many_steps(files: usize) -> TrialVerdict {
    let why =
        format!("its commit joins many steps ({files} files of the product), so the mend alone cannot be");
    TrialVerdict::NotRevertible(format!("{why} taken back"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestOutcome {
    Passed,
    Failed,
    NotBuilt,
}

/// Merges a row's commit out of the state of now, and writes nothing.
pub(super) fn merged_out(checkout: &SpareCheckout, row: &FaultRow) -> Result<RevertOutcome> {
    checkout.go_to(checkout.head())?;
    checkout.merge_out(&row.commit)
}

/// Returns whether the tests of a row pass in the state of now, which is checked out.
pub(super) fn control(checkout: &SpareCheckout, row: &FaultRow) -> Result<bool> {
    for test in &row.tests {
        if run(checkout, row, test, "now")? != TestOutcome::Passed {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes a row's commit back from the state of now; an error text says why that shows nothing.
pub(super) fn at_head(checkout: &SpareCheckout, row: &FaultRow) -> Result<Result<TrialVerdict, String>> {
    checkout.go_to(checkout.head())?;
    match checkout.merge_out(&row.commit)? {
        RevertOutcome::NoProduct => Ok(Ok(TrialVerdict::NoProduct)),
        RevertOutcome::ManySteps { files } => Ok(Ok(of_many_steps(files))),
        RevertOutcome::Conflict { path } => {
            Ok(Err(format!("later commits changed the same lines of {path}")))
        }
        RevertOutcome::Clean { files } => {
            checkout.put_all(&files)?;
            without(checkout, row, BaseState::Head)
        }
    }
}

/// Takes a row's commit back from its own state, where its tests have to pass first.
pub(super) fn at_commit(checkout: &SpareCheckout, row: &FaultRow) -> Result<Result<TrialVerdict, String>> {
    checkout.go_to(&row.commit)?;
    for test in &row.tests {
        if run(checkout, row, test, "commit")? != TestOutcome::Passed {
            return Ok(Err("its test does not pass at its commit".to_owned()));
        }
    }
    match checkout.merge_out(&row.commit)? {
        RevertOutcome::NoProduct => Ok(Ok(TrialVerdict::NoProduct)),
        RevertOutcome::ManySteps { files } => Ok(Ok(of_many_steps(files))),
        RevertOutcome::Conflict { path } => Ok(Err(format!("{path} does not merge"))),
        RevertOutcome::Clean { files } => {
            checkout.put_all(&files)?;
            without(checkout, row, BaseState::Commit)
        }
    }
}

fn without(
    checkout: &SpareCheckout,
    row: &FaultRow,
    base: BaseState,
) -> Result<Result<TrialVerdict, String>> {
    let name = match base {
        BaseState::Head => "now-without",
        BaseState::Commit => "commit-without",
    };
    for test in &row.tests {
        match run(checkout, row, test, name)? {
            TestOutcome::Passed => return Ok(Ok(TrialVerdict::PassesWithout(base))),
            TestOutcome::Failed => {}
            TestOutcome::NotBuilt => return Ok(Err("its tests do not build without it".to_owned())),
        }
    }
    Ok(Ok(TrialVerdict::Fails(base)))
}

/// Runs one test. The runner ends with 100 when a test failed; anything else but 0 means that none ran.
fn run(checkout: &SpareCheckout, row: &FaultRow, test: &TestName, state: &str) -> Result<TestOutcome> {
    const TEST_RUN_FAILED: i32 = 100;
    let home = checkout::home();
    let log = home.join("logs").join(format!("{}-{state}-{}.log", row.commit, test.path.replace("::", "-")));
    let log = File::create(&log).with_context(|| format!("could not write {}", log.display()))?;
    if test.package == "palyra" {
        build_component_compiler(checkout)?;
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["nextest", "run", "--locked", "--package", &test.package]);
    match &test.binary {
        Some(binary) => cargo.args(["--test", binary]),
        None => cargo.args(["--lib", "--bins"]),
    };
    cargo.args(["--no-tests", "fail", "-E", &format!("test(={})", test.path)]);
    cargo.env("CARGO_TARGET_DIR", home.join("target")).current_dir(checkout.folder());
    cargo.stdin(Stdio::null()).stdout(log.try_clone().context("could not share a log")?).stderr(log);
    Ok(match cargo.status().context("could not start cargo")?.code() {
        Some(0) => TestOutcome::Passed,
        Some(TEST_RUN_FAILED) => TestOutcome::Failed,
        _ => TestOutcome::NotBuilt,
    })
}

/// Builds the program that a daemon of the end-to-end tests finds beside its own. Older commits have no such feature, and
/// their daemon needs no such program, so a failure is left to the test to show.
fn build_component_compiler(checkout: &SpareCheckout) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--locked",
        "--quiet",
        "--package",
        "palyra-wasm",
        "--features",
        "compiler",
        "--bins",
    ]);
    cargo.env("CARGO_TARGET_DIR", checkout::home().join("target")).current_dir(checkout.folder());
    cargo.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    cargo.status().context("could not start cargo")?;
    Ok(())
}
