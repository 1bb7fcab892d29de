//! Takes up, after a start, every run that somebody has to drive.

use std::collections::BTreeSet;
use std::sync::Arc;

use palyra_journal_core::families::runs;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::ReadError;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_types::run::{InputDelivery, RunLifecycleState, RunPhase, RunRecord};
use palyra_types::session::SessionRef;

use crate::parts::RuntimePorts;
use crate::session::{SessionsHandle, needs_driving};

/// Wakes the sessions that have work to do; a run that waits for a person stays a row. Returns the runs found.
pub(crate) async fn take_up_open_runs(
    ports: &Arc<RuntimePorts>,
    sessions: &SessionsHandle,
) -> Result<usize, ReadError> {
    let open = ports.families.query(|rows, _| runs::open(rows)).await?;
    if ports.maintain.status().health == JournalHealth::Quarantined {
        tracing::warn!(runs = open.len(), "the journal is read-only: no run is taken up");
        return Ok(open.len());
    }
    let interrupted: BTreeSet<SessionRef> =
        open.iter().filter(|run| waits_to_interrupt(run)).map(session_of).collect();
    let waiting: BTreeSet<SessionRef> =
        open.iter().filter(|run| waits_for_a_person(run)).map(session_of).collect();
    // Runs queued behind a waiting one wait with it.
    let to_wake: BTreeSet<SessionRef> =
        open.iter().map(session_of).filter(|s| interrupted.contains(s) || !waiting.contains(s)).collect();
    for session in to_wake {
        sessions.wake(session).await;
    }
    Ok(open.len())
}

fn waits_for_a_person(run: &RunRecord) -> bool {
    matches!(run.phase, RunPhase::Waiting(_)) && !needs_driving(run)
}

/// A run that waits for a person does not wait for ever when another one was accepted to interrupt it.
fn waits_to_interrupt(run: &RunRecord) -> bool {
    run.state == RunLifecycleState::Pending && run.delivery == InputDelivery::Interrupt
}

fn session_of(run: &RunRecord) -> SessionRef {
    SessionRef { principal: run.principal, id: run.session }
}
