//! A journal that refuses when it is told to.
//!
//! Wraps the journal in memory; knows nothing of runs. Begin at [`FaultyJournal`].

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_ports::{
    AppendClass, AppendError, AppendRedaction, AppendTape, CommitReceipt, JournalAppendRequest, ReadError,
    ReadTape, TapePage,
};
use palyra_testkit::{Gate, MemoryJournal};
use palyra_types::attachment::{Blob, BlobRef};
use palyra_types::session::SessionRef;
use palyra_types::{RunId, Seq, TapeSeq};
use tokio::sync::watch;

/// Which appends are refused.
#[derive(Debug, Clone)]
pub(crate) enum Refusal {
    /// All of them.
    All(AppendError),
    /// Those of new work: what ends something still gets in.
    NewWork(AppendError),
    /// None of them, but the answer is that it is not known.
    AnswersInDoubt,
}

/// Appends and tape reads that can be made to fail; clones share their faults.
#[derive(Clone)]
pub(crate) struct FaultyJournal {
    inner: MemoryJournal,
    refusal: Arc<Mutex<Option<Refusal>>>,
    bad_reads: Arc<Mutex<VecDeque<ReadError>>>,
    panics: Arc<AtomicUsize>,
    late_answers: Arc<Mutex<VecDeque<Gate>>>,
    late_appends: Arc<Mutex<VecDeque<Gate>>>,
    refused: Arc<watch::Sender<usize>>,
    reads: Arc<AtomicUsize>,
    tape_reads: Arc<AtomicUsize>,
    unreadable_postures: Arc<AtomicBool>,
    redactions: Arc<Mutex<Vec<AppendRedaction>>>,
}

impl FaultyJournal {
    pub(crate) fn new(inner: MemoryJournal) -> Self {
        Self {
            inner,
            refusal: Arc::default(),
            bad_reads: Arc::default(),
            panics: Arc::default(),
            late_answers: Arc::default(),
            late_appends: Arc::default(),
            refused: Arc::new(watch::Sender::new(0)),
            reads: Arc::default(),
            tape_reads: Arc::default(),
            unreadable_postures: Arc::default(),
            redactions: Arc::default(),
        }
    }

    /// Refuses from now on.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        *lock(&self.refusal) = Some(refusal);
    }

    /// Returns what was said of the entries of each append since this was last asked.
    pub(crate) fn take_redactions(&self) -> Vec<AppendRedaction> {
        std::mem::take(&mut *lock(&self.redactions))
    }

    /// Takes everything again.
    pub(crate) fn mend(&self) {
        *lock(&self.refusal) = None;
    }

    /// Lets the next append take place and its answer wait for the test; several calls queue up.
    pub(crate) fn delay_next_answer(&self) -> Gate {
        let gate = Gate::closed();
        lock(&self.late_answers).push_back(gate.clone());
        gate
    }

    /// Lets the next append take place only when the test says so; several calls queue up.
    pub(crate) fn delay_next_append(&self) -> Gate {
        let gate = Gate::closed();
        lock(&self.late_appends).push_back(gate.clone());
        gate
    }

    /// Fails the next tape read; several calls queue up.
    pub(crate) fn fail_next_read(&self, error: ReadError) {
        lock(&self.bad_reads).push_back(error);
    }

    /// Makes the next tape read panic, as a tape does that nobody can make sense of.
    pub(crate) fn panic_at_next_read(&self) {
        self.panics.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns how many reads are still to fail.
    pub(crate) fn reads_to_fail(&self) -> usize {
        lock(&self.bad_reads).len()
    }

    /// Lets the settings of tools be unreadable, or readable again.
    pub(crate) fn postures_are_unreadable(&self, unreadable: bool) {
        self.unreadable_postures.store(unreadable, Ordering::SeqCst);
    }

    /// Returns whether the settings of tools cannot be read.
    pub(crate) fn has_unreadable_postures(&self) -> bool {
        self.unreadable_postures.load(Ordering::SeqCst)
    }

    /// Returns how often anything was read so far.
    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    /// Returns how often a tape was read so far.
    pub(crate) fn tape_reads(&self) -> usize {
        self.tape_reads.load(Ordering::SeqCst)
    }

    /// Counts a read; returns who answers it.
    pub(crate) fn counted(&self) -> &MemoryJournal {
        self.reads.fetch_add(1, Ordering::SeqCst);
        &self.inner
    }

    /// Returns how many appends were refused so far.
    pub(crate) fn refused(&self) -> usize {
        *self.refused.borrow()
    }

    /// Waits until so many appends were refused in all.
    pub(crate) async fn wait_refused(&self, count: usize) {
        self.refused.subscribe().wait_for(|refused| *refused >= count).await.unwrap();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AppendTape for FaultyJournal {
    fn append(
        &self,
        request: JournalAppendRequest,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        lock(&self.redactions).push(request.redaction.clone());
        let refused = match &*lock(&self.refusal) {
            Some(Refusal::All(error)) => Some(error.clone()),
            Some(Refusal::NewWork(error)) if request.class == AppendClass::Normal => Some(error.clone()),
            Some(Refusal::NewWork(_) | Refusal::AnswersInDoubt) | None => None,
        };
        if matches!(&*lock(&self.refusal), Some(Refusal::AnswersInDoubt)) {
            let appending = self.inner.append(request);
            return async move { appending.await.and(Err(AppendError::Unknown)) }.boxed();
        }
        match refused {
            Some(error) => {
                self.refused.send_modify(|refused| *refused += 1);
                ready(Err(error)).boxed()
            }
            None => {
                if let Some(gate) = lock(&self.late_appends).pop_front() {
                    let inner = self.inner.clone();
                    return async move {
                        gate.pass().await;
                        inner.append(request).await
                    }
                    .boxed();
                }
                // Others have their turns before the answer is there, as with a real disk.
                let appending = self.inner.append(request);
                let late = lock(&self.late_answers).pop_front();
                async move {
                    if let Some(gate) = late {
                        gate.pass().await;
                    }
                    for _ in 0..4 {
                        tokio::task::yield_now().await;
                    }
                    appending.await
                }
                .boxed()
            }
        }
    }
}

impl ReadTape for FaultyJournal {
    fn tape(
        &self,
        run: RunId,
        after: TapeSeq,
        limit: usize,
    ) -> BoxFuture<'static, Result<TapePage, ReadError>> {
        let panics = self.panics.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        assert!(panics.is_err(), "a read panics");
        self.tape_reads.fetch_add(1, Ordering::SeqCst);
        match lock(&self.bad_reads).pop_front() {
            Some(error) => ready(Err(error)).boxed(),
            None => self.counted().tape(run, after, limit),
        }
    }

    fn session_tape(
        &self,
        session: SessionRef,
        after: Option<Seq>,
        limit: usize,
    ) -> BoxFuture<'static, Result<TapePage, ReadError>> {
        self.tape_reads.fetch_add(1, Ordering::SeqCst);
        self.counted().session_tape(session, after, limit)
    }

    fn blob(&self, place: BlobRef) -> BoxFuture<'static, Result<Option<Blob>, ReadError>> {
        self.counted().blob(place)
    }
}
