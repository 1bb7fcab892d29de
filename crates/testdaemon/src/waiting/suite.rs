//! The suite: gather, kill, look, kill again, answer some.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use palyra_client::Client;

use super::crowd::{self, WaitingWrite};
use super::memory::{ResidentMemory, resident};
use crate::report::SuiteReport;
use crate::test_home::{DaemonChild, Programs, SERVING_WITHIN, TestHome};
use crate::tool_setup::{Rules, TestSettings};
use crate::verdict;

/// Kills, each with a start after it.
const KILLS: usize = 5;
/// How many get their yes in the end.
const ANSWERED: usize = 20;
/// What the daemon may grow by for ten thousand that wait, in KiB.
const GROWTH_KIB_MAX: u64 = 60 * 1_024;

/// How to carry it out.
#[derive(Debug, Clone)]
pub struct WaitingOptions {
    /// How many runs wait.
    pub runs: usize,
    /// A daemon as it ships (`palyrad`), instead of the test daemon.
    pub shipped: Option<PathBuf>,
}

impl WaitingOptions {
    fn programs(&self, test_daemon: &Path, model_url: String) -> Programs {
        let (daemon, before) = match &self.shipped {
            Some(file) => (file.clone(), vec!["--state-dir".to_owned()]),
            None => (test_daemon.to_owned(), Vec::new()),
        };
        let setting = TestSettings { rules: Rules::AskFirst, ..TestSettings::default() };
        Programs { daemon, before, model_url, setting }
    }
}

/// What was seen after each kill.
#[derive(Debug, Default)]
struct KillOutcome {
    healthy: Vec<Duration>,
    listed: Vec<Duration>,
    memory: Vec<ResidentMemory>,
}

/// Lets runs wait, kills the daemon, and looks what the next one makes of it. Times and memory are judged where the
/// daemon is one that ships.
///
/// # Errors
/// When something that waited is lost, or the daemon does not do its part.
pub async fn suite(
    test_daemon: &Path,
    options: &WaitingOptions,
    progress: &dyn Fn(&str),
) -> Result<SuiteReport> {
    let began = Instant::now();
    let mut report = SuiteReport::new("waiting", settings(options));
    let folder = tempfile::Builder::new().prefix("palyra-w").tempdir().context("no folder")?;
    let model = crowd::model_server().await.context("no port for the model's server")?;
    let programs = options.programs(test_daemon, model.base_url());
    let house = TestHome::make(&folder.path().join("house"))?;
    house.serve(&programs).await?.0.stop().await?;
    let mut empty = KillOutcome::default();
    kill_and_look(&house, &programs, &BTreeMap::new(), &mut empty).await?;
    progress("an empty daemon is looked at");

    let (daemon, _, _) = house.serve(&programs).await?;
    let gathering = Instant::now();
    let waiting = crowd::gather(&house, options.runs).await?;
    let took = gathering.elapsed();
    let loaded = resident(daemon.pid)?;
    progress(&format!("{} wait after {} s", waiting.len(), took.as_secs()));
    daemon.kill().await?;
    let database = std::fs::metadata(house.state().join("journal.db")).context("no journal")?.len();

    let mut full = KillOutcome::default();
    kill_and_look(&house, &programs, &waiting, &mut full).await?;
    progress("killed and looked at");
    let (daemon, client, _) = house.serve(&programs).await?;
    verdict::verify(&client).await?;
    let answered = answer_some(&house, &client, &waiting).await?;
    daemon.stop().await?;

    let each = format!("each asked of the daemon by one of 32 clients, in {} ms", took.as_millis());
    report.row("runs that wait for a yes, each in a session", waiting.len(), each);
    tell(&mut report, &empty, &full, loaded);
    report.row("bytes of the database", usize::try_from(database).unwrap_or(usize::MAX), "");
    let once = "each call ran once, its file is right, its run is over";
    report.row("answered yes in the end, from first to last", answered, once);
    if options.shipped.is_some() {
        judge(&mut report, &empty, &full);
    }
    report.seconds = began.elapsed().as_secs();
    Ok(report)
}

fn settings(options: &WaitingOptions) -> String {
    let daemon = options.shipped.as_ref().map_or("the test daemon", |_| "a shipped daemon, release build");
    format!("{} runs, {daemon}", options.runs)
}

/// Starts a daemon and kills it, several times; each has to know all that wait.
async fn kill_and_look(
    house: &TestHome,
    programs: &Programs,
    waiting: &BTreeMap<String, String>,
    seen: &mut KillOutcome,
) -> Result<()> {
    for _ in 0..KILLS {
        let begun = Instant::now();
        let (daemon, client, healthy) = house.serve(programs).await?;
        let (first, _) = crowd::page(&client, String::new()).await?;
        seen.listed.push(begun.elapsed());
        seen.healthy.push(healthy);
        ensure!(first.is_empty() == waiting.is_empty(), "{} wait on the first page", first.len());
        crowd::demand_all(&client, waiting).await?;
        seen.memory.push(resident(daemon.pid)?);
        kill(daemon, client).await?;
    }
    Ok(())
}

async fn kill(daemon: DaemonChild, client: Client) -> Result<()> {
    drop(client);
    daemon.kill().await
}

/// Says yes to some, the first and the last among them.
async fn answer_some(house: &TestHome, client: &Client, waiting: &BTreeMap<String, String>) -> Result<usize> {
    let step = (waiting.len() / ANSWERED).max(1);
    let some: Vec<_> = waiting.iter().step_by(step).chain(waiting.iter().next_back()).collect();
    let mut answered = BTreeMap::new();
    for (approval, name) in some {
        if answered.insert(approval, ()).is_none() {
            crowd::approve(house, client, WaitingWrite { approval, name }).await?;
        }
    }
    Ok(answered.len())
}

fn tell(report: &mut SuiteReport, empty: &KillOutcome, full: &KillOutcome, loaded: ResidentMemory) {
    let spans = |spans: &[Duration]| {
        let mut sorted = spans.to_vec();
        sorted.sort_unstable();
        let ms = |at: Option<&Duration>| at.map_or(0, Duration::as_millis);
        format!("{} ms (median), {} ms (most)", ms(sorted.get(sorted.len() / 2)), ms(sorted.last()))
    };
    for (what, seen) in [("empty", empty), ("all wait", full)] {
        let times =
            format!("healthy after {}; approvals listed after {}", spans(&seen.healthy), spans(&seen.listed));
        report.row(format!("kill -9 and start, {what}"), seen.healthy.len(), times);
    }
    let mib = |memory: Option<ResidentMemory>| {
        memory.map_or_else(String::new, |memory| {
            format!("{} resident, {} of it its own", in_mib(memory.all_kib), in_mib(memory.own_kib))
        })
    };
    report.row("memory, empty", 1, mib(most(empty)));
    report.row("memory, all wait and were listed", 1, mib(most(full)));
    report.row("memory, the daemon that took them in, at once", 1, mib(Some(loaded)));
}

fn in_mib(kib: u64) -> String {
    format!("{}.{} MiB", kib / 1_024, kib % 1_024 * 10 / 1_024)
}

fn most(seen: &KillOutcome) -> Option<ResidentMemory> {
    seen.memory.iter().copied().max_by_key(|memory| memory.all_kib)
}

fn judge(report: &mut SuiteReport, empty: &KillOutcome, full: &KillOutcome) {
    let slowest = full.listed.iter().max().copied().unwrap_or_default();
    if slowest > SERVING_WITHIN {
        report.failures.push(format!("approvals are listed after {} ms", slowest.as_millis()));
    }
    let least = empty.memory.iter().map(|memory| memory.all_kib).min().unwrap_or(0);
    let grown = most(full).map_or(0, |memory| memory.all_kib.saturating_sub(least));
    let seen = format!("KiB: {} of at most {}", in_mib(grown), in_mib(GROWTH_KIB_MAX));
    report.row("growth of resident memory", usize::try_from(grown).unwrap_or(usize::MAX), seen);
    if grown > GROWTH_KIB_MAX {
        report.failures.push(format!("resident memory grows by {grown} KiB"));
    }
}
