//! What is known of the log as a whole, and the check of it that goes on beside the service.
//!
//! Owns the last finding and the thread that looks. Invariant: a fault stays until a later check of everything finds
//! none; the thread gives way to erasures and to the end. Begin at [`Checking::begin`].

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use palyra_ports::{Integrity, VerifyReport};
use rusqlite::{Connection, InterruptHandle};

use crate::connection::{self, Access, Failure, connect};
use crate::fault::ReadFault;
use crate::verify::{Scope, verify};

/// Passes that are begun again because somebody needed the write-ahead log, at most.
const PASSES_MAX: u32 = 5;
/// How long a pass that gave way waits before the next.
const GIVE_WAY_SPAN: Duration = Duration::from_secs(10);
/// How long it pauses at once, at most.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The finding, and the thread that looks for one.
#[derive(Default)]
pub(super) struct Checking {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    integrity: Integrity,
    /// Interrupts the pass that is under way.
    pass: Option<InterruptHandle>,
    ended: Ended,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Ended {
    #[default]
    No,
    Yes,
}

impl Checking {
    /// Returns what the last check found.
    pub(super) fn integrity(&self) -> Integrity {
        self.shared.lock().integrity.clone()
    }

    /// Takes in what a check of everything found.
    pub(super) fn found(&self, report: &VerifyReport) {
        self.shared.found(report);
    }

    /// Begins to check everything on a thread of its own, at half speed.
    pub(super) fn begin(&self, database: PathBuf) {
        let shared = Arc::clone(&self.shared);
        let work = move || shared.run(&database);
        match std::thread::Builder::new().name("journal-check".to_owned()).spawn(work) {
            Ok(thread) => *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread),
            Err(error) => tracing::warn!(%error, "the journal is not checked in the background"),
        }
    }

    /// Interrupts a pass that is under way; it begins again later.
    pub(super) fn give_way(&self) {
        if let Some(pass) = &self.shared.lock().pass {
            pass.interrupt();
        }
    }

    /// Ends the thread and waits until its files are closed.
    pub(super) fn end(&self) {
        self.shared.lock().ended = Ended::Yes;
        self.give_way();
        self.shared.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            drop(thread.join());
        }
    }
}

impl Shared {
    fn run(self: &Arc<Self>, database: &std::path::Path) {
        for _ in 0..PASSES_MAX {
            match self.pass(database) {
                Ok(report) => {
                    self.found(&report);
                    return;
                }
                Err(ReadFault::Store(error)) if connection::classify(&error) == Failure::Interrupted => {
                    if self.wait(GIVE_WAY_SPAN) == Ended::Yes {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the journal could not be checked in the background");
                    return;
                }
            }
        }
    }

    fn pass(self: &Arc<Self>, database: &std::path::Path) -> Result<VerifyReport, ReadFault> {
        let connection: Connection = connect(database, Access::Read)?;
        {
            let mut state = self.lock();
            if state.ended == Ended::Yes {
                connection.get_interrupt_handle().interrupt();
            }
            state.pass = Some(connection.get_interrupt_handle());
        }
        let shared = Arc::clone(self);
        let begun = Mutex::new(Instant::now());
        let pause = move |_: u64, _: u64| {
            let mut begun = begun.lock().unwrap_or_else(PoisonError::into_inner);
            shared.wait(begun.elapsed().min(PAUSE_MAX));
            *begun = Instant::now();
        };
        let report = verify(&connection, Scope::Everything, &(Arc::new(pause) as _));
        self.lock().pass = None;
        report
    }

    fn found(&self, report: &VerifyReport) {
        self.lock().integrity = match &report.fault {
            None => Integrity::Holds { entries: report.entries },
            Some((seq, what)) => {
                tracing::error!(%seq, what, "the journal does not verify");
                Integrity::Faulty { seq: *seq, what: what.clone() }
            }
        };
    }

    /// Waits, but not beyond the end.
    fn wait(&self, span: Duration) -> Ended {
        let state = self.lock();
        let ended = |state: &mut State| state.ended == Ended::No;
        let waited = self.changed.wait_timeout_while(state, span, ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
