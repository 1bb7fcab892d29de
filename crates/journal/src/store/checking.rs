//! What is known of the log as a whole, and the check of it that goes on beside the service.
//!
//! Owns the last finding and the thread that looks: at every entry, and at the rows of derived tables that the start of a
//! longer log did not compare. Invariant: a fault stays until a later check of everything finds none, and a table that
//! differs until it is rebuilt; the thread gives way to erasures and to the end. Begin at [`IntegrityCheck::begin`].

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use palyra_ports::{Integrity, VerifyReport};
use palyra_types::{RunId, Seq};
use rusqlite::{Connection, InterruptHandle};

use crate::connection::{self, ConnectionAccess, Failure, connect};
use crate::fault::{EntryFault, ReadFault};
use crate::sql::seq_to_sql;
use crate::start::ENTRIES_COMPARED_MAX;
use crate::table_check::differing_table;
use crate::verify::{VerifyScope, verify};

/// Passes that are begun again because somebody needed the write-ahead log, at most.
const PASSES_MAX: u32 = 5;
/// How long a pass that gave way waits before the next.
const GIVE_WAY_SPAN: Duration = Duration::from_secs(10);
/// How long it pauses at once, at most.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Entries up to which derived tables are compared beside the service: the fold anew is in memory.
const ENTRIES_FOLDED_MAX: u64 = 1_000_000;

/// The finding, and the thread that looks for one.
#[derive(Default)]
pub(super) struct IntegrityCheck {
    shared: Arc<SharedCheck>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct SharedCheck {
    state: Mutex<CheckState>,
    changed: Condvar,
}

#[derive(Default)]
struct CheckState {
    integrity: Integrity,
    /// Interrupts the pass that is under way.
    pass: Option<InterruptHandle>,
    ended: CheckEnd,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum CheckEnd {
    #[default]
    No,
    Yes,
}

impl IntegrityCheck {
    /// Returns what the last check found.
    pub(super) fn integrity(&self) -> Integrity {
        self.shared.lock().integrity.clone()
    }

    /// Takes in what a check of everything found.
    pub(super) fn found(&self, report: &VerifyReport, connection: &Connection) {
        self.shared.found(report, connection);
    }

    /// Returns what takes in damage that a read met.
    pub(super) fn damage_notes(&self) -> impl Fn(&Connection, &ReadFault) + Send + use<> {
        let shared = Arc::clone(&self.shared);
        move |connection, fault| shared.note(connection, fault)
    }

    /// Takes in that the derived tables were made anew.
    pub(super) fn rebuilt(&self) {
        let mut state = self.shared.lock();
        if let Integrity::TableDiffers { .. } = state.integrity {
            state.integrity = Integrity::NotChecked;
        }
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
        self.shared.lock().ended = CheckEnd::Yes;
        self.give_way();
        self.shared.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            drop(thread.join());
        }
    }
}

impl SharedCheck {
    fn run(self: &Arc<Self>, database: &Path) {
        for _ in 0..PASSES_MAX {
            match self.check(database) {
                Ok(()) => return,
                Err(ReadFault::Store(error)) if connection::classify(&error) == Failure::Interrupted => {
                    if self.wait(GIVE_WAY_SPAN) == CheckEnd::Yes {
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

    /// Checks every entry, then the rows that the start of this log did not compare.
    fn check(self: &Arc<Self>, database: &Path) -> Result<(), ReadFault> {
        let report = self.pass(database)?;
        let differing = match report.entries {
            _ if report.fault.is_some() => None,
            entries if entries <= ENTRIES_COMPARED_MAX => None,
            entries if entries > ENTRIES_FOLDED_MAX => {
                tracing::info!(entries, "the log is too long to compare derived tables beside the service");
                None
            }
            _ => self.compare(database)?,
        };
        // One change of the state: a reader must not see that all holds before it sees what differs.
        match differing {
            None => self.found(&report, &connect(database, ConnectionAccess::Read)?),
            Some(table) => {
                tracing::error!(
                    table,
                    "a derived table is not what the log says; `palyra journal rebuild` mends it"
                );
                self.lock().integrity = Integrity::TableDiffers { table };
            }
        }
        Ok(())
    }

    fn pass(self: &Arc<Self>, database: &Path) -> Result<VerifyReport, ReadFault> {
        let connection: Connection = connect(database, ConnectionAccess::Read)?;
        self.enter(&connection);
        let report = verify(&connection, VerifyScope::Everything, &(Arc::new(self.pauses()) as _));
        self.lock().pass = None;
        report
    }

    fn compare(self: &Arc<Self>, database: &Path) -> Result<Option<String>, ReadFault> {
        let compared = differing_table(database, &mut |fresh| self.enter(fresh), &self.pauses());
        self.lock().pass = None;
        compared
    }

    /// Lets the work of a connection be interrupted, at once when the end has come.
    fn enter(&self, connection: &Connection) {
        let mut state = self.lock();
        if state.ended == CheckEnd::Yes {
            connection.get_interrupt_handle().interrupt();
        }
        state.pass = Some(connection.get_interrupt_handle());
    }

    /// Returns what pauses for as long as the work since the last pause took.
    fn pauses(self: &Arc<Self>) -> impl Fn(u64, u64) + Send + Sync + use<> {
        let shared = Arc::clone(self);
        let begun = Mutex::new(Instant::now());
        move |_, _| {
            let mut begun = begun.lock().unwrap_or_else(PoisonError::into_inner);
            shared.wait(begun.elapsed().min(PAUSE_MAX));
            *begun = Instant::now();
        }
    }

    fn found(&self, report: &VerifyReport, connection: &Connection) {
        let fault = report.fault.clone().map(|(seq, what)| faulty(connection, seq, what));
        let mut state = self.lock();
        state.integrity = match fault {
            // A check of entries does not look at tables.
            None if matches!(state.integrity, Integrity::TableDiffers { .. }) => return,
            None => Integrity::Holds { entries: report.entries },
            Some(fault) => fault,
        };
    }

    /// Takes in damage that a read met. Content that is sealed or missing is none: an erasure may have taken its key, or itself.
    fn note(&self, connection: &Connection, fault: &ReadFault) {
        let ReadFault::Entry { seq, fault: fault @ EntryFault::Payload } = fault else { return };
        let sql = "SELECT key_id = 0 FROM payload WHERE seq = ?1";
        let is_damaged = connection.query_row(sql, [seq_to_sql(*seq)], |row| row.get(0)) == Ok(true);
        let is_known = matches!(&self.lock().integrity, Integrity::Faulty { seq: at, .. } if at <= seq);
        if is_damaged && !is_known {
            let found = faulty(connection, *seq, fault.to_string());
            self.lock().integrity = found;
        }
    }

    /// Waits, but not beyond the end.
    fn wait(&self, span: Duration) -> CheckEnd {
        let state = self.lock();
        let ended = |state: &mut CheckState| state.ended == CheckEnd::No;
        let waited = self.changed.wait_timeout_while(state, span, ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    fn lock(&self) -> MutexGuard<'_, CheckState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names an entry that does not verify, with its run where its row can be read.
fn faulty(connection: &Connection, seq: Seq, what: String) -> Integrity {
    let sql = "SELECT run_id FROM entry WHERE seq = ?1";
    let run = connection.query_row(sql, [seq_to_sql(seq)], |row| row.get::<_, Option<[u8; 16]>>(0));
    tracing::error!(%seq, what, "the journal does not verify");
    Integrity::Faulty { seq, what, run: run.ok().flatten().map(RunId::from_bytes) }
}
