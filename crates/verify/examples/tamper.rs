//! Breaks journals by the thousand and compares what the verifier says; behind `cargo xtask tamper`.
//!
//! Owns the arguments and the table of results. The classes are those of the tests.
#![expect(clippy::print_stdout, reason = "a command-line tool speaks on standard output")]

#[path = "../tests/verify/tamper/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests look at each broken file as well")]
mod tamper;
#[path = "../tests/verify/writer/mod.rs"]
mod writer;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use serde_json::json;
use tamper::{BUNDLES, CLASSES, Class, Outcome, Real, bases, cleans, on_real, run_class};

/// Logs of each shape that are broken.
const BASES_OF_EACH_SHAPE: u64 = 4;

#[derive(Debug, Parser)]
struct Arguments {
    /// Changes of each class, and clean logs.
    #[arg(long, default_value_t = 1000)]
    mutations: u64,
    /// Where the numbers begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Journals that a daemon wrote, broken as well, a quarter as often.
    #[arg(long, value_name = "FILE")]
    real: Vec<PathBuf>,
    /// Only classes whose names contain this.
    #[arg(long, default_value = "")]
    only: String,
}

/// Prints one JSON object a line: one for each class, in order.
fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir().expect("a folder");
    let own = bases(BASES_OF_EACH_SHAPE, arguments.seed, folder.path());
    let real: Vec<Real> = arguments.real.iter().cloned().map(Real).collect();
    let real = on_real(&real);
    let mut wrong = 0;
    let wanted = |class: &&Class| class.name.contains(&arguments.only);
    for class in CLASSES.iter().chain([&BUNDLES]).filter(wanted) {
        let often = arguments.mutations;
        let less = often.div_ceil(4);
        for (of, bases, count) in [("made by the tests", &own, often), ("made by the daemon", &real, less)] {
            if !bases.is_empty() && (of == "made by the tests" || class.is_of_files()) {
                let began = Instant::now();
                let outcome = run_class(class, bases, count, folder.path(), &mut |_| {});
                wrong += print(of, class.name, class.answer, &outcome, began);
            }
        }
    }
    let began = Instant::now();
    let outcome = cleans(arguments.mutations, arguments.seed, folder.path());
    wrong += print("made by the tests", "clean logs", "0", &outcome, began);
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(of: &str, name: &str, answer: &str, outcome: &Outcome, began: Instant) -> u64 {
    let line = json!({
        "logs": of, "class": name, "answer": answer, "tried": outcome.tried, "wrong": outcome.wrong,
        "silent": outcome.silent, "told": outcome.told, "millis": began.elapsed().as_millis() as u64,
    });
    println!("{line}");
    outcome.wrong
}
