//! A session's own appends that are under way: runs accepted behind others, and resets.
//!
//! They take place in the order in which they were begun, and are answered in that order; the session goes on
//! meanwhile, so that a wish to stop never waits behind a slow disk. What an answer means for the session is
//! the actor's to say.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use futures::{FutureExt, StreamExt};
use palyra_ports::{AppendError, JournalAppendRequest, NewEntry};
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::session::SessionRef;
use palyra_types::{RunId, Seq, TapeSeq};
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::admitted::Admitted;
use crate::session::request::{Admission, Submitted};

/// Where the answer to a submit goes.
pub(super) type SubmitReply = oneshot::Sender<Result<Submitted, RequestError>>;
/// Where the answer to a reset goes.
pub(super) type ResetReply = oneshot::Sender<Result<(), RequestError>>;

/// An append that is over, with whom to tell.
pub(super) enum Appended {
    /// A run that waits for its turn.
    Run { run: RunId, result: Result<Submitted, AppendError>, reply: SubmitReply },
    /// A reset, and its place in the journal.
    Reset { result: Result<Seq, AppendError>, reply: ResetReply },
}

/// Appends under way, oldest first.
#[derive(Default)]
pub(super) struct Appends(FuturesOrdered<BoxFuture<'static, Appended>>);

impl Appends {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Resolves when the oldest is over.
    pub(super) async fn next(&mut self) -> Appended {
        match self.0.next().await {
            Some(appended) => appended,
            None => std::future::pending().await,
        }
    }

    /// Begins to accept a run that has to wait: its first entry alone.
    pub(super) fn accept(&mut self, engine: &Arc<Engine>, admitted: &Admitted, reply: SubmitReply) {
        let now = engine.ports.clock.wall();
        let spec = &admitted.spec;
        let mut entries = admitted.entries_before(now);
        entries.push(NewEntry {
            time: now,
            principal: spec.principal,
            session: Some(spec.session),
            run: Some((spec.run, TapeSeq(1))),
            event: JournalEvent::Tape(TapeEvent::RunStarted(admitted.started())),
        });
        let request =
            JournalAppendRequest { guards: admitted.guards(), entries, ..JournalAppendRequest::default() };
        let appending = engine.ports.append.append(request);
        let (run, receipt) = (spec.run, admitted.receipt(Admission::Queued));
        let over = async move { Appended::Run { run, result: appending.await.map(|_| receipt), reply } };
        self.0.push_back(over.boxed());
    }

    /// Begins to reset the session.
    pub(super) fn reset(&mut self, engine: &Arc<Engine>, session: SessionRef, reply: ResetReply) {
        let event = JournalEvent::SessionReset { session: session.id };
        let time = engine.ports.clock.wall();
        let entry =
            NewEntry { time, principal: session.principal, session: Some(session.id), run: None, event };
        let request = JournalAppendRequest { entries: vec![entry], ..JournalAppendRequest::default() };
        let appending = engine.ports.append.append(request);
        let over = async move {
            let result = appending.await.map(|committed| committed.first_seq);
            Appended::Reset { result, reply }
        };
        self.0.push_back(over.boxed());
    }
}
