//! Reading and following tapes on behalf of callers: pages from the journal, then live entries.
//!
//! Invariant: nothing is shown that is not committed; each follower sees every entry after its number once,
//! in order. A follower that is slow reads from the journal again; it never delays a run. Knows neither how runs work nor
//! who publishes. Begin at [`TapeHandle::follow`].

mod error;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::healing::RunBoard;
use palyra_admin::{Caller, ErasureSubscriber};
use palyra_journal_core::families::{runs, sessions};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_ports::{AppendError, ReadTape, TapePage};
use palyra_types::attachment::{Attachment, AttachmentBody, Blob, BlobRef};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::run::{RunLifecycleState, RunRecord};
use palyra_types::session::SessionRef;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{PrincipalId, RunId, Seq, TapeSeq};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

pub use error::TapeError;

/// Live entries kept for a follower before it has to read from the journal.
const LIVE_ENTRIES_MAX: usize = 256;

type SharedEntry = Arc<OrchestratorTapeRecord>;

/// Where run actors publish committed entries.
#[derive(Clone, Default)]
pub struct TapeHub {
    live: Arc<Mutex<BTreeMap<RunId, broadcast::Sender<SharedEntry>>>>,
    closed: Arc<TapeClosure>,
    /// How far runs are beside their tapes.
    pub(crate) board: RunBoard,
    /// Counts commits after which something else may wait for a person.
    attention: Arc<watch::Sender<u64>>,
}

/// Why no entry will come any more, on any tape. Tells followers in the order in which they came, which a watch
/// channel does not.
#[derive(Default)]
struct TapeClosure {
    why: OnceLock<AppendError>,
    said: CancellationToken,
}

impl TapeClosure {
    /// Returns once it is so.
    async fn wait(&self) -> AppendError {
        self.said.cancelled().await;
        self.why.get().cloned().unwrap_or(AppendError::Closed)
    }
}

impl ErasureSubscriber for TapeHub {
    /// Sends every follower back to the journal, where content may have been erased.
    fn forget_erased(&self) -> BoxFuture<'_, ()> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).clear();
        std::future::ready(()).boxed()
    }
}

impl TapeHub {
    /// Shows committed entries to the followers of the run.
    pub fn publish(&self, run: RunId, entries: Vec<OrchestratorTapeRecord>) {
        if entries.iter().any(|entry| entry.event.may_end_or_begin_a_wait()) {
            self.attention_changed();
        }
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = live.get(&run) {
            for entry in entries {
                // Fails only when the last follower just left.
                let _ = sender.send(Arc::new(entry));
            }
        }
    }

    /// Sends the followers of the run back to the journal, which may hold what was never published.
    pub fn invalidate(&self, run: RunId) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.remove(&run);
        self.attention_changed();
    }

    /// Returns whether a client follows the tape of a run.
    pub(crate) fn is_followed(&self, run: RunId) -> bool {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(&run).is_some_and(|sender| sender.receiver_count() > 0)
    }

    /// Says that something else may wait for a person.
    pub fn attention_changed(&self) {
        self.attention.send_modify(|commits| *commits += 1);
    }

    /// Tells all followers, now and later, when the journal takes no entry of ours any more.
    pub fn close_on_fatal(&self, error: &AppendError) {
        let for_good = matches!(error, AppendError::Quarantined | AppendError::Fenced | AppendError::Closed);
        if for_good && self.closed.why.set(error.clone()).is_ok() {
            self.closed.said.cancel();
        }
    }

    fn subscribe(&self, run: RunId) -> broadcast::Receiver<SharedEntry> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.entry(run).or_insert_with(|| broadcast::channel(LIVE_ENTRIES_MAX).0).subscribe()
    }

    /// Takes a follower's end back; the last one takes the channel with it.
    fn leave(&self, run: RunId, receiver: broadcast::Receiver<SharedEntry>) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        // Dropped under the lock, so that of two that leave at once one is the last.
        drop(receiver);
        if live.get(&run).is_some_and(|sender| sender.receiver_count() == 0) {
            live.remove(&run);
        }
    }
}

/// Reads and follows tapes on behalf of callers.
#[derive(Clone)]
pub struct TapeHandle {
    reader: Arc<dyn ReadTape>,
    families: Arc<dyn ReadFamilies>,
    hub: TapeHub,
}

impl TapeHandle {
    /// Reads from these; live entries are those that `hub` publishes.
    #[must_use]
    pub fn new(reader: Arc<dyn ReadTape>, families: Arc<dyn ReadFamilies>, hub: TapeHub) -> Self {
        Self { reader, families, hub }
    }

    /// Returns a run of a principal; another's is reported like one that does not exist.
    async fn run_of(&self, principal: PrincipalId, run: RunId) -> Result<RunRecord, TapeError> {
        let record = self.families.query(move |rows, _| runs::record(rows, run)).await?;
        record.filter(|record| record.principal == principal).ok_or(TapeError::RunNotFound)
    }

    /// Changes whenever something else may wait for a person, of any principal.
    #[must_use]
    pub fn attention_changes(&self) -> watch::Receiver<u64> {
        self.hub.attention.subscribe()
    }

    /// Follows a run from the entry after `after` to its last.
    ///
    /// # Errors
    /// [`TapeError::RunNotFound`], also for another principal's run; [`TapeError::AttachOutOfRange`] when
    /// the tape has not reached `after`.
    pub async fn follow(
        &self,
        caller: Caller,
        run: RunId,
        after: TapeSeq,
    ) -> Result<TapeFollower, TapeError> {
        // Subscribed before the look at the journal, so that nothing falls between the two.
        let mut follower = TapeFollower::new(Arc::clone(&self.reader), self.hub.clone(), run);
        (follower.last, follower.stage) = (after, FollowStage::CatchingUp);
        let record = self.run_of(caller.actor.principal, run).await?;
        if after > record.last_tape_seq {
            return Err(TapeError::AttachOutOfRange { last: record.last_tape_seq.0 });
        }
        follower.catching_up_to = Some(record.last_tape_seq);
        follower.ended_as = Some(record.state).filter(|state| state.is_terminal());
        Ok(follower)
    }

    /// Returns a page of a run's tape.
    ///
    /// # Errors
    /// [`TapeError::RunNotFound`], also for another principal's run.
    pub async fn page(
        &self,
        caller: Caller,
        run: RunId,
        after: TapeSeq,
        limit: usize,
    ) -> Result<TapePage, TapeError> {
        self.run_of(caller.actor.principal, run).await?;
        Ok(self.reader.tape(run, after, limit.min(MAX_TAPE_ENTRIES_PER_RESPONSE)).await?)
    }

    /// Returns a file that came with an input, and its bytes.
    ///
    /// # Errors
    /// [`TapeError::RunNotFound`], also for another principal's run; [`TapeError::InvalidArgument`] when no
    /// such file came with that entry, or its content was erased.
    pub async fn attachment(
        &self,
        caller: Caller,
        run: RunId,
        tape_seq: TapeSeq,
        index: u32,
    ) -> Result<(Attachment, Blob), TapeError> {
        let before = TapeSeq(tape_seq.0.saturating_sub(1));
        let page = self.page(caller, run, before, 1).await?;
        let entry = page.entries.into_iter().find(|entry| entry.tape_seq == tape_seq);
        let input = entry.and_then(|entry| {
            if let TapeEvent::Run(RunEvent::Started(started)) = entry.event {
                Some(started.input)
            } else if let TapeEvent::Run(RunEvent::InputReceived { input, .. }) = entry.event {
                Some(input)
            } else {
                None
            }
        });
        let files = input.map(|input| input.attachments).unwrap_or_default();
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(attachment) = files.into_iter().nth(place) else {
            let what = "no such file came with that entry, or its content was erased".to_owned();
            return Err(TapeError::InvalidArgument { what });
        };
        let content = match &attachment.body {
            AttachmentBody::Text(text) => text.clone().map(|text| Arc::from(text.into_bytes())),
            AttachmentBody::Blob { index } => {
                let read = self.reader.blob(BlobRef { run, tape_seq, index: *index }).await?;
                let what = "the content of that file was erased".to_owned();
                read.ok_or(TapeError::InvalidArgument { what })?
            }
        };
        Ok((attachment, content))
    }

    /// Returns a page of a session's entries in the journal's order.
    ///
    /// # Errors
    /// [`TapeError::SessionNotFound`], also for another principal's session.
    pub async fn session_page(
        &self,
        caller: Caller,
        session: palyra_types::SessionId,
        after: Option<Seq>,
        limit: usize,
    ) -> Result<TapePage, TapeError> {
        let session = SessionRef { principal: caller.actor.principal, id: session };
        let found = self.families.query(move |rows, _| sessions::record(rows, session)).await?;
        found.ok_or(TapeError::SessionNotFound)?;
        Ok(self.reader.session_tape(session, after, limit.min(MAX_TAPE_ENTRIES_PER_RESPONSE)).await?)
    }
}

/// What a follower sees next.
#[derive(Debug, Clone)]
pub enum TapeFollowEvent {
    /// An entry: each once, in order.
    Entry(SharedEntry),
    /// All entries that existed when following began were given; the number of the last.
    CaughtUp(TapeSeq),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowStage {
    /// What there was when following began is read.
    CatchingUp,
    /// Something was missed: everything there is is read.
    FallenBehind,
    Live,
    Ended,
}

/// One follower of one run. Dropping it ends the following, never the run.
pub struct TapeFollower {
    reader: Arc<dyn ReadTape>,
    hub: TapeHub,
    run: RunId,
    last: TapeSeq,
    /// Number up to which entries are given before it hears that it caught up; `None` once it has heard it.
    catching_up_to: Option<TapeSeq>,
    /// The run's state, once it is over.
    ended_as: Option<RunLifecycleState>,
    /// `None` only while it is dropped.
    live: Option<broadcast::Receiver<SharedEntry>>,
    closed: Arc<TapeClosure>,
    ready: VecDeque<SharedEntry>,
    stage: FollowStage,
}

impl TapeFollower {
    /// Follows a run that does not exist yet; nothing is read as long as nothing is missed.
    #[must_use]
    pub fn new(reader: Arc<dyn ReadTape>, hub: TapeHub, run: RunId) -> Self {
        Self {
            reader,
            live: Some(hub.subscribe(run)),
            closed: Arc::clone(&hub.closed),
            hub,
            run,
            last: TapeSeq::default(),
            catching_up_to: None,
            ended_as: None,
            ready: VecDeque::new(),
            stage: FollowStage::Live,
        }
    }

    /// Says with which entry the run began: the last one of its first commit.
    #[must_use]
    pub fn begun(mut self, upto: TapeSeq) -> Self {
        self.catching_up_to = Some(upto);
        self
    }

    /// Returns the number of the last entry given.
    #[must_use]
    pub fn last(&self) -> TapeSeq {
        self.last
    }

    /// Returns how the run ended, once its last entry was given or if it was over before.
    #[must_use]
    pub fn ended_as(&self) -> Option<RunLifecycleState> {
        self.ended_as
    }

    /// Returns what comes next; `None` after the run's last entry. Cancel-safe.
    ///
    /// # Errors
    /// [`TapeError::Read`] when the journal cannot be read; the follower may be asked again.
    /// [`TapeError::Append`] when every committed entry was given and no other will come before the next start.
    pub async fn next(&mut self) -> Result<Option<TapeFollowEvent>, TapeError> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                self.last = entry.tape_seq;
                if let TapeEvent::Run(RunEvent::Finished(finished)) = &entry.event {
                    self.ended_as = Some(finished.state);
                    if self.catching_up_to.is_none() {
                        self.stage = FollowStage::Ended;
                    }
                }
                return Ok(Some(TapeFollowEvent::Entry(entry)));
            }
            if self.catching_up_to.take_if(|upto| self.last >= *upto).is_some() {
                self.stage = match self.stage {
                    _ if self.ended_as.is_some() => FollowStage::Ended,
                    // Subscribed before the first look, so whatever came since is on its way.
                    FollowStage::CatchingUp => FollowStage::Live,
                    stage @ (FollowStage::FallenBehind | FollowStage::Live | FollowStage::Ended) => stage,
                };
                return Ok(Some(TapeFollowEvent::CaughtUp(self.last)));
            }
            match self.stage {
                FollowStage::Ended => return Ok(None),
                FollowStage::CatchingUp | FollowStage::FallenBehind => self.read_page().await?,
                FollowStage::Live => self.receive().await?,
            }
        }
    }

    async fn read_page(&mut self) -> Result<(), TapeError> {
        let page = self.reader.tape(self.run, self.last, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
        if page.entries.is_empty()
            && self.stage == FollowStage::FallenBehind
            && page.more == MoreEntries::None
        {
            self.stage = FollowStage::Live;
        }
        self.ready.extend(page.entries.into_iter().map(Arc::new));
        Ok(())
    }

    async fn receive(&mut self) -> Result<(), TapeError> {
        let live = self.live.get_or_insert_with(|| self.hub.subscribe(self.run));
        let received = tokio::select! {
            biased;
            received = live.recv() => received,
            error = self.closed.wait() => return Err(error.into()),
        };
        match received {
            Ok(entry) if entry.tape_seq <= self.last => {}
            Ok(entry) if entry.tape_seq == self.last.next() => self.ready.push_back(entry),
            // A gap, a lag, or a closed channel: the journal knows better.
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => self.stage = FollowStage::FallenBehind,
            Err(broadcast::error::RecvError::Closed) => {
                self.live = Some(self.hub.subscribe(self.run));
                self.stage = FollowStage::FallenBehind;
            }
        }
        Ok(())
    }
}

impl Drop for TapeFollower {
    fn drop(&mut self) {
        if let Some(live) = self.live.take() {
            self.hub.leave(self.run, live);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_followers_that_leave_at_once_the_last_takes_the_channel_with_it() {
        let hub = TapeHub::default();
        let run = RunId::from_parts(1, 1);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let receiver = hub.subscribe(run);
                        hub.leave(run, receiver);
                    }
                });
            }
        });
        assert!(hub.live.lock().unwrap().is_empty());
    }
}
