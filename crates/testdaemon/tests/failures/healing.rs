//! A provider hangs: self-healing finds the run within its window, cancels it in `auto`, shows the same remedy in
//! `observe_only`, and leaves everything as it is in `disabled`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, FollowEvent, RunFollower};
use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_testdaemon::test_home::{Programs, TestHome};
use palyra_testdaemon::tool_setup::TestSettings;
use palyra_wire::v1::{
    HealingDomain, HealingMode, Incident, IncidentCause, IncidentStage, ListIncidentsRequest, RemedyKind,
    SessionSelector, SetHealingModeRequest, StartRunRequest,
};

/// The window of the daemon of these tests.
const WINDOW: Duration = Duration::from_millis(800);
/// Longer than several windows: an incident that is not recorded by then is missing.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the control looks on.
const CONTROL: Duration = Duration::from_secs(6);

/// A daemon whose only run hangs at its provider.
struct HungRun {
    client: Client,
    run: String,
    daemon: palyra_testdaemon::test_home::DaemonChild,
    _folder: tempfile::TempDir,
    _model: ModelServer,
}

impl HungRun {
    async fn start(mode: HealingMode) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let model = ModelServer::start(Behaviour::always(Reply::silent())).await?;
        let setting = TestSettings { healing_window: Some(WINDOW), ..TestSettings::default() };
        let programs = Programs {
            daemon: PathBuf::from(env!("CARGO_BIN_EXE_palyra-testdaemon")),
            before: Vec::new(),
            model_url: model.base_url(),
            setting,
        };
        let home = TestHome::make(&folder.path().join("house"))?;
        let (daemon, client, _) = home.serve(&programs).await?;
        let domain = HealingDomain::Runs.into();
        client.call(SetHealingModeRequest { domain, mode: mode.into() }).await?;
        let session = SessionSelector { session_key: "hung".to_owned(), ..SessionSelector::default() };
        let start = StartRunRequest {
            session: Some(session),
            input: "Are you there?".to_owned(),
            ..StartRunRequest::default()
        };
        let run = client.start_run(start).await?.run_id;
        Ok(Self { client, run, daemon, _folder: folder, _model: model })
    }

    async fn incidents(&self) -> Result<Vec<Incident>> {
        let request = ListIncidentsRequest { all: true, ..ListIncidentsRequest::default() };
        Ok(self.client.call(request).await?.incidents)
    }

    /// Returns the incident of the run once it is in a stage. One that is open is shown before its next remedy is planned.
    async fn incident_in(&self, stage: IncidentStage) -> Result<Incident> {
        let is_shown = |one: &Incident| {
            let is_planned = stage != IncidentStage::Open || one.next_remedy() != RemedyKind::Unspecified;
            one.stage() == stage && is_planned
        };
        let found = tokio::time::timeout(PATIENCE, async {
            let mut ticks = tokio::time::interval(WINDOW / 8);
            loop {
                ticks.tick().await;
                let found = self.incidents().await?.into_iter().find(is_shown);
                if let Some(incident) = found {
                    return anyhow::Ok(incident);
                }
            }
        });
        let incident = found.await.context("there is no such incident")??;
        ensure!(incident.cause() == IncidentCause::RunNoProgress, "{incident:?}");
        ensure!(incident.subject == self.run, "{incident:?}");
        Ok(incident)
    }

    async fn ended(&self) -> Result<()> {
        let mut follower = RunFollower::attach(&self.client, self.run.parse().context("the id")?, 0);
        let end = tokio::time::timeout(PATIENCE, async {
            while let Some(event) = follower.next().await? {
                if matches!(event, FollowEvent::Ended(_)) {
                    break;
                }
            }
            anyhow::Ok(())
        });
        end.await.context("the run does not end")?
    }

    async fn stop(self) -> Result<()> {
        self.daemon.kill().await
    }
}

#[tokio::test]
async fn a_hung_provider_costs_its_run_in_auto() -> Result<()> {
    let hung = HungRun::start(HealingMode::Auto).await?;
    hung.ended().await?;
    let incident = hung.incident_in(IncidentStage::Resolved).await?;
    ensure!(incident.last_remedy() == RemedyKind::CancelRun, "{incident:?}");
    ensure!(incident.silent_ms >= incident.window_ms, "{incident:?}");
    hung.stop().await
}

#[tokio::test]
async fn a_hung_provider_is_shown_with_the_same_remedy_when_observed() -> Result<()> {
    let hung = HungRun::start(HealingMode::ObserveOnly).await?;
    let incident = hung.incident_in(IncidentStage::Open).await?;
    ensure!(incident.next_remedy() == RemedyKind::CancelRun && !incident.next_is_performed, "{incident:?}");
    ensure!(incident.remedies == 0, "{incident:?}");
    hung.stop().await
}

#[tokio::test]
async fn a_hung_provider_is_left_alone_when_disabled() -> Result<()> {
    let hung = HungRun::start(HealingMode::Disabled).await?;
    let ended = tokio::time::timeout(CONTROL, hung.ended()).await;
    ensure!(ended.is_err(), "the run ended by itself");
    ensure!(hung.incidents().await?.is_empty(), "there is an incident");
    hung.stop().await
}
