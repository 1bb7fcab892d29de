//! What every scenario needs: the programs, the model's server, and houses to begin with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use palyra_model_server::ModelServer;
use palyra_types::RunId;
use tokio::sync::watch;

use super::legs::LifeLeg;
use crate::script::{self, INPUT};
use crate::strace::{CallRecording, DATABASE_SYNC, InjectedFault, Selector, StraceTracer};
use crate::test_home::{Programs, TestHome};
use crate::tool_setup::TestSettings;
use crate::verdict;
use crate::watch::{WatchedRun, attach_and_watch, start_and_watch};

/// Runs after which a checkpoint must have come.
const RUNS_TO_CHECKPOINT_MAX: usize = 80;
/// Runs that are left to the leg: one run may write a little less than it did before.
pub(crate) const RUNS_LEFT_TO_CHECKPOINT: usize = 3;

/// What every scenario needs.
pub struct Lab {
    folder: tempfile::TempDir,
    pub(crate) programs: Programs,
    _server: ModelServer,
    interrupted: BTreeMap<LifeLeg, (TestHome, RunId)>,
    runs_to_checkpoint: usize,
}

impl Lab {
    /// Makes a lab with what the legs begin with.
    ///
    /// # Errors
    /// When an undisturbed daemon does not do its part.
    pub async fn prepare(daemon: &Path, legs: &[LifeLeg]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("palyra-f").tempdir().context("no folder")?;
        let server = script::model_server().await.context("no port for the model's server")?;
        let programs = Programs {
            daemon: daemon.to_owned(),
            before: Vec::new(),
            model_url: server.base_url(),
            setting: TestSettings::default(),
        };
        let mut lab =
            Self { folder, programs, _server: server, interrupted: BTreeMap::new(), runs_to_checkpoint: 0 };
        for leg in legs {
            if let Some(kill) = kill_before(*leg) {
                let interrupted = lab.interrupt(kill).await;
                let interrupted = interrupted.with_context(|| format!("could not prepare: {leg}"))?;
                lab.interrupted.insert(*leg, interrupted);
            }
        }
        if legs.contains(&LifeLeg::Checkpoint) {
            lab.runs_to_checkpoint = lab.count_runs().await.context("could not bring a checkpoint about")?;
        }
        Ok(lab)
    }

    /// Returns the folder for records that outlive a scenario.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes the house that a leg begins with; there is one at a time, always in the same place.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn house(&self, leg: LifeLeg) -> Result<TestHome> {
        let root = self.path("house");
        match self.interrupted.get(&leg) {
            Some((kept, _)) => TestHome::copy_of(kept, &root),
            None => self.empty_house(),
        }
    }

    /// Returns the run that was interrupted before a leg begins.
    #[must_use]
    pub fn interrupted(&self, leg: LifeLeg) -> Option<RunId> {
        self.interrupted.get(&leg).map(|(_, run)| *run)
    }

    /// Brings a daemon to where the next few runs lead to a checkpoint.
    ///
    /// # Errors
    /// When a run does not end as it must.
    pub async fn near_checkpoint(&self, house: &TestHome) -> Result<()> {
        for number in RUNS_LEFT_TO_CHECKPOINT..self.runs_to_checkpoint {
            scripted_run(house, number).await?;
        }
        Ok(())
    }

    /// Keeps the house of a scenario that failed, for whoever looks into it.
    #[must_use]
    pub fn keep(&self, name: &str) -> PathBuf {
        let kept = std::env::temp_dir().join(format!("palyra-failures-{}-{name}", std::process::id()));
        match std::fs::rename(self.path("house"), &kept) {
            Ok(()) => kept,
            Err(_) => self.path("house"),
        }
    }

    /// Follows a run of a daemon that nothing disturbs to its end.
    ///
    /// # Errors
    /// When it does not end as it must.
    pub async fn to_its_end(&self, house: &TestHome, run: RunId) -> Result<WatchedRun> {
        let (_serving, seen) = watch::channel(1);
        attach_and_watch(house, seen, run).await
    }

    /// Makes an empty house, in the place of the one before.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn empty_house(&self) -> Result<TestHome> {
        let root = self.path("house");
        if root.exists() {
            std::fs::remove_dir_all(&root).context("could not empty the house")?;
        }
        TestHome::make(&root)
    }

    /// Leaves behind a daemon that was killed in the middle of a run.
    async fn interrupt(&self, KillPoint { kind, file, when }: KillPoint) -> Result<(TestHome, RunId)> {
        let house = self.empty_house()?;
        let (mut daemon, client, _) = house.serve(&self.programs).await?;
        let path = Some(house.path(file).display().to_string());
        let selector = Selector { kind: kind.to_owned(), path, when };
        let tracer = StraceTracer::injecting(&self.path("interrupt.log"), selector, InjectedFault::Kill);
        let attached = tracer.attach(daemon.pid).await?;
        let (_serving, seen) = watch::channel(1);
        let watching = start_and_watch(&house, seen, INPUT, "interrupted");
        tokio::select! {
            watched = watching => bail!("the run came to an end: {:?}", watched.map(|watched| watched.run)),
            ended = daemon.ended() => ended?,
        };
        attached.ended().await?;
        drop(client);
        let kept = TestHome::copy_of(&house, &self.path(&format!("interrupted-{}", self.interrupted.len())))?;
        let (daemon, client, _) = house.serve(&self.programs).await?;
        let runs = verdict::all_runs(&client).await?;
        daemon.kill().await?;
        let [run] = runs[..] else { bail!("{} runs instead of one", runs.len()) };
        Ok((kept, run))
    }

    /// Returns how many runs lead from a first start to the first checkpoint.
    async fn count_runs(&self) -> Result<usize> {
        let house = self.empty_house()?;
        let log = self.path("fill.log");
        let (daemon, _, _) = house.serve(&self.programs).await?;
        let attached = StraceTracer::recording(&log).attach(daemon.pid).await?;
        let mut due_after = None;
        for number in 1..=RUNS_TO_CHECKPOINT_MAX {
            scripted_run(&house, number).await?;
            if CallRecording::read(&log)?.calls.iter().any(is_checkpoint) {
                due_after = Some(number);
                break;
            }
        }
        daemon.kill().await?;
        attached.ended().await?;
        due_after.with_context(|| format!("no checkpoint in {RUNS_TO_CHECKPOINT_MAX} runs"))
    }
}

/// A call at which a daemon is killed: its kind, the file, and which of them.
struct KillPoint {
    kind: &'static str,
    file: &'static str,
    when: usize,
}

/// Returns the call at which the daemon before a leg is killed, if it is.
fn kill_before(leg: LifeLeg) -> Option<KillPoint> {
    match leg {
        LifeLeg::FirstStart | LifeLeg::RunAndStop | LifeLeg::Checkpoint => None,
        LifeLeg::StartInAct => Some(KillPoint { kind: "write", file: "effects", when: 1 }),
        // The first sync is the run's beginning, the second one its first text.
        LifeLeg::StartInAnswer => {
            Some(KillPoint { kind: DATABASE_SYNC, file: "state/journal.db-wal", when: 2 })
        }
    }
}

/// Returns whether a call belongs to copying the write-ahead log into the database.
pub(crate) fn is_checkpoint(call: &crate::strace::SystemCall) -> bool {
    call.path.as_ref().is_some_and(|path| path.ends_with("/journal.db"))
}

/// Follows a run of a daemon that nothing disturbs.
async fn scripted_run(house: &TestHome, number: usize) -> Result<WatchedRun> {
    let (_serving, seen) = watch::channel(1);
    start_and_watch(house, seen, INPUT, &format!("run-{number}")).await
}
