//! The simulator's command line: `cargo xtask sim`.
//!
//! Owns what is printed; what happens is the library's. Begin at [`main`].
#![expect(clippy::print_stdout, reason = "a command-line tool speaks on standard output")]

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use palyra_sim::campaign::{self, Campaign};
use palyra_sim::weeks::{PlantedFault, WEEK, WeeksOutcome, live_weeks};
use palyra_sim::{Outcome, TraceMode, tell};

/// Stories of a campaign unless told otherwise: enough to reach every cell.
const SEEDS: u64 = 2_400;
/// Seeds of usual weeks.
const SEEDS_OF_WEEKS: u64 = 20;
/// Steps of a full campaign, at least.
const STEPS_MIN: u64 = 1_000_000;
/// Faults of a full campaign, at least.
const FAULTS_MIN: u64 = 50_000;
/// Lines of a failing story that are shown.
const LINES_SHOWN: usize = 60;

/// Runs the real runtime in a world where everything goes wrong.
#[derive(Debug, Parser)]
#[command(name = "sim", bin_name = "cargo xtask sim")]
struct SimArguments {
    /// Tells the story of this seed only, twice, and says what happened.
    seed: Option<u64>,
    /// The number of stories; 2,400 when left out.
    #[arg(long, conflicts_with = "seed")]
    seeds: Option<u64>,
    /// The first seed.
    #[arg(long, default_value_t = 0, conflicts_with = "seed")]
    from: u64,
    /// Lives through so many weeks of usual work instead, for each of 20 seeds or as many as are named: no incident may be
    /// opened.
    #[arg(long, value_name = "N", conflicts_with = "seed", value_parser = clap::value_parser!(u32).range(1..=52))]
    weeks: Option<u32>,
    /// Prints one JSON document.
    #[arg(long)]
    json: bool,
    /// Prints everything that happened.
    #[arg(long, requires = "seed")]
    all: bool,
}

fn main() -> ExitCode {
    let arguments = SimArguments::parse();
    campaign::silence_expected_panics();
    match (arguments.seed, arguments.weeks) {
        (Some(seed), _) => one(seed, &arguments),
        (None, Some(weeks)) => usual_weeks(weeks, &arguments),
        (None, None) => many(&arguments),
    }
}

fn usual_weeks(weeks: u32, arguments: &SimArguments) -> ExitCode {
    let began = Instant::now();
    let first = arguments.from;
    let seeds = first..first.saturating_add(arguments.seeds.unwrap_or(SEEDS_OF_WEEKS));
    let mut all = Vec::new();
    for seed in seeds {
        let outcome = live_weeks(seed, WEEK * weeks, PlantedFault::Nothing);
        if !arguments.json {
            println!("{outcome}");
        }
        all.push(outcome);
    }
    let wrong = all.iter().filter(|outcome| !outcome.is_clean()).count();
    if arguments.json {
        println!("{}", json_of_weeks(weeks, &all));
    } else {
        let sum = |of: fn(&WeeksOutcome) -> u64| all.iter().map(of).sum::<u64>();
        println!(
            "{} seeds, {} hours, {} lives, {} runs, {} entries in {:.1} s; wrong in {wrong}",
            all.len(),
            sum(|one| one.hours),
            sum(|one| one.lives),
            sum(|one| one.runs),
            sum(|one| one.entries),
            began.elapsed().as_secs_f64()
        );
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn json_of_weeks(weeks: u32, all: &[WeeksOutcome]) -> serde_json::Value {
    let each = |one: &WeeksOutcome| {
        serde_json::json!({
            "seed": one.seed, "hours": one.hours, "lives": one.lives, "runs": one.runs, "entries": one.entries,
            "long_waits": one.long_waits, "incidents": one.incidents, "findings": one.findings,
        })
    };
    serde_json::json!({ "weeks": weeks, "outcomes": all.iter().map(each).collect::<Vec<_>>() })
}

fn one(seed: u64, arguments: &SimArguments) -> ExitCode {
    let first = tell(seed, None, TraceMode::Words);
    let again = tell(seed, None, TraceMode::Words);
    let same = first == again;
    if arguments.json {
        println!(
            "{}",
            serde_json::json!({
                "seed": seed, "findings": first.findings, "steps": first.steps, "faults": first.matrix.faults(),
                "entries": first.entries, "digest": format!("{:016x}", first.digest), "repeats": same,
            })
        );
    } else {
        let skip = if arguments.all { 0 } else { first.trace.len().saturating_sub(LINES_SHOWN) };
        first.trace.iter().skip(skip).for_each(|line| println!("{line}"));
        println!("{first}");
        first.findings.iter().for_each(|finding| println!("FOUND: {finding}"));
        println!("told twice, it is {}", if same { "the same" } else { "NOT THE SAME" });
        if !same {
            let differs = first.trace.iter().zip(&again.trace).find(|(one, two)| one != two);
            println!("first difference: {differs:?}");
        }
    }
    if same && first.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn many(arguments: &SimArguments) -> ExitCode {
    let began = Instant::now();
    let seeds = arguments.seeds.unwrap_or(SEEDS);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let campaign = campaign::run(arguments.from, seeds, threads);
    let seconds = began.elapsed().as_secs_f64();
    // Fewer stories than a full campaign cannot reach everything.
    let full = seeds >= SEEDS;
    let empty = campaign.empty_cells();
    let reached =
        !full || (empty.is_empty() && campaign.steps >= STEPS_MIN && campaign.matrix.faults() >= FAULTS_MIN);
    if arguments.json {
        println!("{}", json(arguments.from, &campaign, seconds));
    } else {
        print(&campaign, seconds);
        if full && !reached {
            println!("NOT REACHED: {STEPS_MIN} steps, {FAULTS_MIN} faults, and every cell; empty: {empty:?}");
        }
    }
    campaign.failed.iter().for_each(report);
    if campaign.failed.is_empty() && reached { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(outcome: &Outcome) {
    let first = outcome.findings.first().map(String::as_str).unwrap_or_default();
    eprintln!("FAILED: cargo xtask sim {}   # {first}", outcome.seed);
}

fn print(campaign: &Campaign, seconds: f64) {
    let Campaign { seeds, steps, lives, runs, entries, matrix, digest, .. } = campaign;
    print!("{}", matrix.table());
    println!(
        "{seeds} seeds, {steps} steps, {} faults, {lives} lives, {runs} runs, {entries} entries in {seconds:.1} s; digest {digest:016x}",
        matrix.faults()
    );
}

fn json(first: u64, campaign: &Campaign, seconds: f64) -> serde_json::Value {
    let mut cells = serde_json::Map::new();
    for fault in palyra_sim::Fault::all() {
        for phase in palyra_sim::Phase::ALL {
            let count = campaign.matrix.at(fault, phase);
            if count > 0 {
                cells.insert(format!("{} / {}", fault.name(), phase.name()), count.into());
            }
        }
    }
    let failed: Vec<_> = campaign
        .failed
        .iter()
        .map(|outcome| serde_json::json!({ "seed": outcome.seed, "findings": outcome.findings }))
        .collect();
    let empty: Vec<_> = campaign
        .empty_cells()
        .iter()
        .map(|(fault, phase)| format!("{} / {}", fault.name(), phase.name()))
        .collect();
    serde_json::json!({
        "first": first, "seeds": campaign.seeds, "table": campaign.matrix.table(), "steps": campaign.steps, "faults": campaign.matrix.faults(),
        "lives": campaign.lives, "runs": campaign.runs, "entries": campaign.entries, "seconds": seconds,
        "digest": format!("{:016x}", campaign.digest), "cells": cells, "empty": empty, "failed": failed,
    })
}
