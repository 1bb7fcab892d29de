//! The writer's thread: takes a group, commits it, answers, checkpoints when idle.
//!
//! Owns what a failed commit means for those who wait. Invariant: nobody is answered before the commit
//! returned, and after an I/O error other than a full disk nothing is written any more.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use palyra_ports::maintain_journal::WalShrink;
use palyra_ports::{AppendClass, AppendError, EraseError, ReadOnlyCause};

use super::checkpoint::{Checkpoints, Waiting};
use super::erasure::{self, PendingErasure};
use super::guards::{ends_run, tools_started};
use super::headroom::DiskHeadroom;
use super::log_writer::{AppendOutcomes, GroupError, LogWriter};
use super::prepare::{PreparedAppend, invalid};
use super::queue::{PendingAppend, Queue, WriterWork};
use super::rebuild::rebuild;
use crate::connection::{self, Failure, QUIET_SPAN};
use crate::counters::{WorkKinds, WriterCounters};
use crate::erase::{SpanOverwriter, WipeError};
use crate::file_places::FilePlaces;
use crate::quarantine::QuarantineMarker;
use crate::sign::{KeySource, Signer};

/// Everything the thread works with.
pub(crate) struct Writer {
    pub(crate) log: LogWriter,
    pub(crate) queue: Arc<Queue>,
    pub(crate) counters: Arc<WriterCounters>,
    pub(crate) headroom: DiskHeadroom,
    pub(crate) marker: QuarantineMarker,
    pub(crate) overwriter: SpanOverwriter,
    pub(crate) places: FilePlaces,
    /// `None` where nothing may be signed.
    pub(crate) signer: Option<Signer>,
    pub(crate) keys: KeySource,
    /// How many entries the signer knows of.
    pub(crate) told: u64,
    /// Whether a run has ended since.
    pub(crate) run_ended: bool,
}

/// Starts the thread; it ends when the queue is closed and empty.
pub(crate) fn spawn(writer: Writer) -> std::io::Result<JoinHandle<()>> {
    let ends = QueueEnds(Arc::clone(&writer.queue));
    std::thread::Builder::new().name("journal-writer".to_owned()).spawn(move || {
        let _ends = ends;
        writer.run();
    })
}

/// Ends the queue with the thread, however it ends, so that nobody waits for a writer that is gone.
struct QueueEnds(Arc<Queue>);

impl Drop for QueueEnds {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Writer {
    fn run(mut self) {
        let mut checkpoints = Checkpoints::default();
        let mut patience = Some(QUIET_SPAN);
        loop {
            let work = self.queue.take(patience);
            patience = Some(QUIET_SPAN);
            match work {
                WriterWork::Group(group) => self.serve(group),
                WriterWork::Rebuild(waiting) => {
                    let result = rebuild(&mut self.log, &self.counters, &waiting.progress);
                    drop(waiting.answer.send(result));
                }
                WriterWork::Erase(erasing) => self.erase(erasing),
                WriterWork::Sign(wish) => self.sign(wish),
                WriterWork::Shrink(answer) => drop(answer.send(self.shrink_wal())),
                WriterWork::Store => self.store_newest(),
                WriterWork::Rest => {
                    self.log.rest();
                    patience = None;
                }
                WriterWork::End => return self.finish(),
            }
            self.files_are_here(0);
            self.tell_signer();
            self.checkpoint(&mut checkpoints);
        }
    }

    fn serve(&mut self, group: Vec<PendingAppend>) {
        if self.counters.is_quarantined() {
            answer_all(group, &AppendError::Quarantined);
            return;
        }
        let group = self.admit(group);
        if group.is_empty() {
            return;
        }
        let appends: Vec<&PreparedAppend> = group.iter().map(|pending| &pending.append).collect();
        let riding = self.signer.as_ref().and_then(|signer| signer.slot().to_ride_along());
        match self.log.commit_with(&appends, riding.as_ref()) {
            // What lies in a file without a name is not durable.
            Ok(_) if !self.files_hold_commit() => answer_all(group, &AppendError::Unknown),
            Ok(outcomes) => {
                self.rode_along(riding);
                self.note_ends(&group, &outcomes);
                // First, so that who hears of the end of a run finds its head here.
                self.tell_signer();
                for (pending, outcome) in group.into_iter().zip(outcomes) {
                    drop(pending.answer.send(outcome));
                }
            }
            Err(error) => self.after_failure(group, &error),
        }
    }

    fn erase(&mut self, erasing: PendingErasure) {
        let PendingErasure { order, time, answer } = erasing;
        let result = if self.counters.is_quarantined() {
            Err(EraseError::Write(AppendError::Quarantined))
        } else {
            erasure::perform(&mut self.log, &self.overwriter, &order, time).map_err(|failed| {
                failed.broken.inspect(|error| self.quarantine(error));
                failed.error
            })
        };
        drop(answer.send(result));
    }

    /// Refuses new work while there is room for endings only.
    fn admit(&self, group: Vec<PendingAppend>) -> Vec<PendingAppend> {
        if self.headroom.admitted(&self.counters) == WorkKinds::Everything {
            return group;
        }
        let (endings, new_work) =
            group.into_iter().partition(|pending| pending.append.class == AppendClass::Ending);
        answer_all(new_work, &AppendError::DiskFull);
        endings
    }

    /// Takes note of the runs and tools that ended with a group.
    fn note_ends(&mut self, group: &[PendingAppend], outcomes: &AppendOutcomes) {
        for (pending, _) in group.iter().zip(outcomes).filter(|(_, outcome)| outcome.is_ok()) {
            self.run_ended |= ends_run(&pending.append);
            let (started, ended) = tools_started(&pending.append);
            let change = |running: u64| Some((running + started).saturating_sub(ended));
            let tools = &self.counters.tools_running;
            let _ = tools.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
        }
    }

    /// The group was rolled back. A cause that lies in one append is found by trying them one by one.
    fn after_failure(&mut self, group: Vec<PendingAppend>, error: &GroupError) {
        let alone = group.len() == 1;
        match failure_of(error) {
            None => {
                self.signer = None;
                answer_all(group, &AppendError::Fenced);
            }
            Some(Failure::Busy) => answer_all(group, &AppendError::Busy),
            Some(Failure::Constraint) if alone => {
                answer_all(group, &invalid("it contradicts what is stored"));
            }
            Some(Failure::Full) if alone => answer_all(group, &AppendError::DiskFull),
            Some(Failure::Constraint) => self.serve_one_by_one(group),
            Some(Failure::Full) => {
                let (endings, new_work): (Vec<_>, Vec<_>) =
                    group.into_iter().partition(|pending| pending.append.class == AppendClass::Ending);
                answer_all(new_work, &AppendError::DiskFull);
                self.serve_one_by_one(endings);
            }
            Some(Failure::Interrupted | Failure::Storage) => {
                self.quarantine(error);
                answer_all(group, &AppendError::Unknown);
            }
        }
    }

    fn serve_one_by_one(&mut self, group: Vec<PendingAppend>) {
        for pending in group {
            self.serve(vec![pending]);
        }
    }

    fn checkpoint(&mut self, checkpoints: &mut Checkpoints) {
        let waiting = if self.queue.is_empty() { Waiting::Nothing } else { Waiting::Appends };
        let wal_bytes = WriterCounters::get(&self.counters.wal_bytes_used);
        if self.counters.is_quarantined() || !checkpoints.is_due(wal_bytes, waiting) {
            return;
        }
        match checkpoints.run(self.log.connection(), wal_bytes) {
            Ok(WalShrink::Done) => WriterCounters::set(&self.counters.wal_bytes_used, 0),
            Ok(WalShrink::HeldUp) => {}
            Err(error) => self.quarantine(&GroupError::Store(error)),
        }
    }

    fn shrink_wal(&mut self) -> Result<WalShrink, AppendError> {
        if self.counters.is_quarantined() {
            return Err(AppendError::Quarantined);
        }
        match self.overwriter.shrink_wal(self.log.connection()) {
            Ok(()) => {
                WriterCounters::set(&self.counters.wal_bytes_used, 0);
                Ok(WalShrink::Done)
            }
            Err(WipeError::Transient(_)) => Ok(WalShrink::HeldUp),
            Err(WipeError::Broken(error)) => {
                self.quarantine(&GroupError::Store(error));
                Err(AppendError::Quarantined)
            }
        }
    }

    pub(super) fn quarantine(&mut self, error: &GroupError) {
        let what = match error {
            GroupError::Fenced => "fenced".to_owned(),
            GroupError::Store(error) => connection::describe(error),
        };
        tracing::error!(what, "the journal is read-only after an I/O error");
        self.counters.quarantine(ReadOnlyCause::IoError);
        self.signer = None;
        self.marker.set(&what);
    }
}

fn failure_of(error: &GroupError) -> Option<Failure> {
    match error {
        GroupError::Fenced => None,
        GroupError::Store(error) => Some(connection::classify(error)),
    }
}

fn answer_all(group: Vec<PendingAppend>, error: &AppendError) {
    for pending in group {
        drop(pending.answer.send(Err(error.clone())));
    }
}
