//! `palyra-bench soak`: warm up, load, look, load again, judge.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;

use super::chart;
use super::failing_model::FailingModel;
use super::judge::{is_unsure, judge};
use super::load::{LoadEffort, LoadLimit, LoadResult, stretch};
use super::mix::FAILING;
use super::report::SoakReport;
use super::sample::{KEPT_WARM, KernelCounts, SoakSample, at_rest, file_mib};
use crate::harness::on_one_thread;
use crate::lab::{self, Lab};
use crate::measure::machine::MachineFacts;
use crate::process::daemon::DaemonProcess;
use crate::process::measured_daemon::ChosenDaemon;

/// Looks of a soak that is measured in minutes, at most; half of them tell a slope from noise.
const LOOKS_MAX: u32 = 30;
/// A stretch of load before a look is no shorter.
const STRETCH_MIN: Duration = Duration::from_secs(20);
/// More stretches, at most, where memory rose by more than it may: a leak is in each of them, noise is not.
const MORE_STRETCHES_MAX: u32 = 2;
/// Runs begun per second when the length is given in minutes, so that hours leave gigabytes and not tens of them.
const PACE: u32 = 150;

/// What the command takes.
#[derive(Debug, Args)]
pub struct SoakArgs {
    /// Runs between the first look and the last; half as many come before; twice as many more where memory rose.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    runs: u64,
    /// How long instead, the waits for rest before up to thirty looks included.
    #[arg(long, value_name = "N", conflicts_with = "runs")]
    minutes: Option<u64>,
    /// Clients at once.
    #[arg(long, value_name = "N", default_value_t = 24)]
    clients: u32,
    /// Runs begun per second, at most; unless given, 150 with --minutes and else as many as can be.
    #[arg(long, value_name = "N")]
    pace: Option<u32>,
    /// Prints one JSON document instead of a table.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Prints Markdown instead.
    #[arg(long)]
    markdown: bool,
    /// Draws what was seen as SVG into a file.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Where the database lies; must be on a real disk.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    folder: PathBuf,
    #[command(flatten)]
    daemon: ChosenDaemon,
}

/// Soaks a daemon and tells what grew; fails when something grew that must not.
///
/// # Errors
/// When the daemon cannot be started or loaded, or a run did not end as it had to.
pub fn soak(args: &SoakArgs) -> anyhow::Result<ExitCode> {
    let folder = std::path::absolute(&args.folder)?;
    let own = std::env::current_exe()?;
    let program = args.daemon.program(&own)?;
    let lab = Lab::new(&folder, own, program, lab::SampleEffort::Full)?;
    let report = on_one_thread(async {
        let failing = FailingModel::bind().await?;
        let base_url = failing.base_url()?;
        tokio::select! {
            report = soaked(&lab, &base_url, args) => report,
            () = failing.serve() => anyhow::bail!("the failing model is gone"),
        }
    })?;
    let text = match (args.json, args.markdown) {
        (true, _) => serde_json::to_string_pretty(&report)? + "\n",
        (false, true) => report.markdown(),
        (false, false) => report.table(),
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    if let Some(file) = &args.chart {
        let svg = chart::svg(&report.settings, &report.looks);
        std::fs::write(file, svg).context("the chart cannot be written")?;
    }
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn soaked(lab: &Lab, failing: &str, args: &SoakArgs) -> anyhow::Result<SoakReport> {
    let begun = Instant::now();
    let mut machine = MachineFacts::look(lab.folder());
    let folder = lab.fresh()?;
    let home = lab.home(folder.path())?;
    home.add_provider(FAILING, failing)?;
    let measured = args.daemon.identify(&lab.daemon_program, &home).await?;
    let daemon = home.start(&lab.daemon_program).await?;
    let mut soak = Soak { lab, daemon, begun, effort: effort(args), by_kind: [0; 10], looks: Vec::new() };
    let plan = plan(args);
    for (at, enough) in plan.iter().enumerate() {
        soak.on(*enough).await.with_context(|| format!("stretch {} of {}", at + 1, plan.len()))?;
    }
    if args.minutes.is_none() {
        soak.until_sure(LoadLimit::Runs(args.runs)).await?;
    }
    machine.finish();
    let Soak { by_kind, looks, .. } = soak;
    Ok(SoakReport {
        machine,
        daemon: measured,
        settings: settings(args),
        seconds: begun.elapsed().as_secs_f64(),
        kinds: SoakReport::named(by_kind),
        watched: judge(&looks),
        looks,
    })
}

fn effort(args: &SoakArgs) -> LoadEffort {
    let per_second = args.pace.or(args.minutes.map(|_| PACE));
    LoadEffort { clients: args.clients, per_second }
}

fn settings(args: &SoakArgs) -> String {
    let length = match args.minutes {
        Some(minutes) => format!("{minutes} minutes"),
        None => format!("{} runs after {}", args.runs, args.runs / 2),
    };
    let pace = effort(args).per_second.map_or(String::new(), |pace| format!(", at most {pace} runs/s"));
    format!("{length}, {} clients{pace}", args.clients)
}

/// Returns the stretches: one to warm up, and those that are looked at.
fn plan(args: &SoakArgs) -> Vec<LoadLimit> {
    let Some(minutes) = args.minutes else {
        return vec![LoadLimit::Runs(args.runs / 2), LoadLimit::Runs(args.runs)];
    };
    let whole = Duration::from_secs(minutes * 60);
    let each = (whole / LOOKS_MAX).saturating_sub(KEPT_WARM).max(STRETCH_MIN);
    let count = (whole.as_secs() / (each + KEPT_WARM).as_secs()).max(2);
    (0..count).map(|_| LoadLimit::Time(each)).collect()
}

/// A soak under way.
struct Soak<'a> {
    lab: &'a Lab,
    daemon: DaemonProcess,
    begun: Instant,
    effort: LoadEffort,
    by_kind: [u64; 10],
    looks: Vec<SoakSample>,
}

impl Soak<'_> {
    /// Loads for one stretch, waits for rest, and looks.
    async fn on(&mut self, enough: LoadLimit) -> anyhow::Result<()> {
        let log = self.daemon.home.write_ahead_log();
        let mut wal_mib = file_mib(&log);
        let (before, pid) = (self.runs(), self.daemon.process.pid());
        let done = stretch(&self.daemon.home, self.effort, enough, |runs| {
            wal_mib = wal_mib.max(file_mib(&log));
            let counted = KernelCounts::of(pid).map_or(0.0, |counted| counted.anonymous_mib);
            progress(&format!("{} runs, {counted:.1} MiB, waiting for more", before + runs));
        })
        .await?;
        for (sum, more) in self.by_kind.iter_mut().zip(done.by_kind) {
            *sum += more;
        }
        progress(&format!("{} runs, waiting for rest", self.runs()));
        self.lab.model.hang_up();
        let counted = at_rest(&self.daemon).await?;
        let sample = self.sample(&counted, &done, wal_mib.max(file_mib(&log)));
        progress("");
        print_sample(&sample, &done);
        self.looks.push(sample);
        Ok(())
    }

    /// Loads on where memory rose by more than it may.
    async fn until_sure(&mut self, enough: LoadLimit) -> anyhow::Result<()> {
        for _ in 0..MORE_STRETCHES_MAX {
            if !is_unsure(&self.looks) {
                break;
            }
            self.on(enough).await.context("a stretch more")?;
        }
        Ok(())
    }

    fn runs(&self) -> u64 {
        self.by_kind.iter().sum()
    }

    fn sample(&self, counted: &KernelCounts, done: &LoadResult, wal_mib: f64) -> SoakSample {
        SoakSample {
            runs: self.runs(),
            seconds: self.begun.elapsed().as_secs_f64(),
            anonymous_mib: counted.anonymous_mib,
            resident_mib: counted.resident_mib,
            descriptors: counted.descriptors,
            threads: counted.threads,
            wal_mib,
            database_mib: file_mib(&self.daemon.home.database()),
            p50_ms: done.p50_ms,
        }
    }
}

/// Says a look at once: a soak is long, and whoever waits for it wants to know.
fn print_sample(sample: &SoakSample, done: &LoadResult) {
    let rate = crate::rows::as_f64(done.runs()) / done.took.as_secs_f64();
    let SoakSample {
        runs,
        seconds,
        anonymous_mib,
        resident_mib,
        descriptors,
        threads,
        wal_mib,
        database_mib,
        p50_ms,
    } = sample;
    eprintln!(
        "{seconds:>6.0} s {runs:>9} runs ({rate:.0}/s): {anonymous_mib:.2} MiB its own of {resident_mib:.1}, \
{descriptors} descriptors, {threads} threads, log {wal_mib:.1} MiB, database {database_mib:.1} MiB, p50 {p50_ms:.2} ms"
    );
}

/// Shows on a terminal how far it is.
fn progress(what: &str) {
    let mut err = std::io::stderr().lock();
    if err.is_terminal() {
        // A terminal that is gone does not want to know.
        let _ = write!(err, "\r\u{1b}[K{what}");
        let _ = err.flush();
    }
}
