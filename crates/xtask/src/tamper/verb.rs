//! The verb: build, let a daemon write journals, break them and others, tell.
//!
//! Owns the order of those steps and the exit code. The breaking is done by the example `tamper` of the verifier's
//! crate, whose classes are those of its tests. Progress goes to standard error.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::table::{self, TamperRow};
use super::{evidence, journals};
use crate::repo;

/// What was asked for on the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct TamperOptions {
    /// Changes of each class, and clean logs.
    #[arg(long, default_value_t = 1000)]
    mutations: u64,
    /// Prints one JSON object instead of the table.
    #[arg(long)]
    json: bool,
    /// Writes the result into docs/evidence.md.
    #[arg(long)]
    write: bool,
    /// A palyra that is built already, instead of building one.
    #[arg(long, value_name = "FILE")]
    palyra: Option<PathBuf>,
    /// The example `tamper` of the verifier's crate, built already, with `palyra-verify` one folder above it.
    #[arg(long, value_name = "FILE")]
    tamper: Option<PathBuf>,
}

/// Breaks journals of the tests' writer and of a daemon; fails when a single answer is wrong.
pub(crate) fn verb(options: &TamperOptions) -> Result<ExitCode> {
    let began = Instant::now();
    let progress = |what: &str| eprintln!("[{:>4} s] {what}", began.elapsed().as_secs());
    let tamper = match &options.tamper {
        Some(program) => std::path::absolute(program).context("could not find tamper")?,
        None => {
            progress("building the verifier");
            build(&["--profile", "dist", "--package", "palyra-verify", "--bins", "--example", "tamper"])?;
            repo::root().join("target/dist/examples/tamper")
        }
    };
    let palyra = match &options.palyra {
        Some(program) => std::path::absolute(program).context("could not find palyra")?,
        None => {
            progress("building palyra");
            build(&["--package", "palyra", "--bins"])?;
            repo::root().join("target/debug/palyra")
        }
    };
    let homes = std::env::temp_dir().join(format!("palyra-tamper-{}", std::process::id()));
    progress("letting a daemon write journals");
    let real = journals::write(&palyra, &homes)?;
    let tried = Instant::now();
    progress("breaking them");
    let rows = run(&tamper, options.mutations, &real)?;
    let seconds = tried.elapsed().as_secs();
    std::fs::remove_dir_all(&homes).with_context(|| format!("could not remove {}", homes.display()))?;
    if options.json {
        println!("{}", table::json(&rows, seconds));
    } else {
        println!("{}", table::text(&rows));
    }
    if options.write {
        evidence::write(&rows, options.mutations, seconds, &tamper)?;
    }
    let wrong: u64 = rows.iter().map(|row| row.wrong).sum();
    progress(&format!("{wrong} wrong answers"));
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build(arguments: &[&str]) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked"]).args(arguments).current_dir(repo::root());
    let status = cargo.status().context("could not start cargo")?;
    if !status.success() {
        bail!("`cargo build {}` failed", arguments.join(" "));
    }
    Ok(())
}

fn run(tamper: &Path, mutations: u64, real: &[PathBuf]) -> Result<Vec<TamperRow>> {
    let mut command = Command::new(tamper);
    command.arg("--mutations").arg(mutations.to_string());
    for file in real {
        command.arg("--real").arg(file);
    }
    let output = command.stderr(Stdio::inherit()).output().context("could not start the example `tamper`")?;
    let text =
        String::from_utf8(output.stdout).context("the example `tamper` printed something else than text")?;
    let rows: Vec<TamperRow> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    if rows.is_empty() {
        bail!("the example `tamper` found nothing to break ({})", output.status);
    }
    Ok(rows)
}
