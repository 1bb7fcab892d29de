//! `cargo xtask dist`.
//!
//! Owns the order: programs, papers, tree, packages, and the trial of the package where it was asked for.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::dependencies::Dependencies;
use super::packages::{Release, Trees};
use super::tree::{Layout, Papers, Tree};
use super::{bill, licences, packages, programs, trial};
use crate::{evidence_page, repo};

/// Largest size of `palyra`, in bytes.
const PALYRA_BYTES_MAX: u64 = 35 << 20;
/// Largest size of all programs together, in bytes.
const PROGRAMS_BYTES_MAX: u64 = 60 << 20;

/// What to make.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Built programs, instead of building them as they ship
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
    /// Where the packages go
    #[arg(long, value_name = "DIR", default_value = "target/packages")]
    out: PathBuf,
    /// Installs the package into a bare Debian, runs the main job there as an ordinary user, and removes it (as root)
    #[arg(long)]
    trial: bool,
    /// Fails when a program is larger than what ships may be
    #[arg(long)]
    check_sizes: bool,
}

/// Makes the packages and prints where they are.
pub(crate) fn verb(options: &Options) -> Result<ExitCode> {
    let began = Instant::now();
    let progress = |what: &str| eprintln!("[{:>4} s] {what}", began.elapsed().as_secs());
    let folder = match &options.programs {
        Some(folder) => std::path::absolute(folder).context("could not find the programs")?,
        None => {
            progress("building the programs; fat link-time optimisation takes a while");
            programs::build()?
        }
    };
    let bytes = sizes(&folder)?;
    let within = bytes.palyra <= PALYRA_BYTES_MAX && bytes.all <= PROGRAMS_BYTES_MAX;
    ensure!(within || !options.check_sizes, "the programs are larger than what ships may be");
    progress("collecting licences and the bill of materials");
    let dependencies = Dependencies::of_shipped()?;
    let papers = Papers { licences: licences::text(&dependencies)?, bill: bill::of(&dependencies)? };
    let release = Release { version: version(&folder)?, date: commit_date()? };
    progress("laying out the tree");
    let out = repo::root().join(&options.out);
    let trees = Trees {
        system: Tree::lay_out(&out.join("tree/system"), &folder, &papers, Layout::System)?,
        person: Tree::lay_out(&out.join("tree/person"), &folder, &papers, Layout::Person)?,
    };
    progress("packing");
    let made = packages::make(&trees, &release, &out)?;
    made.print();
    if options.trial {
        progress("installing the package into a bare Debian");
        trial::run_trial(&made.debian, &out.join("trial"))?;
    }
    progress("done");
    Ok(ExitCode::SUCCESS)
}

struct Sizes {
    palyra: u64,
    all: u64,
}

fn sizes(folder: &Path) -> Result<Sizes> {
    let mut sizes = Sizes { palyra: 0, all: 0 };
    for name in programs::NAMES {
        let path = folder.join(name);
        let bytes =
            std::fs::metadata(&path).with_context(|| format!("there is no {}", path.display()))?.len();
        println!("{name:<26} {:>6.1} MiB", mebibytes(bytes));
        sizes.all += bytes;
        if name == "palyra" {
            sizes.palyra = bytes;
        }
    }
    println!("{:<26} {:>6.1} MiB", "together", mebibytes(sizes.all));
    Ok(sizes)
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Returns the version that the program says of itself.
fn version(folder: &Path) -> Result<String> {
    let program = folder.join("palyra");
    let said = evidence_page::said(&program.to_string_lossy(), &["--version"])?;
    let version = said.split_whitespace().nth(1).context("`palyra --version` named no version")?;
    Ok(version.to_owned())
}

/// Returns when the commit was made, in seconds since 1970: the date of everything in the packages.
fn commit_date() -> Result<u64> {
    let said = evidence_page::said("git", &["log", "-1", "--format=%ct"])?;
    said.trim().parse().context("git named no date of the commit")
}
