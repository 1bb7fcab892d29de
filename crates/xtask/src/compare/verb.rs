//! The verb: build both sides, measure them in turn, print the paired ratios.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::programs::{self, BuildProfile, SidePrograms};
use super::ratios::{FigureComparison, SideFigure, figures};

/// Rows that are measured from outside, with the bench program of now for both daemons.
const ROWS_OF_DAEMON: [&str; 10] = [
    "throughput",
    "one-turn",
    "tool-round",
    "approval-round",
    "lists",
    "rebuild",
    "recovery",
    "run-counts",
    "footprint",
    "binary",
];
/// Rows that measure code within the bench program: each side has its own.
const ROWS_OF_BENCH: [&str; 2] = ["append", "counts"];
/// Rows of the daemon in a short comparison.
const ROWS_SHORT: [&str; 2] = ["lists", "run-counts"];
const PAIRS: usize = 10;

/// Options of the verb.
#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// The commit to compare with.
    #[arg(value_name = "BASE")]
    base: String,
    /// How many pairs are measured, in turn.
    #[arg(long, default_value_t = PAIRS)]
    pairs: usize,
    /// Tries the command: one pair of the debug programs of now against themselves, in the smallest version of a few
    /// rows. It checks the commit out and does not build it; the figures say nothing and fail nothing.
    #[arg(long, conflicts_with = "pairs")]
    short: bool,
    /// Measures only these rows; can be given again.
    #[arg(long, value_name = "ROW")]
    row: Vec<String>,
}

/// Builds both sides, lets the verifier of before verify a journal of now, and measures.
pub(crate) fn verb(options: &CompareOptions) -> Result<ExitCode> {
    let profile = if options.short { BuildProfile::Debug } else { BuildProfile::Dist };
    let now = SidePrograms::of_now(profile)?;
    let before = if options.short {
        programs::check_out(&options.base)?;
        now.clone()
    } else {
        SidePrograms::of_commit(&options.base, profile)?
    };
    println!("before: {}\nnow:    {}\n", before.commit, now.commit);
    verify_journal_of_now(&before.verifier)?;
    let mut comparison = FigureComparison::default();
    let pairs = if options.short { 1 } else { options.pairs };
    for pair in 0..pairs {
        eprintln!("pair {} of {pairs}", pair + 1);
        // Each side is the first one of every other pair.
        let sides = if pair % 2 == 0 { [&before, &now] } else { [&now, &before] };
        let first = measured(sides[0], &now, options)?;
        let second = measured(sides[1], &now, options)?;
        match pair % 2 {
            0 => comparison.add(&first, &second),
            _ => comparison.add(&second, &first),
        }
    }
    print!("{}", comparison.table());
    Ok(if comparison.holds() || options.short { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures one side once.
fn measured(side: &SidePrograms, now: &SidePrograms, options: &CompareOptions) -> Result<Vec<SideFigure>> {
    let is_wanted = |row: &&&str| options.row.is_empty() || options.row.iter().any(|name| name == **row);
    let of_daemon = if options.short { &ROWS_SHORT[..] } else { &ROWS_OF_DAEMON };
    let mut all = Vec::new();
    for (bench, rows) in [(&now.bench, of_daemon), (&side.bench, &ROWS_OF_BENCH[..])] {
        let rows: Vec<&str> = rows.iter().filter(is_wanted).copied().collect();
        if rows.is_empty() {
            continue;
        }
        let effort = if options.short { "--smallest" } else { "--quick" };
        let mut command = Command::new(bench);
        command.args(rows).args(["--json", effort, "--folder"]).arg(programs::home().join("bench"));
        command.arg("--palyrad").arg(&side.palyrad).current_dir(crate::repo::root());
        let output = command.output().context("could not start the bench program")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        // A count over its goal fails the bench program and is still a figure.
        all.extend(figures(&output.stdout).with_context(|| format!("{}: {complaint}", bench.display()))?);
    }
    ensure!(!all.is_empty(), "no row was measured; `cargo xtask bench --list` lists them");
    Ok(all)
}

/// Lets a verifier verify a journal that the code of now writes, with every kind of entry in it.
fn verify_journal_of_now(verifier: &Path) -> Result<()> {
    let folder = programs::home().join("journal");
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).context("could not make the folder of the journal")?;
    let mut write = Command::new("cargo");
    write.args(["run", "--quiet", "--locked", "--package", "palyra-journal", "--example"]);
    write.args(["write_state_fixture", "--"]).arg(&folder).current_dir(crate::repo::root());
    let mut unpack = Command::new("tar");
    unpack.args(["--extract", "--gzip", "--file", "state-v2.tar.gz"]).current_dir(&folder);
    let mut verify = Command::new(verifier);
    verify.args(["--keys", "state", "--db", "state/journal.db"]).current_dir(&folder);
    for (command, what) in [
        (&mut write, "a journal of now could not be written"),
        (&mut unpack, "the journal of now could not be unpacked"),
        (&mut verify, "the verifier of before does not accept a journal of now"),
    ] {
        let status = command.status().with_context(|| format!("could not start {command:?}"))?;
        ensure!(status.success(), "{what}");
    }
    Ok(())
}
