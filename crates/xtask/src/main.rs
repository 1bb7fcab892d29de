//! `cargo xtask`: the chores of this repository, each one verb.
//!
//! Owns how the house is checked (`tidy`), built and tested (`check`, `test`), equipped (`setup`)
//! measured (`bench`, `compare`), simulated (`sim`), attacked (`attack`), disturbed (`crash`, `failing-sync`, `full-disk`, `powercut`) and driven against a real
//! language model (`real-model`). Knows nothing of what the
//! other crates do: it reads them as text, and starts the programs they make.
//! Begin at [`cli::run`]; the rules of `tidy` are data in `tidy.toml` beside this folder.
#![expect(clippy::print_stdout, reason = "a command-line tool speaks on standard output")]

mod cli;
mod tidy;
mod help_pages;
mod suite;
mod sim;
mod components;
mod attack;
mod real_model;
mod redaction;
mod tamper;
mod known_faults;
mod openapi;
mod soak;
mod compare;
mod published;
mod dist;
mod failures;
mod evidence_page;
mod repo;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
