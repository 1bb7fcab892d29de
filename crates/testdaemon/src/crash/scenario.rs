//! One leg of a daemon's life, disturbed or not, and everything that must hold afterwards.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::lab::{Lab, RUNS_LEFT_TO_CHECKPOINT};
use super::legs::LifeLeg;
use crate::daemon_restarts::DaemonRestarts;
use crate::script::INPUT;
use crate::strace::{CallRecording, StraceTracer};
use crate::test_home::{StartOutcome, TestHome};
use crate::verdict;
use crate::watch::{ServingReceiver, WatchedRun, attach_and_watch, start_and_watch};

/// No scenario takes longer, or it waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A leg with the tracer that follows it.
pub struct Scenario<'a> {
    /// The lab.
    pub lab: &'a Lab,
    /// The leg.
    pub leg: LifeLeg,
    /// Its tracer.
    pub tracer: StraceTracer,
    /// What the tracer writes.
    pub log: PathBuf,
}

/// A scenario after which everything held.
#[derive(Debug)]
pub struct ScenarioOutcome {
    /// The calls that were made until the fault, and whether there was one.
    pub recording: CallRecording,
    /// How long it took until another daemon answered, if one died.
    pub back_after: Option<Duration>,
}

impl Scenario<'_> {
    /// Carries it out.
    ///
    /// # Errors
    /// What does not hold.
    pub async fn carry_out(&self) -> Result<ScenarioOutcome> {
        let carried = tokio::time::timeout(PATIENCE, self.live()).await;
        carried.context("something that must happen does not")?
    }

    async fn live(&self) -> Result<ScenarioOutcome> {
        let house = self.lab.house(self.leg)?;
        let (mut life, seen) = DaemonRestarts::in_house(&house, &self.lab.programs);
        let (daemon, attached) = if self.leg.from_its_start() {
            match house.start(&self.lab.programs, &self.tracer.words()).await? {
                StartOutcome::Serving(daemon) => (daemon, None),
                StartOutcome::Killed => (life.again().await?, None),
                StartOutcome::Refused(line) => bail!("the daemon does not start: {}", line.trim()),
            }
        } else {
            let (daemon, _, _) = house.serve(&self.lab.programs).await?;
            if self.leg == LifeLeg::Checkpoint {
                self.lab.near_checkpoint(&house).await?;
            }
            let attached = self.tracer.attach(daemon.pid).await?;
            (daemon, Some(attached))
        };
        life.tell();
        let (watched, daemon) = life.through_one_death(daemon, self.clients(&house, seen)).await?;
        let daemon = if life.back_after.is_some() {
            daemon
        } else {
            daemon.stop().await?;
            life.again().await?
        };
        if let Some(attached) = attached {
            attached.ended().await?;
        }
        let recording = CallRecording::read(&self.log)?;
        let client = house.client().await.context("could not connect at the end")?;
        verdict::check_house(&house, &client, &watched).await?;
        daemon.kill().await?;
        Ok(ScenarioOutcome { recording, back_after: life.back_after })
    }

    async fn clients(&self, house: &TestHome, serving: ServingReceiver) -> Result<Vec<WatchedRun>> {
        let mut all = Vec::new();
        if let Some(run) = self.lab.interrupted(self.leg) {
            all.push(attach_and_watch(house, serving.clone(), run).await?);
        }
        let runs = if self.leg == LifeLeg::Checkpoint { RUNS_LEFT_TO_CHECKPOINT + 1 } else { 1 };
        for number in 0..runs {
            let key = format!("key-{number}");
            all.push(start_and_watch(house, serving.clone(), INPUT, &key).await?);
        }
        Ok(all)
    }
}
