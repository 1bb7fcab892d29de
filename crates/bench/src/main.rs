//! The benchmarks' command line: `cargo xtask bench`.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use palyra_bench::floor::grpc_serve::grpc_floor;
use palyra_bench::floor::serve::{FloorArgs, floor};
use palyra_bench::harness::on_one_thread;
use palyra_bench::lab::{Lab, SampleEffort};
use palyra_bench::measure::chart;
use palyra_bench::measure::figure::{BenchFigure, GoalVerdict};
use palyra_bench::measure::machine::MachineFacts;
use palyra_bench::measure::report::BenchReport;
use palyra_bench::process::daemon::DaemonProgram;
use palyra_bench::process::measured_daemon::{ChosenDaemon, MeasuredDaemon};
use palyra_bench::rows::{BenchRow, ROWS};
use palyra_bench::soak::command::{SoakArgs, soak};

/// Measures what Palyra costs, each figure beside an anchor.
#[derive(Debug, Parser)]
#[command(name = "bench", bin_name = "cargo xtask bench", args_conflicts_with_subcommands = true)]
struct CliArguments {
    #[command(subcommand)]
    part: Option<BenchCommand>,
    #[command(flatten)]
    wanted: RowOptions,
}

#[derive(Debug, Args)]
struct RowOptions {
    /// Rows to measure; all when none is named.
    rows: Vec<String>,
    /// Prints one JSON document instead of a table.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Prints a Markdown table instead of one for a terminal.
    #[arg(long)]
    markdown: bool,
    /// Takes few samples: about a minute for everything.
    #[arg(long)]
    quick: bool,
    /// Takes as few samples as can be, which proves the harness and measures nothing.
    #[arg(long, hide = true, conflicts_with = "quick")]
    smallest: bool,
    /// Lists the rows.
    #[arg(long)]
    list: bool,
    /// Draws a chart of the ratios as SVG into a file.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Where databases lie while they are measured; must be on a real disk.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    folder: PathBuf,
    #[command(flatten)]
    daemon: ChosenDaemon,
}

/// What else this program is: the soak, and for itself the processes that are measured.
#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Loads a daemon for a long time and tells what grows: `cargo xtask soak`.
    Soak(SoakArgs),
    /// The floor.
    #[command(hide = true)]
    Floor(FloorArgs),
    /// The floor over gRPC.
    #[command(hide = true)]
    GrpcFloor(FloorArgs),
    /// The daemon.
    #[command(hide = true)]
    Daemon {
        #[arg(long)]
        state_dir: PathBuf,
        #[arg(long)]
        config: PathBuf,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    if let Some(code) = palyra_daemon::start_confined(std::env::args_os()) {
        return Ok(code);
    }
    let arguments = CliArguments::parse();
    match arguments.part {
        None => bench(&arguments.wanted),
        Some(BenchCommand::Soak(args)) => soak(&args),
        Some(BenchCommand::Floor(args)) => floor(&args).map(|()| ExitCode::SUCCESS),
        Some(BenchCommand::GrpcFloor(args)) => grpc_floor(&args).map(|()| ExitCode::SUCCESS),
        Some(BenchCommand::Daemon { state_dir, config }) => palyra_daemon::serve(palyra_daemon::ServeArgs {
            state_dir: Some(state_dir),
            config: Some(config),
            ..palyra_daemon::ServeArgs::default()
        }),
    }
}

/// The one row that measures no daemon.
const COUNTS: &str = "counts";

fn bench(wanted: &RowOptions) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if wanted.list {
        for row in ROWS {
            writeln!(out, "{:<16} {}", row.name, row.about)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let rows = chosen(&wanted.rows)?;
    let effort = match (wanted.quick, wanted.smallest) {
        (_, true) => SampleEffort::Smallest,
        (true, _) => SampleEffort::Quick,
        (false, false) => SampleEffort::Full,
    };
    let folder = std::path::absolute(&wanted.folder)?;
    let own = std::env::current_exe()?;
    let needs_daemon = rows.iter().any(|row| row.name != COUNTS);
    let program = if needs_daemon { wanted.daemon.program(&own)? } else { DaemonProgram::built_in(&own) };
    let lab = Lab::new(&folder, own, program, effort)?;
    let daemon = needs_daemon.then(|| on_one_thread(identity(&lab, &wanted.daemon))).transpose()?;
    let report = measured(&lab, &rows, daemon)?;
    let text = match (wanted.json, wanted.markdown) {
        (true, _) => serde_json::to_string_pretty(&report)? + "\n",
        (false, true) => report.markdown(),
        (false, false) => report.table(),
    };
    out.write_all(text.as_bytes())?;
    if let Some(file) = &wanted.chart {
        std::fs::write(file, chart::svg(&report)).context("the chart cannot be written")?;
    }
    // Times depend on the machine; counts do not.
    let over = |figure: &BenchFigure| figure.row == COUNTS && figure.verdict == GoalVerdict::Missed;
    Ok(if report.figures.iter().any(over) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static BenchRow>> {
    if names.is_empty() {
        return Ok(ROWS.iter().collect());
    }
    let known = || ROWS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let row = ROWS.iter().find(|row| row.name == *name);
        row.with_context(|| format!("there is no row `{name}`; there are {}", known()))
    };
    names.iter().map(find).collect()
}

/// Finds out which daemon it is, and says so at once.
async fn identity(lab: &Lab, chosen: &ChosenDaemon) -> anyhow::Result<MeasuredDaemon> {
    let folder = lab.fresh()?;
    let daemon = chosen.identify(&lab.daemon_program, &lab.home(folder.path())?).await?;
    eprintln!("{}", daemon.sentence());
    Ok(daemon)
}

fn measured(lab: &Lab, rows: &[&BenchRow], daemon: Option<MeasuredDaemon>) -> anyhow::Result<BenchReport> {
    let mut machine = MachineFacts::look(lab.folder());
    let mut figures = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        progress(&format!("[{}/{}] {}", at + 1, rows.len(), row.name));
        let measured = on_one_thread((row.measure)(lab));
        figures.extend(measured.with_context(|| format!("row `{}`", row.name))?);
    }
    progress("");
    machine.finish();
    let warnings = machine.warnings().into_iter().chain(daemon.as_ref().and_then(MeasuredDaemon::warning));
    Ok(BenchReport { warnings: warnings.collect(), machine, daemon, figures })
}

/// Shows on a terminal what is being measured; elsewhere nobody is waiting.
fn progress(what: &str) {
    let mut err = std::io::stderr().lock();
    if err.is_terminal() {
        // A terminal that is gone does not want to know.
        let _ = write!(err, "\r\u{1b}[K{what}");
        let _ = err.flush();
    }
}
