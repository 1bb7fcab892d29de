//! What becomes of work that is stuck: an incident within its window, and by the mode of its domain a remedy, a plan or
//! nothing.

use std::time::Duration;

use palyra_admin::healing::{IncidentQuery, IncidentView, RemedyDue};
use palyra_ports::ProviderHealth;
use palyra_testkit::Script;
use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentResolution, IncidentStage, RemedyKind, RemedyOutcome,
    SelfHealingMode,
};
use palyra_types::run::{RunLifecycleState, RunPhase};

use crate::rig::{Rig, settle};

const MINUTE: Duration = Duration::from_secs(60);

/// A runtime in which one domain has a mode, and the others are observed.
async fn rig_with(domain: HealingDomain, mode: SelfHealingMode) -> Rig {
    let rig = Rig::start().await;
    rig.gateway.health.set_healing_mode(rig.me().actor, domain, Some(mode)).await.unwrap();
    settle().await;
    rig
}

/// Lets minutes pass, one after the other.
async fn pass(rig: &Rig, minutes: u32) {
    for _ in 0..minutes {
        rig.clock.advance(MINUTE);
        settle().await;
    }
}

async fn incidents(rig: &Rig) -> Vec<IncidentView> {
    let query = IncidentQuery { limit: 50, ..IncidentQuery::default() };
    rig.gateway.health.incidents(query).await.unwrap()
}

fn looks(rig: &Rig) -> u64 {
    let tasks = rig.gateway.health.background_tasks();
    tasks.iter().find(|task| task.name == "self_healing").map_or(0, |task| task.ticks)
}

#[tokio::test]
async fn a_run_whose_model_is_silent_is_cancelled_in_auto() {
    let rig = rig_with(HealingDomain::Runs, SelfHealingMode::Auto).await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    settle().await;
    // A provider may be silent for five minutes.
    pass(&rig, 5).await;
    assert!(incidents(&rig).await.is_empty());
    pass(&rig, 3).await;
    let record = rig.record(run).await;
    assert_eq!(record.state, RunLifecycleState::Cancelled);
    pass(&rig, 2).await;
    let [incident] = <[_; 1]>::try_from(incidents(&rig).await).unwrap();
    let record = &incident.record;
    assert_eq!((record.opened.cause, &incident.subject), (IncidentCause::RunNoProgress, &run.to_string()));
    assert_eq!(
        (record.stage, record.resolution),
        (IncidentStage::Resolved, Some(IncidentResolution::Remedied))
    );
    assert_eq!(record.last_remedy, Some(RemedyKind::CancelRun));
    assert_eq!(record.last_outcome, Some(RemedyOutcome::Helped));
}

#[tokio::test]
async fn observing_shows_the_same_remedy_and_leaves_the_run_alone() {
    let rig = rig_with(HealingDomain::Runs, SelfHealingMode::ObserveOnly).await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    pass(&rig, 10).await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Running);
    let [incident] = <[_; 1]>::try_from(incidents(&rig).await).unwrap();
    assert_eq!((incident.record.stage, incident.record.remedies), (IncidentStage::Open, 0));
    let next = incident.next.expect("a plan");
    assert_eq!((next.remedy, next.due), (RemedyKind::CancelRun, RemedyDue::Now));
    assert!(!rig.gateway.health.performs(&next));
    rig.cancel(run).await.unwrap();
    pass(&rig, 2).await;
    let resolution = incidents(&rig).await[0].record.resolution;
    assert_eq!(resolution, Some(IncidentResolution::ByItself));
}

#[tokio::test]
async fn a_disabled_domain_leaves_a_stuck_run_as_it_is() {
    let rig = rig_with(HealingDomain::Runs, SelfHealingMode::Disabled).await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    pass(&rig, 20).await;
    assert!(incidents(&rig).await.is_empty());
    assert_eq!(rig.record(run).await.phase, RunPhase::Running);
}

#[tokio::test]
async fn a_provider_that_is_left_alone_is_an_incident_until_it_answers() {
    let rig = rig_with(HealingDomain::Providers, SelfHealingMode::Auto).await;
    rig.model.set_health(ProviderHealth::Paused { rest: MINUTE });
    rig.gateway.health.heal_now();
    settle().await;
    pass(&rig, 3).await;
    let found = incidents(&rig).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].record.opened.cause, &*found[0].subject),
        (IncidentCause::ProviderPaused, "scripted")
    );
    assert_eq!(found[0].record.last_remedy, Some(RemedyKind::ReopenProvider));
    rig.model.set_health(ProviderHealth::Healthy);
    pass(&rig, 2).await;
    let over = &incidents(&rig).await[0].record;
    assert_eq!((over.resolution, over.remedies), (Some(IncidentResolution::Remedied), 1));
}

#[tokio::test]
async fn an_open_incident_goes_on_after_a_restart() {
    let rig = rig_with(HealingDomain::Runs, SelfHealingMode::ObserveOnly).await;
    rig.model.push(Script::new().hang());
    rig.submit("k", "go").await;
    pass(&rig, 10).await;
    let before = incidents(&rig).await[0].record.opened.incident;
    let rig = rig.restarted().await;
    rig.model.push(Script::new().hang());
    settle().await;
    // The silence of the new process is counted from its start, so the incident ends, and may begin again.
    pass(&rig, 2).await;
    let after = incidents(&rig).await;
    assert_eq!((after.len(), after[0].record.opened.incident), (1, before));
    assert_eq!(after[0].record.stage, IncidentStage::Resolved);
}

#[tokio::test]
async fn an_idle_daemon_does_not_wake_to_look() {
    let rig = Rig::start().await;
    settle().await;
    let before = looks(&rig);
    pass(&rig, 60).await;
    assert_eq!(looks(&rig), before);
    let run = rig.submit("k", "hello").await.run;
    rig.finished(run).await;
    settle().await;
    assert!(looks(&rig) > before, "a run is a signal");
}
