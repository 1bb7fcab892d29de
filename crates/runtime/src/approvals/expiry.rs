//! Ends approvals whose time is over: one timer for the earliest of them, and nobody polls.
//!
//! Owns the next batch and no more. Time is the wall clock's, for it has to mean the same after a restart; a wall clock
//! that stands before the newest entry of the journal ends nothing. Begin at [`run`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::read_approvals::ExpiringApproval;
use palyra_run_core::RunInput;
use palyra_types::ApprovalId;
use palyra_types::session::SessionRef;

use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::SessionsHandle;

/// Approvals known ahead of their time.
const BATCH_MAX: usize = 64;
/// Runs woken at once.
const WOKEN_MAX: usize = 8;
/// Approvals that could not be ended and are tried again later, at most.
const STUCK_MAX: usize = 1_024;
/// The longest sleep: a wall clock that was set forward is noticed by then.
const SLEEP_SPAN_MAX: Duration = Duration::from_secs(60 * 60);
/// The first pause after something failed; each further one is twice as long.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(250);
/// The longest such pause.
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(30);

/// What one look brought.
enum Looked {
    /// Some are ended.
    Ended,
    /// Some could not be ended, or nothing could be read.
    Failed,
    /// Nothing is due for so long.
    Sleep(Duration),
    /// Nothing will be due unless something is asked.
    Nothing,
}

/// Ends what is due, now and later, until the daemon drains.
pub(crate) async fn run(engine: Arc<Engine>, sessions: SessionsHandle) {
    let mut stuck = BTreeSet::new();
    let mut pause = RETRY_PAUSE_MIN;
    while !engine.drain.has_begun() {
        let span = match look(&engine, &sessions, &mut stuck).await {
            Looked::Ended => {
                pause = RETRY_PAUSE_MIN;
                continue;
            }
            Looked::Nothing if stuck.is_empty() => None,
            Looked::Sleep(span) if stuck.is_empty() => Some(span),
            Looked::Sleep(_) | Looked::Nothing | Looked::Failed => {
                pause = (pause * 2).min(RETRY_PAUSE_MAX);
                // Those that could not be ended are tried again.
                stuck.clear();
                Some(pause)
            }
        };
        let clock = &engine.ports.clock;
        let asleep = async {
            match span {
                Some(span) => clock.sleep_until(clock.boot().after(span)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = engine.drain.begun() => return,
            () = engine.asking.sooner() => {}
            () = asleep => {}
        }
    }
}

async fn look(engine: &Engine, sessions: &SessionsHandle, stuck: &mut BTreeSet<ApprovalId>) -> Looked {
    if engine.ports.maintain.status().health == JournalHealth::Quarantined {
        return Looked::Nothing;
    }
    // Before it is read: what is asked meanwhile wakes.
    engine.asking.set_timer(None);
    let mut next = match engine.ports.approvals.next_to_expire(BATCH_MAX + stuck.len()).await {
        Ok(next) => next,
        Err(error) => {
            tracing::error!(%error, "open approvals could not be read");
            return Looked::Failed;
        }
    };
    next.retain(|expiring| !stuck.contains(&expiring.approval));
    let now = engine.ports.clock.wall();
    let Some(earliest) = next.first().map(|expiring| expiring.expires) else {
        return Looked::Nothing;
    };
    if earliest > now || now < engine.newest_entry() {
        engine.asking.set_timer(Some(earliest));
        return Looked::Sleep(earliest.since(now).max(engine.newest_entry().since(now)).min(SLEEP_SPAN_MAX));
    }
    let due = next.into_iter().filter(|expiring| expiring.expires <= now);
    let ended = futures::stream::iter(due)
        .map(|expiring| async move { (expiring.approval, end(engine, sessions, expiring).await) });
    let ended: Vec<_> = ended.buffer_unordered(WOKEN_MAX).collect().await;
    let mut looked = Looked::Ended;
    for (approval, result) in ended {
        if let Err(error) = result {
            tracing::warn!(%approval, %error, "an approval could not be ended in time");
            looked = Looked::Failed;
        }
        // Whatever came of it: one that still waits afterwards is not tried again at once.
        if stuck.len() < STUCK_MAX {
            stuck.insert(approval);
        }
    }
    if matches!(looked, Looked::Ended) {
        still_waiting(engine, stuck).await;
    }
    looked
}

/// Keeps those that wait although they were ended: a row behind its tape, which only time can mend.
async fn still_waiting(engine: &Engine, stuck: &mut BTreeSet<ApprovalId>) {
    match engine.ports.approvals.next_to_expire(BATCH_MAX + stuck.len()).await {
        Ok(next) => stuck.retain(|approval| next.iter().any(|expiring| expiring.approval == *approval)),
        Err(error) => tracing::error!(%error, "open approvals could not be read"),
    }
}

async fn end(
    engine: &Engine,
    sessions: &SessionsHandle,
    expiring: ExpiringApproval,
) -> Result<(), RequestError> {
    let record = engine.ports.records.run(expiring.run).await?.ok_or(RequestError::RunNotFound)?;
    let session = SessionRef { principal: record.principal, id: record.session };
    let input = RunInput::ApprovalExpired { approval: expiring.approval };
    match sessions.deliver(session, record.run, input, Vec::new()).await {
        // Somebody answered, or the run ended, in the same moment.
        Ok(_) | Err(RequestError::ApprovalDecided { .. } | RequestError::RunFinished) => Ok(()),
        Err(error) => Err(error),
    }
}
