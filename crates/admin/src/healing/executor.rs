//! Performs one remedy. It decides nothing: which remedy, and whether it may be performed, is in the plan.

use futures::future::BoxFuture;
use palyra_background::TickFailure;
use palyra_healing::{HealingDomain, IncidentCause, IncidentKey, IncidentSubject, RemedyKind};
use palyra_journal_core::families::{approvals, runs};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::SpareKind;
use palyra_types::session::SessionRef;
use palyra_types::{ApprovalId, QueuedTaskId, RunId};

use super::artifact_watch;
use super::healing_ports::HealingPorts;
use super::watchers::provider_subject;

/// Performs a remedy.
///
/// # Errors
/// [`TickFailure`] where it could not be performed.
pub(super) async fn perform(
    ports: &HealingPorts,
    key: &IncidentKey,
    remedy: RemedyKind,
) -> Result<(), TickFailure> {
    match remedy {
        RemedyKind::ResumeRun => {
            if let Some((session, _)) = run_of(ports, key).await? {
                ports.runs.resume(session).await?;
            }
            Ok(())
        }
        RemedyKind::CancelRun => {
            if let Some((session, run)) = run_of(ports, key).await? {
                ports.runs.cancel(session, run).await?;
            }
            Ok(())
        }
        RemedyKind::WakeQueue => {
            ports.queue.look_again();
            Ok(())
        }
        RemedyKind::RequeueTask => {
            let task = QueuedTaskId::from_bytes(key.subject.0);
            ports.queue.requeue(task).await.map_err(TickFailure::new)
        }
        RemedyKind::ExpireApprovals => {
            ports.runs.expire_approvals();
            Ok(())
        }
        RemedyKind::ReopenProvider => reopen(ports, key.subject).await,
        RemedyKind::TruncateWal => ports.maintain.shrink_wal().await.map(drop).map_err(TickFailure::new),
        RemedyKind::RebuildProjections => {
            let rebuilt = ports.maintain.rebuild(std::sync::Arc::new(|_, _| {})).await;
            rebuilt.map(drop).map_err(TickFailure::new)
        }
        RemedyKind::FreeSpace => free_space(ports, key.cause).await,
        RemedyKind::RepairArtifact => repair_artifact(ports, key.subject).await,
        RemedyKind::RestartConnector | RemedyKind::RevokeWorker | RemedyKind::RestartBrowser => {
            Err(TickFailure::new("this version has no executor for the remedy"))
        }
    }
}

/// Repairs the artifact that the journal pins and that has this subject; one that was removed since needs no repair.
async fn repair_artifact(ports: &HealingPorts, subject: IncidentSubject) -> Result<(), TickFailure> {
    let pinned = artifact_watch::pinned(&*ports.families).await;
    let pinned = pinned
        .map_err(|error| TickFailure::new(format_args!("the pinned digests could not be read: {error}")))?;
    let Some(found) = pinned.into_iter().find(|one| one.subject() == subject) else { return Ok(()) };
    ports.artifacts.repair(found.artifact).await.map_err(TickFailure::new)?;
    tracing::info!(artifact = found.label(), "an artifact was repaired, and has its digest");
    Ok(())
}

/// Frees what belongs to the cause; a low disk is a reason to free everything that may go.
async fn free_space(ports: &HealingPorts, cause: IncidentCause) -> Result<(), TickFailure> {
    let kinds: &'static [SpareKind] = match cause.domain() {
        HealingDomain::Sandbox => &[SpareKind::Scratch],
        HealingDomain::Artifacts => &[SpareKind::CompiledComponents, SpareKind::OlderBackups],
        HealingDomain::Journal
        | HealingDomain::Runs
        | HealingDomain::Tasks
        | HealingDomain::Approvals
        | HealingDomain::Channels
        | HealingDomain::Providers
        | HealingDomain::Workers
        | HealingDomain::Browser => SpareKind::ALL,
    };
    let freed = ports.spare.free(kinds).await.map_err(TickFailure::new)?;
    tracing::info!(bytes = freed, cause = cause.as_str(), "space was freed");
    if freed == 0 { Err(TickFailure::new("there is nothing that may be freed")) } else { Ok(()) }
}

/// Returns the run of an incident: its subject, or the run of the approval that is its subject.
async fn run_of(ports: &HealingPorts, key: &IncidentKey) -> Result<Option<(SessionRef, RunId)>, TickFailure> {
    let subject = key.subject;
    let is_of_approval = key.cause.domain() == HealingDomain::Approvals;
    let found = ports.families.query(move |rows, log| {
        if !is_of_approval {
            return runs::record(rows, RunId::from_bytes(subject.0));
        }
        match approvals::record(rows, log, ApprovalId::from_bytes(subject.0))? {
            Some(approval) => runs::record(rows, approval.run),
            None => Ok(None),
        }
    });
    let found = found.await;
    let found =
        found.map_err(|error| TickFailure::new(format_args!("the run could not be read: {error}")))?;
    Ok(found.map(|run| (SessionRef { principal: run.principal, id: run.session }, run.run)))
}

/// Lets a provider be asked again, and asks it which models it has: the answer shows whether it works.
fn reopen(ports: &HealingPorts, subject: IncidentSubject) -> BoxFuture<'static, Result<(), TickFailure>> {
    let log = ports.maintain.status().log_id;
    let models = ports.models.borrow().clone();
    Box::pin(async move {
        let provider = models.providers().find(|one| provider_subject(log, &one.name()) == subject);
        let Some(provider) = provider else { return Ok(()) };
        provider.end_pause();
        match provider.models().await {
            Ok(_) => Ok(()),
            Err(failure) => {
                Err(TickFailure::new(format_args!("the provider failed again: {}", failure.class.code())))
            }
        }
    })
}
