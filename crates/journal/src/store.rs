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
    JournalStatus, MaintainJournal, ProgressCallback, RebuildError, VerifyReport,
};
use palyra_ports::{
    AppendError, AppendTape, Clock, CommitReceipt, Entropy, JournalAppendRequest, ReadError, ReadTape,
    TapePage,
};
use palyra_types::attachment::{Blob, BlobRef};
use palyra_types::session::SessionRef;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{Epoch, LogId, RunId, Seq, TapeSeq};

use crate::connection::{Access, DATABASE_FILE_NAME, connect, wal_path};
use crate::counters::Counters;
use crate::erase::Overwriter;
use crate::fault::ReadFault;
use crate::file_places::FilePlaces;
use crate::quarantine::QuarantineMarker;
use crate::read;
use crate::seal::{SealError, Sealer, Sealing};
use crate::sign::{self, Anchor, KeySource, SharedHeads, Signer};
use crate::start::{self, OpenError, OpenOptions, Signing};
use crate::verify::{Scope, verify};
use crate::write::{self, Headroom, Pending, PendingRebuild, Queue, Refused, Writer};

mod checking;
mod erasure;
mod proofs;

/// The durable store. Cloning shares it; the last clone to go ends its threads after what is queued is written.
#[derive(Clone)]
pub struct JournalStore {
    inner: Arc<Inner>,
}

struct Inner {
    database: PathBuf,
    log_id: LogId,
    entropy: Arc<dyn Entropy>,
    /// `None` where nothing may be signed.
    slot: Option<Arc<SharedHeads>>,
    queue: Arc<Queue>,
    writer: Mutex<Option<JoinHandle<()>>>,
    readers: read::ReaderPool,
    counters: Arc<Counters>,
    headroom: Headroom,
    marker: QuarantineMarker,
    verifying: AtomicBool,
    checking: checking::Checking,
    clock: Arc<dyn Clock>,
    /// The last to go, after every connection: see [`Overwriter`].
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
        Sealer::open(&database, Sealing::Off, &options.entropy).map_err(keys)?;
        let mut opened = start::open(options)?;
        let headroom = Headroom::new(options.free_space());
        let queue = Arc::new(Queue::default());
        let sealer = Sealer::open(&opened.database, options.sealing, &options.entropy).map_err(keys)?;
        opened.log.seal_with(sealer);
        let overwriter = Overwriter::new(&opened.database)
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
            inner: Arc::new(Inner {
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
                checking: checking::Checking::default(),
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
        Epoch(u32::try_from(Counters::get(&self.inner.counters.epoch)).unwrap_or(u32::MAX))
    }

    fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&rusqlite::Connection) -> Result<T, ReadFault> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ReadError>> {
        let marker = self.inner.marker.clone();
        self.inner.readers.read(move |connection| query(connection).inspect_err(|fault| mark(&marker, fault)))
    }
}

/// Starts the thread that signs, where a key is in use.
fn start_signer(
    options: &OpenOptions,
    queue: &Arc<Queue>,
    log_id: LogId,
    signing: Option<Signing>,
) -> Result<Option<(Arc<SharedHeads>, Signer)>, OpenError> {
    let Some(Signing { key, first }) = signing else { return Ok(None) };
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

impl Inner {
    fn take_writer(&self) -> Option<JoinHandle<()>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.checking.end();
        self.queue.close();
        if let Some(writer) = self.take_writer() {
            drop(writer.join());
        }
    }
}

impl AppendTape for JournalStore {
    fn append(
        &self,
        request: JournalAppendRequest,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        let (answer, answered) = oneshot::channel();
        let taken = write::prepare(request, &*self.inner.entropy).and_then(|append| {
            self.inner.queue.push(Pending { append, answer }).map_err(|refused| match refused {
                Refused::Full => AppendError::Busy,
                Refused::Closed => AppendError::Closed,
            })
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
            entries: Counters::get(&counters.entries),
            commits: Counters::get(&counters.commits),
            rows: Counters::get(&counters.rows),
            bytes: Counters::get(&counters.bytes),
            database_bytes: size(&inner.database),
            wal_bytes: size(&wal_path(&inner.database)),
        }
    }

    fn verify(&self, progress: ProgressCallback) -> BoxFuture<'static, Result<VerifyReport, ReadError>> {
        let inner = Arc::clone(&self.inner);
        if inner.verifying.swap(true, Ordering::AcqRel) {
            return Box::pin(async { Err(ReadError::Busy) });
        }
        let (answer, answered) = oneshot::channel();
        let work = move || {
            let report = connect(&inner.database, Access::Read)
                .map_err(ReadFault::from)
                .and_then(|connection| verify(&connection, Scope::Everything, &progress))
                .inspect(|report| inner.checking.found(report))
                .inspect_err(|fault| mark(&inner.marker, fault));
            inner.verifying.store(false, Ordering::Release);
            // Whoever gets the answer and drops the journal may rely on its files being closed.
            drop(inner);
            drop(answer.send(report.map_err(ReadError::from)));
        };
        let started = std::thread::Builder::new().name("journal-verify".to_owned()).spawn(work);
        Box::pin(async move {
            if started.is_err() {
                return Err(ReadError::Busy);
            }
            answered.await.unwrap_or(Err(ReadError::Busy))
        })
    }

    fn rebuild(&self, progress: ProgressCallback) -> BoxFuture<'static, Result<u64, RebuildError>> {
        let (answer, answered) = oneshot::channel();
        let taken = self.inner.queue.push_rebuild(PendingRebuild { progress, answer });
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            match taken {
                Ok(()) => {
                    let rebuilt = answered.await.unwrap_or(Err(AppendError::Unknown.into()));
                    rebuilt.inspect(|_| inner.checking.rebuilt())
                }
                Err(Refused::Full) => Err(AppendError::Busy.into()),
                Err(Refused::Closed) => Err(AppendError::Closed.into()),
            }
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
