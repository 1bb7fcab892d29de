//! `cargo xtask dist`.
//!
//! Owns the order: programs, papers, tree, packages, a look into them, and the trial of the package where it was asked for;
//! and the short version of all that, which the suite runs over the programs it has built.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::dependencies::Dependencies;
use super::packages::{Compression, PackageFiles, Release, Trees};
use super::tree::{FileLayout, ReleaseTexts, Tree, run};
use super::{bill, contents, licences, packages, programs, trial};
use crate::{evidence_page, repo};

/// Largest size of `palyra`, in bytes.
const PALYRA_BYTES_MAX: u64 = 35 << 20;
/// Largest size of all programs together, in bytes.
const PROGRAMS_BYTES_MAX: u64 = 60 << 20;

/// What to make.
#[derive(Debug, Args)]
pub(crate) struct DistOptions {
    /// Built programs, instead of building them as they ship
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
    /// Packs the debug programs of `cargo xtask test` twice, quickly, looks into the packages and removes them
    #[arg(long, conflicts_with_all = ["programs", "out", "trial", "check_sizes"])]
    short: bool,
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
pub(crate) fn verb(options: &DistOptions) -> Result<ExitCode> {
    if options.short {
        check_built()?;
        return Ok(ExitCode::SUCCESS);
    }
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
    progress("packing; xz and gzip take half a minute");
    let packing = PackageContents::prepare(&folder)?;
    let out = repo::root().join(&options.out);
    let made = packing.pack(&out, Compression::Best)?;
    progress("looking into the packages");
    contents::check(&made, &packing.release, &packing.papers, &out.join("check"))?;
    made.print();
    if options.trial {
        progress("installing the package into a bare Debian");
        trial::run_trial(&made.debian, &out.join("trial"))?;
    }
    progress("done");
    Ok(ExitCode::SUCCESS)
}

/// Packs the programs that the suite has built, twice, and looks into the packages; a failure leaves them to look at.
pub(crate) fn check_built() -> Result<()> {
    let target = repo::target();
    let out = target.join("packages-of-the-suite");
    let stripped = out.join("programs");
    std::fs::create_dir_all(&stripped).context("could not make a folder for the programs")?;
    for name in programs::NAMES {
        let mut strip = Command::new("strip");
        run(strip.arg("-o").arg(stripped.join(name)).arg(target.join("debug").join(name)))?;
    }
    let packing = PackageContents::prepare(&stripped)?;
    let made = packing.pack(&out.join("first"), Compression::Fast)?;
    contents::check(&made, &packing.release, &packing.papers, &out.join("check"))?;
    let again = packing.pack(&out.join("second"), Compression::Fast)?;
    let sums = |made: &PackageFiles| {
        std::fs::read_to_string(&made.checksums).context("could not read the checksums")
    };
    ensure!(sums(&made)? == sums(&again)?, "the same programs were packed twice and the packages differ");
    std::fs::remove_dir_all(&out).with_context(|| format!("could not remove {}", out.display()))?;
    println!("packages: complete, the same twice, installed and removed");
    Ok(())
}

/// What goes into the packages.
struct PackageContents {
    programs: PathBuf,
    papers: ReleaseTexts,
    release: Release,
}

impl PackageContents {
    fn prepare(programs: &Path) -> Result<Self> {
        let dependencies = Dependencies::of_shipped()?;
        let papers =
            ReleaseTexts { licences: licences::text(&dependencies)?, bill: bill::of(&dependencies)? };
        let release = Release { version: version(programs)?, date: commit_date()? };
        Ok(Self { programs: programs.to_owned(), papers, release })
    }

    fn pack(&self, out: &Path, compression: Compression) -> Result<PackageFiles> {
        let lay_out = |name: &str, layout| {
            Tree::lay_out(&out.join("tree").join(name), &self.programs, &self.papers, layout)
        };
        let trees = Trees {
            system: lay_out("system", FileLayout::System)?,
            person: lay_out("person", FileLayout::Person)?,
        };
        packages::make(&trees, &self.release, out, compression)
    }
}

struct ProgramSizes {
    palyra: u64,
    all: u64,
}

fn sizes(folder: &Path) -> Result<ProgramSizes> {
    let mut sizes = ProgramSizes { palyra: 0, all: 0 };
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
    let said = evidence_page::stdout_of(&program.to_string_lossy(), &["--version"])?;
    let version = said.split_whitespace().nth(1).context("`palyra --version` named no version")?;
    Ok(version.to_owned())
}

/// Returns when the commit was made, in seconds since 1970: the date of everything in the packages.
fn commit_date() -> Result<u64> {
    let said = evidence_page::stdout_of("git", &["log", "-1", "--format=%ct"])?;
    said.trim().parse().context("git named no date of the commit")
}
