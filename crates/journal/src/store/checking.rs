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

    /// Returns where reads note damage that they meet.
    pub(super) fn notes(&self) -> DamageNotes {
        DamageNotes(Arc::clone(&self.shared))
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

/// Takes in what a read found to be damaged: that signals more than its caller sees.
pub(super) struct DamageNotes(Arc<SharedCheck>);

impl DamageNotes {
    /// Notes an entry that contradicts itself. A row that is only derived, a key that is gone, and content that an erasure took
    /// during the read are none.
    pub(super) fn note(&self, connection: &Connection, fault: &ReadFault) {
        let ReadFault::Entry { seq, fault } = fault else { return };
        let sql = "SELECT key_id = 0 FROM payload WHERE seq = ?1";
        let is_in_clear = || connection.query_row(sql, [seq_to_sql(*seq)], |row| row.get(0)).unwrap_or(false);
        let is_damaged = match fault {
            EntryFault::Envelope | EntryFault::Columns | EntryFault::Facts => true,
            EntryFault::Payload => is_in_clear(),
            _ => false,
        };
        if is_damaged {
            self.0.damaged(*seq, &fault.to_string(), connection);
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
            None => {
                let connection = connect(database, ConnectionAccess::Read)?;
                self.found(&report, &connection);
            }
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
        let fault = report.fault.clone();
        let fault = fault.map(|(seq, what)| Integrity::Faulty { seq, what, run: run_of(connection, seq) });
        let mut state = self.lock();
        state.integrity = match fault {
            // A check of entries does not look at tables.
            None if matches!(state.integrity, Integrity::TableDiffers { .. }) => return,
            None => Integrity::Holds { entries: report.entries },
            Some(fault) => {
                tracing::error!(?fault, "the journal does not verify");
                fault
            }
        };
    }

    /// Takes in an entry that a read found to be damaged; the first one of the log is remembered.
    fn damaged(&self, seq: Seq, what: &str, connection: &Connection) {
        let run = run_of(connection, seq);
        let mut state = self.lock();
        if matches!(&state.integrity, Integrity::Faulty { seq: known, .. } if *known <= seq) {
            return;
        }
        tracing::error!(%seq, what, "an entry of the journal that was read does not verify");
        state.integrity = Integrity::Faulty { seq, what: what.to_owned(), run };
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

/// Returns the run of an entry, where its row can be read.
fn run_of(connection: &Connection, seq: Seq) -> Option<RunId> {
    let sql = "SELECT run_id FROM entry WHERE seq = ?1";
    let run: Option<Vec<u8>> = connection.query_row(sql, [seq_to_sql(seq)], |row| row.get(0)).ok()?;
    Some(RunId::from_bytes(run?.try_into().ok()?))
}
