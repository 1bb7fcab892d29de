//! A provider accepts a request and never answers.

use anyhow::{Result, ensure};
use palyra_model_server::{Behaviour, Reply};
use palyra_wire::v1::{GetRunRequest, HealingDomain, IncidentCause, RemedyKind, RunState};

use super::stuck_daemon::{StuckDaemon, StuckOptions};
use super::three_modes::{ExpectedIncident, OutsideFault, in_each_mode};

/// What has to become of a run that shows no progress.
pub(super) const STUCK_RUN: ExpectedIncident = ExpectedIncident {
    domain: HealingDomain::Runs,
    cause: IncidentCause::RunNoProgress,
    planned: RemedyKind::CancelRun,
    helps: RemedyKind::CancelRun,
};

/// A run whose provider hangs.
struct HungProvider {
    daemon: StuckDaemon,
    run: String,
}

impl OutsideFault for HungProvider {
    const EXPECTED: ExpectedIncident = STUCK_RUN;

    async fn make() -> Result<Self> {
        let model = Behaviour::always(Reply::silent());
        let daemon = StuckDaemon::start(model, StuckOptions::default(), HealingDomain::Runs).await?;
        let run = daemon.start_run("hung", "Are you there?").await?;
        Ok(Self { daemon, run })
    }

    fn daemon(&self) -> &StuckDaemon {
        &self.daemon
    }

    async fn is_broken(&self) -> Result<bool> {
        for incident in self.daemon.incidents(HealingDomain::Runs).await? {
            ensure!(incident.subject == self.run, "{incident:?}");
        }
        is_running(&self.daemon, &self.run).await
    }

    async fn stop(self) -> Result<()> {
        self.daemon.stop().await
    }
}

/// Returns whether a run is not over; one that ended was cancelled.
pub(super) async fn is_running(daemon: &StuckDaemon, run: &str) -> Result<bool> {
    let found = daemon.client.call(GetRunRequest { run_id: run.to_owned() });
    let found = found.await?.run.unwrap_or_default();
    match found.state() {
        RunState::Cancelled => Ok(false),
        RunState::InProgress => Ok(true),
        other => anyhow::bail!("the run is {other:?}"),
    }
}

#[tokio::test]
async fn a_hung_provider_costs_its_run_in_auto_only() -> Result<()> {
    in_each_mode::<HungProvider>().await
}
