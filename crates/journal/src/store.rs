//! The journal as the rest of the house sees it: a cheap handle that makes the journal's ports.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use palyra_journal_core::family::{ReadFamilies, SnapshotQuery};
use palyra_ports::maintain_journal::{
    JournalStatus, MaintainJournal, ProgressCallback, RebuildError, VerifyReport, WalShrink,
};
use palyra_ports::{
    AppendError, AppendTape, Clock, CommitReceipt, Entropy, JournalAppendRequest, ReadError, ReadTape,
    TapePage,
};
use palyra_types::attachment::{Blob, BlobRef};
use palyra_types::session::SessionRef;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{Epoch, LogId, RunId, Seq, TapeSeq};

use crate::connection::{DATABASE_FILE_NAME, wal_path};
use crate::counters::WriterCounters;
use crate::erase::SpanOverwriter;
use crate::fault::ReadFault;
use crate::file_places::FilePlaces;
use crate::quarantine::QuarantineMarker;
use crate::read;
use crate::seal::{PayloadSealer, PayloadSealing, SealError};
use crate::sign::{self, Anchor, KeySource, SharedHeads, Signer};
use crate::start::{self, OpenError, OpenOptions, SigningStart};
use crate::verify::{VerifyScope, verify};
use crate::write::{self, DiskHeadroom, PendingAppend, PendingRebuild, Queue, Writer};

mod checking;
mod erasure;
mod proofs;

/// The durable store. Cloning shares it; the last clone to go ends its threads after what is queued is written.
#[derive(Clone)]
pub struct JournalStore {
    inner: Arc<StoreShared>,
}

struct StoreShared {
    database: PathBuf,
    log_id: LogId,
    entropy: Arc<dyn Entropy>,
    /// `None` where nothing may be signed.
    slot: Option<Arc<SharedHeads>>,
    queue: Arc<Queue>,
    writer: Mutex<Option<JoinHandle<()>>>,
    readers: read::ReaderPool,
    counters: Arc<WriterCounters>,
    headroom: DiskHeadroom,
    marker: QuarantineMarker,
    verifying: AtomicBool,
    checking: checking::IntegrityCheck,
    clock: Arc<dyn Clock>,
    /// The last to go, after every connection: see [`SpanOverwriter`].
    _file: Arc<File>,
}

impl JournalStore {
    /// Opens the journal below the state directory and begins a new epoch. Blocks; the caller holds the lock.
    ///
    /// # Errors
    /// See [`OpenError`]; nothing is lost in any case.
    pub fn open(options: &OpenOptions) -> Result<Self, OpenError> {
        // Without its keys a sealed journal only looks damaged.
        let keys = |error: SealError| OpenError::Keys { what: error.to_string() };
        let database = options.state_dir.join(DATABASE_FILE_NAME);
        PayloadSealer::open(&database, PayloadSealing::Off, &options.entropy).map_err(keys)?;
        let mut opened = start::open(options)?;
        let headroom = DiskHeadroom::new(options.free_space());
        let queue = Arc::new(Queue::default());
        let sealer =
            PayloadSealer::open(&opened.database, options.sealing, &options.entropy).map_err(keys)?;
        opened.log.seal_with(sealer);
        let overwriter = SpanOverwriter::new(&opened.database)
            .map_err(|cause| OpenError::StateDir { doing: "opening journal.db", cause })?;
        if !opened.counters.is_quarantined() {
            write::finish_erasure(&mut opened.log, &overwriter);
        }
        let places = FilePlaces::of(&opened.database)
            .map_err(|cause| OpenError::StateDir { doing: "looking at the journal's files", cause })?;
        let file = overwriter.file();
        let readers = read::ReaderPool::start(&opened.database)?;
        let (slot, signer) = start_signer(options, &queue, opened.log_id, opened.signing)?.unzip();
        let writer = Writer {
            told: opened.log.size(),
            run_ended: false,
            signer,
            keys: KeySource {
                state_dir: options.state_dir.clone(),
                clock: Arc::clone(&options.clock),
                entropy: Arc::clone(&options.entropy),
            },
            log: opened.log,
            queue: Arc::clone(&queue),
            counters: Arc::clone(&opened.counters),
            headroom: headroom.clone(),
            marker: opened.marker.clone(),
            overwriter,
            places,
        };
        let writer = write::spawn(writer)
            .map_err(|cause| OpenError::StateDir { doing: "starting the writer's thread", cause })?;
        Ok(Self {
            inner: Arc::new(StoreShared {
                database: opened.database,
                log_id: opened.log_id,
                slot,
                entropy: Arc::clone(&options.entropy),
                queue,
                writer: Mutex::new(Some(writer)),
                readers,
                counters: opened.counters,
                headroom,
                marker: opened.marker,
                verifying: AtomicBool::new(false),
                checking: checking::IntegrityCheck::default(),
                clock: Arc::clone(&options.clock),
                _file: file,
            }),
        })
    }

    /// Refuses new appends, and resolves when everything queued is written and the writer has ended.
    pub fn close(&self) -> BoxFuture<'static, ()> {
        self.inner.queue.close();
        let writer = self.inner.take_writer();
        let (ended, end) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        let joined = writer.map(|writer| {
            std::thread::spawn(move || {
                inner.checking.end();
                drop(inner);
                drop(writer.join());
                let _ = ended.send(());
            })
        });
        Box::pin(async move {
            if joined.is_some() {
                let _ = end.await;
            }
        })
    }

    /// Checks every entry beside the service, with pauses; [`JournalStatus::integrity`] tells what was found.
    pub fn verify_in_background(&self) {
        self.inner.checking.begin(self.inner.database.clone());
    }

    /// Lets the writer look whether the journal's files are still in their place; for whoever watches their folder.
    pub fn look_at_files(&self) {
        self.inner.queue.push_store();
    }

    /// Returns the log's id.
    #[must_use]
    pub fn log_id(&self) -> LogId {
        self.inner.log_id
    }

    /// Returns the number of the epoch that is being written: it rises with each start and each change of keys.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        Epoch(u32::try_from(WriterCounters::get(&self.inner.counters.epoch)).unwrap_or(u32::MAX))
    }

    fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&rusqlite::Connection) -> Result<T, ReadFault> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ReadError>> {
        let marker = self.inner.marker.clone();
        let note = self.inner.checking.damage_notes();
        self.inner.readers.read(move |connection| {
            query(connection).inspect_err(|fault| {
                mark(&marker, fault);
                note(connection, fault);
            })
        })
    }
}

/// Starts the thread that signs, where a key is in use.
fn start_signer(
    options: &OpenOptions,
    queue: &Arc<Queue>,
    log_id: LogId,
    signing: Option<SigningStart>,
) -> Result<Option<(Arc<SharedHeads>, Signer)>, OpenError> {
    let Some(SigningStart { key, first }) = signing else { return Ok(None) };
    let slot = Arc::new(SharedHeads::new(log_id, Arc::clone(&options.clock), key, first));
    let anchor = options.anchor_dir.as_deref().map(|folder| Anchor::of(folder, log_id));
    let queue = Arc::clone(queue);
    let signer = sign::spawn(Arc::clone(&slot), Box::new(move || queue.push_store()), anchor)
        .map_err(|cause| OpenError::StateDir { doing: "starting the signer's thread", cause })?;
    Ok(Some((slot, signer)))
}

/// What is only derived can be made anew by the next start.
fn mark(marker: &QuarantineMarker, fault: &ReadFault) {
    if fault.is_damage() {
        marker.ask_for_repair();
    }
}

impl std::fmt::Debug for JournalStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JournalStore").field("log_id", &self.inner.log_id).finish_non_exhaustive()
    }
}

impl StoreShared {
    fn take_writer(&self) -> Option<JoinHandle<()>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for StoreShared {
    fn drop(&mut self) {
        self.checking.end();
        self.queue.close();
        if let Some(writer) = self.take_writer() {
            drop(writer.join());
        }
    }
}

/// The only verification at a time; the next may begin when it is dropped.
struct VerifyTurn(Arc<StoreShared>);

impl Drop for VerifyTurn {
    fn drop(&mut self) {
        self.0.verifying.store(false, Ordering::Release);
    }
}

impl AppendTape for JournalStore {
    fn append(
        &self,
        request: JournalAppendRequest,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        let (answer, answered) = oneshot::channel();
        let taken = write::prepare(request, &*self.inner.entropy).and_then(|append| {
            self.inner.queue.push(PendingAppend { append, answer }).map_err(AppendError::from)
        });
        Box::pin(async move {
            taken?;
            // The writer drops a question only if it died over it: nobody knows what is on the disk.
            answered.await.unwrap_or(Err(AppendError::Unknown))
        })
    }
}

impl ReadTape for JournalStore {
    fn tape(
        &self,
        run: RunId,
        after: TapeSeq,
        limit: usize,
    ) -> BoxFuture<'static, Result<TapePage, ReadError>> {
        self.read(move |connection| read::tape(connection, run, after, limit))
    }

    fn session_tape(
        &self,
        session: SessionRef,
        after: Option<Seq>,
        limit: usize,
    ) -> BoxFuture<'static, Result<TapePage, ReadError>> {
        self.read(move |connection| read::session_tape(connection, session, after, limit))
    }

    fn blob(&self, place: BlobRef) -> BoxFuture<'static, Result<Option<Blob>, ReadError>> {
        self.read(move |connection| read::blob(connection, place))
    }
}

impl ReadFamilies for JournalStore {
    fn run_query(&self, query: SnapshotQuery) -> BoxFuture<'static, Result<(), ReadError>> {
        self.read(move |connection| read::run_query(connection, query))
    }
}

impl MaintainJournal for JournalStore {
    fn status(&self) -> JournalStatus {
        let inner = &self.inner;
        let counters = &inner.counters;
        let size = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |found| found.len());
        JournalStatus {
            log_id: inner.log_id,
            epoch: self.epoch(),
            health: counters.health(inner.headroom.admitted(counters)),
            cause: counters.read_only_cause(),
            integrity: inner.checking.integrity(),
            entries: WriterCounters::get(&counters.entries),
            commits: WriterCounters::get(&counters.commits),
            rows: WriterCounters::get(&counters.rows),
            bytes: WriterCounters::get(&counters.bytes),
            database_bytes: size(&inner.database),
            wal_bytes: size(&wal_path(&inner.database)),
        }
    }

    fn verify(&self, progress: ProgressCallback) -> BoxFuture<'static, Result<VerifyReport, ReadError>> {
        let inner = Arc::clone(&self.inner);
        if inner.verifying.swap(true, Ordering::AcqRel) {
            return Box::pin(async { Err(ReadError::Busy) });
        }
        let turn = VerifyTurn(inner);
        self.look(move |connection| {
            let report = verify(connection, VerifyScope::Everything, &progress);
            report.inspect(|report| turn.0.checking.found(report, connection))
        })
    }

    fn rebuild(&self, progress: ProgressCallback) -> BoxFuture<'static, Result<u64, RebuildError>> {
        let (answer, answered) = oneshot::channel();
        let taken = self.inner.queue.push_rebuild(PendingRebuild { progress, answer });
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            taken.map_err(AppendError::from)?;
            let rebuilt = answered.await.unwrap_or(Err(AppendError::Unknown.into()));
            rebuilt.inspect(|_| inner.checking.rebuilt())
        })
    }

    fn shrink_wal(&self) -> BoxFuture<'static, Result<WalShrink, AppendError>> {
        let (answer, answered) = oneshot::channel();
        let taken = self.inner.queue.push_shrink(answer);
        Box::pin(async move {
            taken?;
            answered.await.unwrap_or(Err(AppendError::Closed))
        })
    }

    fn entries(
        &self,
        from: Seq,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<JournalEventRecord>, ReadError>> {
        self.read(move |connection| read::entries(connection, from, limit))
    }
}
