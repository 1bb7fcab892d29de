//! The suite: load, cut, mount again, and look for everything that was acknowledged before the cut.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use palyra_journal::JournalStore;
use palyra_ports::ReadTape;
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal};
use palyra_testkit::FixedEntropy;
use palyra_types::TapeSeq;
use palyra_types::event::{ModelEvent, TapeEvent};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::acks;
use super::cut::PowerCut;
use super::load::{self, ENTRIES_BEFORE_TEXT, LoadKind, run_of, text_of};
use super::volume::TestVolume;
use crate::report::{FAILURES_MAX, SuiteReport};

/// Cuts of one file system; then it is made anew, so that what is verified stays small.
const CUTS_PER_VOLUME: usize = 6;
/// How long the load runs at least and at most before the cut.
const LOAD_MS: (u64, u64) = (20, 350);
/// Acknowledgements before the cut, at least.
const ACKS_MIN: usize = 100;
/// Between two looks at a file that grows.
const LOOK_EVERY: Duration = Duration::from_millis(2);
const PAGE_ENTRIES: usize = 500;
const CORRUPT: &str = "the journal is corrupt after the cut";
const PATIENCE: Duration = Duration::from_secs(60);

/// How often to cut.
#[derive(Debug, Clone, Copy)]
pub struct CutOptions {
    /// Cuts of the journal.
    pub cuts: usize,
    /// Cuts of the control, of which at least one has to lose something.
    pub control_cuts: usize,
}

/// What one cut led to.
#[derive(Debug, Default, Clone, Copy)]
struct CutOutcome {
    acknowledged: u64,
    lost: u64,
}

/// Cuts the power while producers append.
///
/// # Errors
/// When something is missing on this machine; what a cut leads to is in the report.
pub async fn suite(own_program: &Path, options: CutOptions, progress: &dyn Fn(&str)) -> Result<SuiteReport> {
    let folder = tempfile::Builder::new().prefix("palyra-p").tempdir().context("no folder")?;
    let mut bench =
        CutBench { program: own_program.to_owned(), folder: folder.path().to_owned(), volume: None };
    let mut report = SuiteReport::new(
        "power cut",
        format!("{} cuts, {} of the control", options.cuts, options.control_cuts),
    );
    let began = Instant::now();
    let dice = FixedEntropy::new(0x5eed);
    let mut ours: Vec<CutOutcome> = Vec::new();
    for number in 0..options.cuts {
        match cut_once(&mut bench, LoadKind::Journal, number, &dice).await {
            Ok(seen) => ours.push(seen),
            Err(error) => {
                let failure = format!("cut {number}: {error:#}");
                progress(&failure);
                report.failures.push(failure);
                bench.volume = None;
                if report.failures.len() == FAILURES_MAX {
                    break;
                }
            }
        }
        if number % 20 == 19 {
            progress(&format!("{} of {} cuts", number + 1, options.cuts));
        }
    }
    bench.volume = None;
    let mut control: Vec<CutOutcome> = Vec::new();
    for number in 0..options.control_cuts {
        control.push(cut_once(&mut bench, LoadKind::Relaxed, number, &dice).await.context("the control")?);
    }
    tell(&mut report, &ours, &control);
    report.seconds = began.elapsed().as_secs();
    Ok(report)
}

/// Where the cuts are made.
struct CutBench {
    program: PathBuf,
    folder: PathBuf,
    volume: Option<TestVolume>,
}

impl CutBench {
    /// Returns the folder of anchors: what was signed may never be ahead of what a cut leaves.
    fn anchor(&self) -> PathBuf {
        self.folder.join("anchor")
    }

    async fn fresh_volume(&mut self) -> Result<()> {
        if let Some(old) = self.volume.take() {
            old.unmount().await?;
        }
        self.volume = Some(TestVolume::make(&self.folder).await?);
        Ok(())
    }
}

async fn cut_once(
    bench: &mut CutBench,
    kind: LoadKind,
    number: usize,
    dice: &FixedEntropy,
) -> Result<CutOutcome> {
    tokio::time::timeout(PATIENCE, async {
        let round = number % CUTS_PER_VOLUME;
        if round == 0 || bench.volume.is_none() {
            bench.fresh_volume().await?;
        }
        let volume = bench.volume.as_ref().context("no volume")?;
        let acks = bench.folder.join("acks");
        drop(std::fs::remove_file(&acks));
        let folder = volume.path().join("state");
        std::fs::create_dir_all(&folder).context("could not make the folder on the volume")?;
        let round = round as u64;
        let mut child = start_load(bench, kind, LoadFiles { folder: &folder, acks: &acks }, round).await?;
        let cut = PowerCut::arm(volume.path()).await?;
        until_acknowledged(&acks, &mut child).await?;
        // The moment is random on purpose: this pause is the fault's, not a wait for something.
        let span = LOAD_MS.0 + dice.next_u64() % (LOAD_MS.1 - LOAD_MS.0);
        tokio::time::sleep(Duration::from_millis(span)).await;
        let cut_at = cut.now().await?;
        child.kill().await.context("could not kill the load")?;
        volume.unmount().await?;
        volume.mount().await.context("the file system cannot be mounted after the cut")?;
        let (highest, acknowledged) =
            acks::read(&acks, cut_at).context("could not read the acknowledgements")?;
        let lost = match kind {
            LoadKind::Journal => {
                let journal = JournalFolders { folder: &folder, anchor: &bench.anchor() };
                lost_entries(journal, round, &highest).await?
            }
            LoadKind::Relaxed => {
                let kept = load::relaxed_rows(&folder)?;
                highest.get(&0).map_or(0, |last| last.saturating_sub(kept))
            }
        };
        Ok(CutOutcome { acknowledged, lost })
    })
    .await
    .context("something that must happen does not")?
}

async fn until_acknowledged(acks: &Path, load: &mut Child) -> Result<()> {
    while acks::count(acks) < ACKS_MIN {
        if let Some(status) = load.try_wait().context("could not look at the load")? {
            bail!("the load ended before the cut: {status}");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Where a load appends, and where it writes acknowledgements.
struct LoadFiles<'a> {
    folder: &'a Path,
    acks: &'a Path,
}

async fn start_load(
    bench: &CutBench,
    kind: LoadKind,
    LoadFiles { folder, acks }: LoadFiles<'_>,
    round: u64,
) -> Result<Child> {
    let kind = match kind {
        LoadKind::Journal => "journal",
        LoadKind::Relaxed => "relaxed",
    };
    let mut command = Command::new(&bench.program);
    command.args(["load", "--kind", kind, "--round", &round.to_string(), "--folder"]).arg(folder);
    command
        .arg("--anchor")
        .arg(bench.anchor())
        .arg("--acks")
        .arg(acks)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = command.spawn().context("could not start the load")?;
    let out = child.stdout.take().context("no standard output")?;
    let line = BufReader::new(out).lines().next_line().await.context("could not hear the load")?;
    ensure!(line.as_deref() == Some("ready"), "the load does not begin");
    Ok(child)
}

/// The folder of a journal, and that of its anchor.
struct JournalFolders<'a> {
    folder: &'a Path,
    anchor: &'a Path,
}

/// Opens the journal again, verifies it, and counts what was acknowledged and is not there.
async fn lost_entries(
    JournalFolders { folder, anchor }: JournalFolders<'_>,
    round: u64,
    highest: &BTreeMap<u64, u64>,
) -> Result<u64> {
    let journal = load::open(folder, anchor)?;
    let health = journal.status().health;
    ensure!(health == JournalHealth::Writable, "after the cut the journal is {health:?}");
    let report = journal.verify(Arc::new(|_, _| ())).await.context("could not verify")?;
    if let Some((seq, fault)) = report.fault {
        bail!("{CORRUPT}: seq {seq}: {fault}");
    }
    let mut lost = 0;
    for (producer, last) in highest {
        lost += last.saturating_sub(kept(&journal, round, *producer, *last).await?);
    }
    journal.close().await;
    Ok(lost)
}

/// Returns up to which number a producer's entries are there and say what they said.
async fn kept(journal: &JournalStore, round: u64, producer: u64, last: u64) -> Result<u64> {
    let run = run_of(round, producer).run;
    let mut kept = 0;
    while kept < last {
        let after = TapeSeq(u32::try_from(kept)?);
        let page = journal.tape(run, after, PAGE_ENTRIES).await.context("could not read a tape")?.entries;
        if page.is_empty() {
            break;
        }
        for entry in page {
            let number = u64::from(entry.tape_seq.0);
            ensure!(number == kept + 1, "a tape goes from {kept} to {number}");
            if let TapeEvent::Model(ModelEvent::Text { text, .. }) = &entry.event {
                ensure!(number > ENTRIES_BEFORE_TEXT, "a text where a run begins");
                ensure!(*text.expose() == text_of(producer, number), "entry {number} says something else");
            }
            kept = number;
        }
    }
    Ok(kept)
}

fn tell(report: &mut SuiteReport, ours: &[CutOutcome], control: &[CutOutcome]) {
    let sum = |seen: &[CutOutcome], what: fn(&CutOutcome) -> u64| seen.iter().map(what).sum::<u64>();
    let corrupt = report.failures.iter().filter(|failure| failure.contains(CORRUPT)).count();
    let lost = sum(ours, |seen| seen.lost);
    let acknowledged = sum(ours, |seen| seen.acknowledged);
    report.row(
        "cuts of the journal",
        ours.len(),
        format!(
            "{acknowledged} acknowledgements before them, {lost} entries lost, {corrupt} journals corrupt"
        ),
    );
    let losing = control.iter().filter(|seen| seen.lost > 0).count();
    report.row(
        "cuts of the control",
        control.len(),
        format!(
            "SQLite with synchronous=NORMAL lost {} acknowledged rows, in {losing} of them",
            sum(control, |s| s.lost)
        ),
    );
    if lost > 0 {
        report.failures.push(format!("{lost} acknowledged entries were lost"));
    }
    if acknowledged == 0 {
        report.failures.push("nothing was acknowledged before any cut".to_owned());
    }
    if losing == 0 {
        report.failures.push("the control lost nothing, so that the cuts prove nothing".to_owned());
    }
}

/// Says what is missing on a machine, or to a user, that cannot cut a file system off.
///
/// # Errors
/// When something is missing.
pub fn demand_root() -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "power cuts need root, to mount file systems; leave them out by name with --skip powercut"
    );
    ensure!(
        Path::new("/dev/loop-control").exists(),
        "power cuts need /dev/loop-control, which is missing here"
    );
    Ok(())
}
