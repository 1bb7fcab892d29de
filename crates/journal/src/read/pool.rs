//! Reader threads, each with its own read-only connection.
//!
//! Invariant: no query outlives its deadline, so no reader pins the WAL for long; a full queue refuses; a reader with
//! nothing to do keeps no pages.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures::channel::oneshot;
use futures::future::BoxFuture;
use palyra_ports::ReadError;
use rusqlite::Connection;

use crate::connection::{ConnectionAccess, QUIET_SPAN, connect};
use crate::fault::ReadFault;

/// Reader threads.
const READERS: usize = 3;

/// Queries that wait, at most.
const READS_WAITING_MAX: usize = 1_024;

/// How long a query may take, waiting included.
const READ_DEADLINE: Duration = Duration::from_secs(5);

/// Database pages that each reader keeps; what it asks for again soon is in the system's cache too.
const PAGE_CACHE_KIB_MAX: i64 = 2 * 1024;

/// Steps of SQLite's machine between two looks at the clock.
const STEPS_PER_LOOK: i32 = 2_000;

type ReadJob = Box<dyn FnOnce(&Connection) + Send>;

struct WaitingRead {
    job: ReadJob,
    deadline: Instant,
}

#[derive(Default)]
struct PoolState {
    jobs: VecDeque<WaitingRead>,
    is_closed: bool,
}

#[derive(Default)]
struct SharedPool {
    state: Mutex<PoolState>,
    arrived: Condvar,
}

/// The pool; dropping it ends its threads.
pub(crate) struct ReaderPool {
    shared: Arc<SharedPool>,
    threads: Vec<JoinHandle<()>>,
    deadline: Duration,
}

impl ReaderPool {
    /// Starts the threads.
    pub(crate) fn start(database: &Path) -> rusqlite::Result<Self> {
        Self::with_deadline(database, READ_DEADLINE)
    }

    fn with_deadline(database: &Path, deadline: Duration) -> rusqlite::Result<Self> {
        let shared = Arc::new(SharedPool::default());
        let mut threads = Vec::with_capacity(READERS);
        for _ in 0..READERS {
            let reader = PoolReader::new(connect(database, ConnectionAccess::Read)?)?;
            let shared = Arc::clone(&shared);
            let thread = std::thread::Builder::new().name("journal-reader".to_owned());
            match thread.spawn(move || reader.run(&shared)) {
                Ok(handle) => threads.push(handle),
                // Fewer readers answer more slowly, none cannot be.
                Err(error) if threads.is_empty() => {
                    return Err(rusqlite::Error::ToSqlConversionFailure(Box::new(error)));
                }
                Err(_) => break,
            }
        }
        Ok(Self { shared, threads, deadline })
    }

    /// Runs a query on some reader.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, ReadFault> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ReadError>> {
        let (answer, answered) = oneshot::channel();
        let job: ReadJob = Box::new(move |connection| drop(answer.send(query(connection))));
        let taken = self.push(job);
        Box::pin(async move {
            taken?;
            // A reader that drops the question found its deadline passed.
            answered.await.map_err(|_| ReadError::Busy)?.map_err(ReadError::from)
        })
    }

    fn push(&self, job: ReadJob) -> Result<(), ReadError> {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.jobs.len() >= READS_WAITING_MAX {
            return Err(ReadError::Busy);
        }
        state.jobs.push_back(WaitingRead { job, deadline: Instant::now() + self.deadline });
        // Else the reader wakes up only to wait for the lock.
        drop(state);
        self.shared.arrived.notify_one();
        Ok(())
    }
}

impl Drop for ReaderPool {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        self.shared.arrived.notify_all();
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

struct PoolReader {
    connection: Connection,
    began: Instant,
    /// Milliseconds after `began`.
    deadline: Arc<AtomicU64>,
}

impl PoolReader {
    fn new(mut connection: Connection) -> rusqlite::Result<Self> {
        connection.pragma_update(None, "cache_size", -PAGE_CACHE_KIB_MAX)?;
        let began = Instant::now();
        let deadline = Arc::new(AtomicU64::new(u64::MAX));
        let watched = Arc::clone(&deadline);
        let too_late = move || u128::from(watched.load(Ordering::Relaxed)) < began.elapsed().as_millis();
        connection.progress_handler(STEPS_PER_LOOK, Some(too_late))?;
        Ok(Self { connection, began, deadline })
    }

    fn run(self, shared: &SharedPool) {
        let mut patience = Some(QUIET_SPAN);
        loop {
            let WaitingRead { job, deadline } = match next(shared, patience) {
                NextWork::Query(waiting) => waiting,
                NextWork::Quiet => {
                    // What cannot be given back stays, as it would have.
                    let _ = self.connection.release_memory();
                    patience = None;
                    continue;
                }
                NextWork::End => return,
            };
            patience = Some(QUIET_SPAN);
            if Instant::now() >= deadline {
                continue;
            }
            let millis = deadline.saturating_duration_since(self.began).as_millis();
            self.deadline.store(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Relaxed);
            // A query that panics is a bug of its own; the other readers' callers must not wait for it.
            drop(catch_unwind(AssertUnwindSafe(|| job(&self.connection))));
        }
    }
}

/// What a reader does next.
enum NextWork {
    Query(WaitingRead),
    /// Nobody has asked for a while.
    Quiet,
    /// Nobody will ask any more.
    End,
}

/// Waits for a query, and for as long as it takes without `patience`.
fn next(shared: &SharedPool, patience: Option<Duration>) -> NextWork {
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(waiting) = state.jobs.pop_front() {
            return NextWork::Query(waiting);
        }
        if state.is_closed {
            return NextWork::End;
        }
        let Some(span) = patience else {
            state = shared.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let (woken, timer) = shared.arrived.wait_timeout(state, span).unwrap_or_else(PoisonError::into_inner);
        state = woken;
        if timer.timed_out() && state.jobs.is_empty() && !state.is_closed {
            return NextWork::Quiet;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOR_EVER: &str =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

    fn pool(folder: &tempfile::TempDir, deadline: Duration) -> ReaderPool {
        let database = folder.path().join("journal.db");
        drop(connect(&database, ConnectionAccess::Write).unwrap());
        ReaderPool::with_deadline(&database, deadline).unwrap()
    }

    fn count(sql: &'static str) -> impl FnOnce(&Connection) -> Result<i64, ReadFault> + Send + 'static {
        move |connection| Ok(connection.query_row(sql, [], |row| row.get(0))?)
    }

    #[tokio::test]
    async fn a_query_ends_at_its_deadline_and_the_reader_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let pool = pool(&folder, Duration::from_millis(100));
        let endless: Vec<_> = (0..2 * READERS).map(|_| pool.read(count(FOR_EVER))).collect();
        for result in futures::future::join_all(endless).await {
            assert_eq!(result, Err(ReadError::Busy));
        }
        assert_eq!(pool.read(count("SELECT 7")).await, Ok(7));
    }

    #[test]
    fn a_reader_with_nothing_to_do_is_told_so_until_it_has_no_patience() {
        let shared = SharedPool::default();
        assert!(matches!(next(&shared, Some(Duration::ZERO)), NextWork::Quiet));
        let job: ReadJob = Box::new(|_| ());
        let waiting = WaitingRead { job, deadline: Instant::now() };
        shared.state.lock().unwrap().jobs.push_back(waiting);
        assert!(matches!(next(&shared, Some(Duration::ZERO)), NextWork::Query(_)));
        shared.state.lock().unwrap().is_closed = true;
        assert!(matches!(next(&shared, Some(Duration::ZERO)), NextWork::End));
        assert!(matches!(next(&shared, None), NextWork::End));
    }

    #[tokio::test]
    async fn a_query_that_panics_costs_no_reader() {
        let folder = tempfile::tempdir().unwrap();
        let pool = pool(&folder, READ_DEADLINE);
        for _ in 0..2 * READERS {
            let broken = pool.read(|_| -> Result<(), ReadFault> { panic!("as a test") });
            assert_eq!(broken.await, Err(ReadError::Busy));
        }
        assert_eq!(pool.read(count("SELECT 7")).await, Ok(7));
        let refused = pool.read(count("CREATE TABLE x(y)")).await;
        assert!(matches!(refused, Err(ReadError::Storage { .. })), "{refused:?}");
    }
}
