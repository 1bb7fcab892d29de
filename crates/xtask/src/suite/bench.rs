//! The bench crate and the daemon that it measures, both built in release mode.
//!
//! Owns only how they are built and started; what is measured is the bench crate's own.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::repo;

/// What prints without measuring anything.
const WITHOUT_DAEMON: [&str; 4] = ["--list", "--help", "-h", "counts"];

/// Runs the bench crate with `arguments` and returns its exit code.
pub(crate) fn bench(arguments: &[String]) -> Result<ExitCode> {
    let root = repo::root();
    let measures = !matches!(arguments, [only] if WITHOUT_DAEMON.contains(&only.as_str()));
    // Apart, so that the daemon is built with its own features and no others.
    if measures {
        build(&root, &["--package", "palyra", "--bin", "palyrad"])?;
    }
    build(&root, &["--package", "palyra-bench"])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let programs = root.join(target).join("release");
    let mut command = Command::new(programs.join("palyra-bench"));
    command.args(arguments).current_dir(&root);
    if measures {
        command.env("PALYRA_BENCH_DAEMON", programs.join("palyrad"));
    }
    let status = command.status().context("could not start the bench program")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

fn build(root: &Path, what: &[&str]) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--release", "--locked"]).args(what).current_dir(root);
    let status = command.status().context("could not start cargo")?;
    ensure!(status.success(), "cargo could not build {}", what.join(" "));
    Ok(())
}
