//! The same fault under each mode, and what must hold under it.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use palyra_wire::v1::{
    HealingDomain, HealingMode, Incident, IncidentCause, IncidentResolution, IncidentStage, RemedyKind,
    RemedyOutcome,
};

use super::stuck_daemon::StuckDaemon;

/// The window of the daemons of these tests.
pub(super) const WINDOW: Duration = Duration::from_millis(800);
/// Longer than several windows: something that did not happen by then does not happen.
const PATIENCE: Duration = Duration::from_secs(40);
/// How long the control looks on: the window, and as long again for each of two remedies.
const CONTROL: Duration = Duration::from_millis(3_200);

/// What self-healing has to make of a fault.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpectedIncident {
    pub(super) domain: HealingDomain,
    pub(super) cause: IncidentCause,
    /// The first remedy of its plan.
    pub(super) planned: RemedyKind,
    /// The remedy after which it is over.
    pub(super) helps: RemedyKind,
}

/// A fault that is made from outside of the daemon.
pub(super) trait OutsideFault: Sized {
    /// What has to become of it.
    const EXPECTED: ExpectedIncident;

    /// Starts a daemon whose domain is disabled, and makes the fault.
    async fn make() -> Result<Self>;

    /// Returns the daemon.
    fn daemon(&self) -> &StuckDaemon;

    /// Returns whether what is broken still is, as it is seen from outside.
    async fn is_broken(&self) -> Result<bool>;

    /// Ends the daemon.
    async fn stop(self) -> Result<()>;
}

/// Makes a fault under each mode, one daemon beside the other.
pub(super) async fn in_each_mode<F: OutsideFault>() -> Result<()> {
    let (auto, observed, disabled) = tokio::join!(mended::<F>(), shown::<F>(), left_alone::<F>());
    let planned = auto.context("in auto")?;
    let shown = observed.context("in observe_only")?;
    disabled.context("in disabled")?;
    ensure!(planned == shown, "auto planned {planned:?}, observe_only {shown:?}");
    Ok(())
}

/// Makes a fault, and sets the mode once it is made: on a busy machine that takes longer than a window.
async fn made<F: OutsideFault>(mode: HealingMode) -> Result<F> {
    let fault = F::make().await?;
    fault.daemon().set_mode(F::EXPECTED.domain, mode).await?;
    Ok(fault)
}

async fn mended<F: OutsideFault>() -> Result<RemedyKind> {
    let fault = made::<F>(HealingMode::Auto).await?;
    let incident = incident_in(&fault, IncidentStage::Resolved).await?;
    ensure!(incident.resolution() == IncidentResolution::Remedied, "{incident:?}");
    ensure!(incident.last_remedy() == F::EXPECTED.helps, "{incident:?}");
    ensure!(incident.last_outcome() == RemedyOutcome::Helped, "{incident:?}");
    ensure!(incident.silent_ms >= incident.window_ms, "{incident:?}");
    until(async || Ok(!fault.is_broken().await?)).await.context("it is still broken")?;
    fault.stop().await?;
    Ok(incident.planned())
}

async fn shown<F: OutsideFault>() -> Result<RemedyKind> {
    let fault = made::<F>(HealingMode::ObserveOnly).await?;
    let incident = incident_in(&fault, IncidentStage::Open).await?;
    ensure!(incident.next_remedy() == F::EXPECTED.planned, "{incident:?}");
    ensure!(!incident.next_is_performed && incident.remedies == 0, "{incident:?}");
    // As long as a remedy would have had.
    tokio::time::sleep(WINDOW).await;
    ensure!(fault.is_broken().await?, "it was mended");
    let later = incident_in(&fault, IncidentStage::Open).await?;
    ensure!(later.remedies == 0, "{later:?}");
    fault.stop().await?;
    Ok(incident.planned())
}

async fn left_alone<F: OutsideFault>() -> Result<()> {
    let fault = made::<F>(HealingMode::Disabled).await?;
    tokio::time::sleep(CONTROL).await;
    ensure!(fault.is_broken().await?, "it was mended");
    let found = fault.daemon().incidents(F::EXPECTED.domain).await?;
    ensure!(found.is_empty(), "{found:?}");
    fault.stop().await
}

/// Returns the incident once it is in a stage. One that is open is shown before its next remedy is planned.
async fn incident_in<F: OutsideFault>(fault: &F, stage: IncidentStage) -> Result<Incident> {
    let is_there = |one: &Incident| {
        let is_planned = stage != IncidentStage::Open || one.next_remedy() != RemedyKind::Unspecified;
        one.cause() == F::EXPECTED.cause && one.stage() == stage && is_planned
    };
    let mut found = Vec::new();
    let waited = until(async || {
        found = fault.daemon().incidents(F::EXPECTED.domain).await?;
        Ok(found.iter().any(is_there))
    });
    let waited = waited.await;
    waited.with_context(|| format!("there is no such incident, but {found:?}"))?;
    found.into_iter().find(is_there).context("it was there")
}

/// Waits until something holds that gives no signal.
pub(super) async fn until(mut holds: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let waited = tokio::time::timeout(PATIENCE, async {
        let mut ticks = tokio::time::interval(WINDOW / 8);
        loop {
            ticks.tick().await;
            if holds().await? {
                return anyhow::Ok(());
            }
        }
    });
    waited.await.context("it does not happen")?
}
