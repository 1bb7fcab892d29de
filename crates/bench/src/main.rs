//! The benchmarks' command line: `cargo xtask bench`.

use clap::{Parser, Subcommand};
use palyra_bench::{counts, harness};

/// Measures what Palyra costs.
#[derive(Debug, Parser)]
struct Arguments {
    /// What to measure.
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Commits, entries, rows and bytes of a run.
    Counts {
        /// One JSON document instead of a table.
        #[arg(long)]
        json: bool,
    },
}

#[expect(clippy::print_stdout, reason = "a command prints its result")]
fn main() -> anyhow::Result<()> {
    match Arguments::parse().verb {
        Verb::Counts { json } => {
            let folder = tempfile::tempdir()?;
            let costs = harness::on_one_thread(counts::measure(folder.path()))?;
            if json {
                println!("{}", serde_json::to_string_pretty(&costs)?);
            } else {
                print!("{}", counts::table(&costs));
            }
            let over = costs.iter().find(|cost| cost.commits > cost.commits_max);
            anyhow::ensure!(over.is_none(), "too many commits");
        }
    }
    Ok(())
}
