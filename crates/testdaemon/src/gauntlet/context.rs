//! What all stories share: the programs, the model, and the houses in which they begin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use palyra_model_server::ModelServer;

use super::ledgers::{counted, errand};
use super::legs::RunLeg;
use super::model;
use crate::daemon_restarts::DaemonRestarts;
use crate::keyed::{KeyedServer, done};
use crate::person::{ActorKind, attend};
use crate::strace::{InjectedFault, Selector, StraceTracer, SystemCall};
use crate::test_home::{Programs, TestHome};

/// Replies to each call that the server drops.
const REPLIES_DROPPED: u32 = 1;

/// What all stories share.
pub(super) struct GauntletContext {
    folder: tempfile::TempDir,
    programs: Programs,
    _model: ModelServer,
    /// By the leg that begins there; the run begins where a daemon has been, and nothing else.
    houses: BTreeMap<RunLeg, TestHome>,
}

impl GauntletContext {
    /// Prepares what all stories share; the run can be told then, and other legs once they are prepared.
    ///
    /// # Errors
    /// When an undisturbed daemon does not do its part.
    pub(super) async fn prepare(daemon: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("palyra-g").tempdir().context("no folder")?;
        let model = model::start().await.context("no port for the model's server")?;
        let programs = Programs::asking(daemon, model.base_url());
        let lived_in = TestHome::lived_in(&folder.path().join("lived-in"), &programs).await?;
        Ok(Self { folder, programs, _model: model, houses: BTreeMap::from([(RunLeg::Run, lived_in)]) })
    }

    /// Leaves behind a daemon that was killed where a leg begins, by a recording of the run.
    ///
    /// # Errors
    /// When it is not killed there.
    pub(super) async fn prepare_leg(&mut self, leg: RunLeg, calls: &[SystemCall]) -> Result<()> {
        let Some(place) = leg.killed_before(calls) else { return Ok(()) };
        let selector = Selector::of(calls, place).context("out of strace's reach")?;
        let (house, _server, programs) = self.begin(RunLeg::Run)?;
        let (mut daemon, _, _) = house.serve(&programs).await?;
        let log = self.path("interrupt.log");
        let attached =
            StraceTracer::injecting(&log, selector, InjectedFault::Kill).attach(daemon.pid).await?;
        let (life, serving) = DaemonRestarts::in_house(&house, &programs);
        life.tell();
        let counted = counted(&house);
        tokio::select! {
            attended = attend(&house, serving, errand(ActorKind::Careful, &counted)) => {
                bail!("the run came to an end: {:?}", attended.map(|attended| attended.run))
            }
            ended = daemon.ended() => ended?,
        };
        attached.ended().await?;
        let kept = TestHome::copy_of(&house, &self.path(&format!("kept-{}", self.houses.len())))?;
        demand_traces(leg, &kept)?;
        ensure!(self.houses.insert(leg, kept).is_none(), "a leg is prepared once");
        Ok(())
    }

    /// Makes the house of a story, always in the same place, with the server that its tool asks.
    pub(super) fn begin(&self, leg: RunLeg) -> Result<(TestHome, KeyedServer, Programs)> {
        let kept = self.houses.get(&leg).with_context(|| format!("`{leg}` is not prepared"))?;
        let house = TestHome::copy_of(kept, &self.path("house"))?;
        let server = KeyedServer::start(&house.keyed_log(), REPLIES_DROPPED).context("no port")?;
        let mut programs = self.programs.clone();
        programs.setting.keyed = Some(server.address().to_string());
        Ok((house, server, programs))
    }

    /// Returns the path of something that outlives a story.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns where the counter counts.
    pub(super) fn counter(&self) -> PathBuf {
        TestHome::at(&self.path("house")).effects()
    }

    /// Keeps the house of a story that failed, for whoever looks into it.
    pub(super) fn keep(&self, name: &str) -> PathBuf {
        TestHome::keep(&self.path("house"), name)
    }
}

/// Demands that what a leg is about has left its trace, and no more.
fn demand_traces(leg: RunLeg, house: &TestHome) -> Result<()> {
    let is_there = |path: &Path| path.exists();
    let left = match leg {
        RunLeg::Run => true,
        RunLeg::AfterKeyed => done(&house.keyed_log())?.len() == 1 && !is_there(&house.effects()),
        RunLeg::AfterCounter => std::fs::read_to_string(house.effects())?.lines().count() == 1,
        RunLeg::AfterStaging => {
            let staged = std::fs::read_dir(house.work())?.count();
            staged == 1 && !is_there(&house.work().join("notes.txt"))
        }
    };
    ensure!(left, "the daemon was killed elsewhere");
    Ok(())
}
