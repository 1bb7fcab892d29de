//! A change that is made while the daemon is killed, at one call that changes files after the other.
//!
//! Owns the loop: an undisturbed daemon is recorded, then the change is made again and again, each time with a kill at another
//! of the recorded calls. A [`KilledChange`] is the change, and what has to be true after a kill. Begin at [`kill_at_calls`].

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, ClientError};
use palyra_model_server::ModelServer;
use palyra_testdaemon::strace::{CallRecording, InjectedFault, Selector, StraceTracer, SystemCall};
use palyra_testdaemon::test_home::{Programs, TestHome};
use palyra_testdaemon::tool_setup::TestSettings;

/// No change takes longer, or it waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A daemon that serves, and its folder.
pub(crate) struct ServedHome<'a> {
    pub(crate) home: &'a TestHome,
    pub(crate) client: &'a Client,
}

/// A change of what a daemon keeps.
pub(crate) trait KilledChange {
    /// Every so many calls are tried; which of them changes with the commit.
    const EVERY: u64;
    /// Parts of the paths at whose calls a kill matters.
    const PLACES: &'static [&'static str];

    /// Makes what has to be there before; no kill disturbs it.
    async fn prepare(&mut self, client: &Client) -> Result<()>;

    /// Makes what is left of the change, remembers what was acknowledged, and looks at the whole.
    async fn make(&mut self, served: &ServedHome<'_>) -> Result<()>;

    /// Demands that what a kill left is whole, and remembers how far the change is.
    async fn look(&mut self, served: &ServedHome<'_>) -> Result<()>;

    /// Looks at the files once the change was made and the daemon has ended.
    fn look_at_files(&self, home: &TestHome) -> Result<()>;
}

/// Where the daemons of a test live, and what they are started with.
struct KillRig {
    home: PathBuf,
    log: PathBuf,
    programs: Programs,
}

impl KillRig {
    /// Makes a change under a tracer; where the daemon's death interrupts it, what is left is made after a restart.
    async fn live<C: KilledChange>(&self, mut change: C, tracer: &StraceTracer) -> Result<CallRecording> {
        if self.home.exists() {
            std::fs::remove_dir_all(&self.home).context("could not empty the folder")?;
        }
        let home = TestHome::make(&self.home)?;
        let (mut daemon, mut client, _) = home.serve(&self.programs).await?;
        change.prepare(&client).await?;
        let mut attached = Some(tracer.attach(daemon.pid).await?);
        // Files may be written after the acknowledgement, so the death may also meet the last look.
        while let Err(error) = change.make(&ServedHome { home: &home, client: &client }).await {
            ensure!(error.downcast_ref().is_some_and(ClientError::is_unreachable), "{error:#}");
            daemon.ended().await?;
            let attached = attached.take().context("the daemon died once more by itself")?;
            attached.ended().await?;
            (daemon, client, _) = home.serve(&self.programs).await?;
            let served = ServedHome { home: &home, client: &client };
            change.look(&served).await.context("after the daemon was killed")?;
        }
        daemon.kill().await?;
        if let Some(attached) = attached {
            attached.ended().await?;
        }
        change.look_at_files(&home)?;
        CallRecording::read(&self.log)
    }

    async fn live_in_time<C: KilledChange>(&self, change: C, tracer: &StraceTracer) -> Result<CallRecording> {
        let lived = tokio::time::timeout(PATIENCE, self.live(change, tracer)).await;
        lived.context("something that must happen does not")?
    }
}

/// Makes a change undisturbed, then again for each chosen call, at which the daemon is killed; `change` begins it again.
pub(crate) async fn kill_at_calls<C: KilledChange>(change: impl Fn() -> C) {
    let model = palyra_testdaemon::script::model_server().await.expect("a port");
    kill_at_calls_with(&model, change).await;
}

/// The same with another model.
pub(crate) async fn kill_at_calls_with<C: KilledChange>(model: &ModelServer, change: impl Fn() -> C) {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = Programs {
        daemon: env!("CARGO_BIN_EXE_palyra-testdaemon").into(),
        before: Vec::new(),
        model_url: model.base_url(),
        setting: TestSettings::default(),
    };
    let rig = KillRig { home: folder.path().join("house"), log: folder.path().join("log"), programs };
    let recorded = rig.live_in_time(change(), &StraceTracer::recording(&rig.log)).await;
    let recorded = recorded.expect("undisturbed").calls;
    let matters = |call: &SystemCall| {
        call.path.as_ref().is_none_or(|path| C::PLACES.iter().any(|place| path.contains(place)))
    };
    let offset = palyra_testkit::suite_seed() % C::EVERY;
    let chosen = (0..recorded.len()).filter(|place| matters(&recorded[*place]));
    let chosen = chosen.zip(0_u64..).filter(|(_, number)| number % C::EVERY == offset);
    let (mut kills, mut tried) = (0, 0);
    for (place, number) in chosen {
        let Some(selector) = Selector::of(&recorded, place) else { continue };
        let tracer = StraceTracer::injecting(&rig.log, selector.clone(), InjectedFault::Kill);
        let lived = rig.live_in_time(change(), &tracer).await;
        let lived = lived
            .unwrap_or_else(|error| panic!("call {number}, {:?}, {selector:?}: {error:#}", recorded[place]));
        (kills, tried) = (kills + usize::from(lived.injected), tried + 1);
    }
    eprintln!("{kills} kills of {tried} tried, {} calls recorded", recorded.len());
    assert!(kills > 0, "no daemon was killed, so nothing was tried");
}
