//! One follower of one run.

use std::collections::VecDeque;
use std::sync::Arc;

use palyra_ports::ReadTape;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::run::RunLifecycleState;
use palyra_types::{RunId, TapeSeq};
use tokio::sync::broadcast;

use crate::error::TapeError;
use crate::hub::{SharedEntry, TapeClosure, TapeHub};

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

    /// Reads the entries after `after`, up to `upto`, before live ones are given; `ended_as` is how the run is over.
    pub(crate) fn catching_up(
        mut self,
        after: TapeSeq,
        upto: TapeSeq,
        ended_as: Option<RunLifecycleState>,
    ) -> Self {
        self.last = after;
        self.stage = FollowStage::CatchingUp;
        self.catching_up_to = Some(upto);
        self.ended_as = ended_as;
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
