//! The verb: build, soak, tell.
//!
//! Owns the words of the command line and how they become those of `palyra-bench soak`. Invariant: a soak that does
//! not say what it saw has failed.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::{failures, suite};

/// What the verb takes.
#[derive(Debug, Args)]
pub(crate) struct SoakOptions {
    /// How long; without it, 20,000 runs after 5,000 to warm up.
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// Prints one JSON document.
    #[arg(long)]
    json: bool,
    /// Draws what was seen as SVG into a file.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Writes what was seen into docs/evidence.md.
    #[arg(long, conflicts_with = "json")]
    write: bool,
}

/// Builds the programs as they ship, soaks, and returns the exit code.
pub(crate) fn verb(options: &SoakOptions) -> Result<ExitCode> {
    let mut soak = suite::shipped_bench()?;
    soak.arg("soak").args(arguments(options));
    if options.write {
        // What it says meanwhile is for whoever waits.
        let output = soak.stderr(std::process::Stdio::inherit()).output();
        let output = output.context("could not start the soak")?;
        let seen = String::from_utf8_lossy(&output.stdout);
        ensure!(!seen.is_empty(), "the soak did not say what it saw ({})", output.status);
        failures::write_section("soak", &seen)?;
        return Ok(code(output.status.code()));
    }
    Ok(code(soak.status().context("could not start the soak")?.code()))
}

fn arguments(options: &SoakOptions) -> Vec<String> {
    let mut arguments = Vec::new();
    if let Some(minutes) = options.minutes {
        arguments.extend(["--minutes".to_owned(), minutes.to_string()]);
    }
    if let Some(chart) = &options.chart {
        arguments.extend(["--chart".to_owned(), chart.display().to_string()]);
    }
    for (name, given) in [("--json", options.json), ("--markdown", options.write)] {
        if given {
            arguments.push(name.to_owned());
        }
    }
    arguments
}

fn code(code: Option<i32>) -> ExitCode {
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_handed_on() {
        let none = SoakOptions { minutes: None, json: false, chart: None, write: false };
        assert!(arguments(&none).is_empty());
        let all = SoakOptions { minutes: Some(120), json: false, chart: Some("a.svg".into()), write: true };
        assert_eq!(arguments(&all), ["--minutes", "120", "--chart", "a.svg", "--markdown"]);
    }
}
