//! One run with its programs, disturbed or not, and everything that must hold afterwards.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use palyra_model_server::ModelServer;

use super::conductor::{JobPhase, ProgramConductor};
use super::ledger::{LedgerDifferences, compare, ran};
use super::model::{self, INPUT};
use super::programs;
use super::started::{GONE_WITHIN, StartedProcesses};
use crate::daemon_restarts::DaemonRestarts;
use crate::person::{ActorKind, ActorTask, AttendedRun, attend};
use crate::strace::{AttachedTracer, CallRecording, StraceTracer};
use crate::test_home::{DaemonChild, Programs, TestHome};
use crate::verdict;

/// No story takes longer, or it waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(60);

/// What all stories share.
pub(super) struct ScenarioContext {
    folder: tempfile::TempDir,
    programs: Programs,
    _model: ModelServer,
    /// Where a daemon has been, and nothing else.
    lived_in: TestHome,
}

/// What is different from story to story.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScenarioOptions<'a> {
    /// Where a program is when the daemon is killed, if it is killed then.
    pub(super) place: Option<&'a str>,
    /// What follows the daemon, and the file it writes.
    pub(super) tracer: Option<(&'a StraceTracer, &'a Path)>,
    pub(super) person: ActorKind,
}

/// A story as it went.
#[derive(Debug)]
pub(super) struct ScenarioOutcome {
    /// The calls that were made until the fault, where somebody followed the daemon.
    pub(super) recording: CallRecording,
    /// How many processes lived when the daemon was killed at a place.
    pub(super) processes: usize,
    /// How long it took until all that the daemon had started was gone, if it died.
    pub(super) gone_after: Option<Duration>,
    /// How long it took until another daemon answered, if one died.
    pub(super) back_after: Option<Duration>,
    pub(super) attended: AttendedRun,
    /// Jobs that died with their daemon, and are listed as that.
    pub(super) jobs_in_doubt: usize,
    pub(super) compared: LedgerDifferences,
}

impl ScenarioContext {
    /// Prepares what all stories share.
    ///
    /// # Errors
    /// When an undisturbed daemon does not do its part.
    pub(super) async fn prepare(daemon: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("palyra-c").tempdir().context("no folder")?;
        let model = model::start().await.context("no port for the model's server")?;
        let programs = Programs::asking(daemon, model.base_url());
        let lived_in = TestHome::lived_in(&folder.path().join("lived-in"), &programs).await?;
        Ok(Self { folder, programs, _model: model, lived_in })
    }

    /// Returns the path of something that outlives a story.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Keeps the house of a story that failed, for whoever looks into it.
    pub(super) fn keep(&self, name: &str) -> PathBuf {
        TestHome::keep(&self.path("house"), name)
    }

    /// Lets a run start its programs.
    ///
    /// # Errors
    /// What does not hold, but for what the programs counted: that is in the answer.
    pub(super) async fn tell(&self, cast: ScenarioOptions<'_>) -> Result<ScenarioOutcome> {
        let told = tokio::time::timeout(PATIENCE, self.live(cast)).await;
        told.context("something that must happen does not")?
    }

    async fn live(&self, cast: ScenarioOptions<'_>) -> Result<ScenarioOutcome> {
        let house = TestHome::copy_of(&self.lived_in, &self.path("house"))?;
        programs::install(&house)?;
        let mut conductor = ProgramConductor::begin(&house, JobPhase::Coming)?;
        let (mut life, serving) = DaemonRestarts::in_house(&house, &self.programs);
        let (mut daemon, _, _) = house.serve(&self.programs).await?;
        let mut attached = match cast.tracer {
            Some((tracer, _)) => Some(tracer.attach(daemon.pid).await?),
            None => None,
        };
        life.tell();
        let ran = ran(&house);
        let errand = ActorTask { input: INPUT, key: "commands", person: cast.person, look: &ran };
        let work = attend(&house, serving, errand);
        tokio::pin!(work);
        let (mut place, mut struck, mut processes, mut gone_after) = (cast.place, None, 0, None);
        let attended = loop {
            tokio::select! {
                done = &mut work => break done?,
                reached = conductor.conduct(place) => {
                    reached?;
                    let started = StartedProcesses::by(daemon.pid)?;
                    processes = started.count();
                    // Each program has one that holds it.
                    ensure!(processes > 1, "a program runs, and the daemon has started none");
                    (place, struck) = (None, Some(started));
                    daemon.strike();
                }
                ended = daemon.ended() => {
                    ended?;
                    ensure!(gone_after.is_none(), "the daemon died once more by itself");
                    gone_after = Some(all_gone(struck.take(), attached.take()).await?);
                    conductor = ProgramConductor::begin(&house, JobPhase::Settled)?;
                    daemon = life.again().await?;
                }
            }
        };
        ensure!(place.is_none(), "no program was at `{}`", place.unwrap_or_default());
        let client = house.client().await.context("could not connect at the end")?;
        verdict::check_attended(&client, &attended).await?;
        let in_doubt = verdict::in_doubt(&client, attended.run).await?;
        ensure!(in_doubt.len() <= usize::from(gone_after.is_some()), "{in_doubt:?} are in doubt");
        drop(client);
        end(daemon, attached).await?;
        let compared = compare(&house, &attended.seen, &in_doubt)?;
        let recording =
            cast.tracer.map_or_else(|| Ok(CallRecording::default()), |(_, log)| CallRecording::read(log))?;
        let jobs_in_doubt = in_doubt.len();
        Ok(ScenarioOutcome {
            recording,
            processes,
            gone_after,
            back_after: life.back_after,
            attended,
            jobs_in_doubt,
            compared,
        })
    }
}

/// Demands that nothing is left of calls that have ended, and ends the daemon.
async fn end(daemon: DaemonChild, attached: Option<AttachedTracer>) -> Result<()> {
    StartedProcesses::only_one_waits(daemon.pid, GONE_WITHIN).await.context("the run is over")?;
    daemon.kill().await?;
    all_gone(None, attached).await.map(drop)
}

/// Waits until all that a dead daemon had started is gone: what was found while it lived, and what its tracer follows.
async fn all_gone(struck: Option<StartedProcesses>, attached: Option<AttachedTracer>) -> Result<Duration> {
    let begun = Instant::now();
    if let Some(started) = struck {
        started.gone(GONE_WITHIN).await.context("the daemon is dead")?;
    }
    if let Some(attached) = attached {
        let ended = tokio::time::timeout(GONE_WITHIN, attached.ended()).await;
        ended.context("the daemon is dead, and something that it started goes on")??;
    }
    Ok(begun.elapsed())
}
