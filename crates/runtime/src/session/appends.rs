//! A session's own appends that are under way: runs accepted behind others, and changes of the session.
//!
//! They take place in the order in which they were begun, and are answered in that order; the session goes on
//! meanwhile, so that a wish to stop never waits behind a slow disk. What an answer means for the session is
//! the actor's to say.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use futures::{FutureExt, StreamExt};
use palyra_ports::{AppendClass, AppendError, AttachedData, EntryActor, EntryBlobs, Guard, NewEntry};
use palyra_types::event::{JournalEvent, RunEvent, RunFinished, SessionEvent, TapeEvent};
use palyra_types::run::{IdempotencyDigest, TerminationReason};
use palyra_types::session::SessionRef;
use palyra_types::{ErrorCode, RunId, Seq, TapeSeq};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::admitted::AdmittedRun;
use crate::session::directory::{ChangeReply, SubmitReply};
use crate::session::loaded::QueuedRun;
use crate::session::request::{AdmissionKind, RecordedChange, SessionChange, SubmitReceipt};

/// An append that is over, with whom to tell.
pub(super) enum FinishedAppend {
    /// A run that waits for its turn.
    Run { key: Option<IdempotencyDigest>, result: Result<CommittedRun, AppendError>, reply: SubmitReply },
    /// A change of the session, and its place in the journal.
    Change { change: RecordedChange, result: Result<Seq, AppendError>, reply: ChangeReply },
    /// A run that nobody can work on, ended from outside.
    GivenUp { run: RunId, result: Result<(), RequestError> },
}

impl FinishedAppend {
    /// Returns the key of an input that was accepted or refused.
    pub(super) fn key(&self) -> Option<IdempotencyDigest> {
        match self {
            Self::Run { key, .. } => *key,
            Self::Change { .. } | Self::GivenUp { .. } => None,
        }
    }
}

/// A run that is in the journal, behind others.
pub(super) struct CommittedRun {
    pub(super) queued: QueuedRun,
    /// The reset that came with it.
    pub(super) reset: Option<Seq>,
    pub(super) receipt: SubmitReceipt,
}

/// Appends under way, oldest first.
#[derive(Default)]
pub(super) struct AppendQueue {
    under_way: FuturesOrdered<BoxFuture<'static, FinishedAppend>>,
    /// The keys of the inputs that are being accepted.
    keys: Vec<IdempotencyDigest>,
    /// How many of them archive the session.
    archiving: usize,
}

impl AppendQueue {
    pub(super) fn len(&self) -> usize {
        self.under_way.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Returns whether an input with this key is being accepted.
    pub(super) fn is_accepting(&self, key: IdempotencyDigest) -> bool {
        self.keys.contains(&key)
    }

    /// Returns whether the session is being archived: whatever the journal says, nothing gets in any more.
    pub(super) fn is_archiving(&self) -> bool {
        self.archiving > 0
    }

    /// Resolves when the oldest is over.
    pub(super) async fn next(&mut self) -> FinishedAppend {
        match self.under_way.next().await {
            Some(appended) => {
                if let FinishedAppend::Run { key: Some(key), .. } = &appended {
                    self.keys.retain(|other| other != key);
                }
                if let FinishedAppend::Change { change: SessionChange::Archive, .. } = &appended {
                    self.archiving -= 1;
                }
                appended
            }
            None => std::future::pending().await,
        }
    }

    /// Begins to accept a run that has to wait: its first entries, and the reset it asks for.
    pub(super) fn accept(&mut self, engine: &Arc<Engine>, admitted: AdmittedRun, reply: SubmitReply) {
        let now = engine.ports.clock.wall();
        let spec = &admitted.spec;
        let mut entries = admitted.entries_before(now);
        let before = entries.len();
        entries.extend((1..).zip(spec.first_events()).map(|(tape_seq, event)| NewEntry {
            time: now,
            principal: spec.session.principal,
            session: Some(spec.session.id),
            run: Some((spec.run, TapeSeq(tape_seq))),
            event: JournalEvent::Tape(event),
        }));
        let mut blobs = Vec::new();
        if !admitted.blobs.is_empty() {
            blobs.push(EntryBlobs { entry: before, blobs: admitted.blobs.clone() });
        }
        let guards = admitted.guards();
        let actor = admitted.actor;
        let actors = (0..entries.len()).map(|entry| EntryActor { entry, actor }).collect();
        let attached = AttachedData { actors, blobs, statics: Vec::new() };
        let recorder = &engine.ports.recorder;
        let appending = recorder.record_with(entries, AppendClass::Normal, guards, attached);
        let key = admitted.spec.started.idempotency;
        self.keys.extend(key);
        let over = async move {
            let result = appending.await.map(|committed| CommittedRun {
                queued: QueuedRun {
                    run: admitted.spec.run,
                    first_seq: Seq(committed.first_seq.0 + before as u64),
                    delivery: admitted.spec.started.delivery,
                },
                reset: admitted.resets().then_some(committed.first_seq),
                receipt: admitted.receipt(AdmissionKind::Queued),
            });
            FinishedAppend::Run { key, result, reply }
        };
        self.under_way.push_back(over.boxed());
    }

    /// Begins to record a change of the session.
    pub(super) fn change(
        &mut self,
        engine: &Arc<Engine>,
        session: SessionRef,
        change: RecordedChange,
        reply: ChangeReply,
    ) {
        let entry = change_entry(engine, session, &change);
        self.archiving += usize::from(matches!(change, SessionChange::Archive));
        let appending = engine.ports.recorder.record(vec![entry], AppendClass::Normal, Vec::new());
        let over = async move {
            let result = appending.await.map(|committed| committed.first_seq);
            FinishedAppend::Change { change, result, reply }
        };
        self.under_way.push_back(over.boxed());
    }

    /// Begins to end a run that nobody can work on.
    pub(super) fn give_up(&mut self, engine: &Arc<Engine>, session: SessionRef, run: RunId) {
        let engine = Arc::clone(engine);
        let over = async move {
            let result = end_without_replay(&engine, session, run).await;
            FinishedAppend::GivenUp { run, result }
        };
        self.under_way.push_back(over.boxed());
    }
}

/// Told to the person when a run was given up.
const GIVEN_UP_MESSAGE: &str =
    "the daemon broke an invariant while working on this run, twice; this is a bug";

/// Records the end of a run without replaying it; what was under way stays without an outcome.
async fn end_without_replay(engine: &Engine, session: SessionRef, run: RunId) -> Result<(), RequestError> {
    let record = engine.ports.run(run).await?.ok_or(RequestError::RunNotFound)?;
    if record.state.is_terminal() {
        return Ok(());
    }
    let reason = TerminationReason::InternalError;
    let event = TapeEvent::Run(RunEvent::Finished(RunFinished {
        state: reason.state(),
        reason,
        error: Some(ErrorCode::Internal),
        turns: record.turns,
        tool_calls: record.tool_calls,
        usage: record.usage,
        active_time: Duration::ZERO,
        message: GIVEN_UP_MESSAGE.into(),
    }));
    let entry = NewEntry {
        time: engine.ports.clock.wall(),
        principal: session.principal,
        session: Some(session.id),
        run: Some((run, record.last_tape_seq.next())),
        event: JournalEvent::Tape(event),
    };
    let guards = vec![Guard::RunAt { run, tape_seq: record.last_tape_seq }];
    engine.ports.recorder.record(vec![entry], AppendClass::Ending, guards).await?;
    Ok(())
}

fn change_entry(engine: &Engine, session: SessionRef, change: &RecordedChange) -> NewEntry {
    let event = match change {
        SessionChange::Rename(label) => {
            JournalEvent::Session(SessionEvent::Renamed { session: session.id, label: label.clone() })
        }
        SessionChange::Reset => JournalEvent::Session(SessionEvent::Reset { session: session.id }),
        SessionChange::Archive => JournalEvent::Session(SessionEvent::Archived { session: session.id }),
        SessionChange::Restore => JournalEvent::Session(SessionEvent::Restored { session: session.id }),
        SessionChange::SetRecall(recall) => {
            JournalEvent::Session(SessionEvent::RecallSet { session: session.id, recall: *recall })
        }
    };
    let time = engine.ports.clock.wall();
    NewEntry { time, principal: session.principal, session: Some(session.id), run: None, event }
}
