//! Budgets: what model requests may cost, kept in memory and recorded with the requests.
//!
//! Owns the budgets in force and their accounts, and the order of what is recorded of them. Knows no run: a caller names
//! the path of a request and records the entries of a [`BudgetStep`] in the same append as its dispatch or its answer.
//!
//! Invariants: memory counts at least as much as the journal, because a reservation counts from its decision on and an
//! end only from its commit on; and limits and windows change only while no decided entry waits for its commit. So at
//! every commit an account has spent and reserved at most its limit. Begin at [`BudgetBook::begin`].

mod account_book;
mod auxiliary_call;
mod budget_step;
mod budget_waits;
mod placed_account;
mod raised_limit;
mod run_budget;
mod run_routing;
mod unsettled_call;
mod waiting_runs;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_background::TickFailure;
use palyra_governance::{BudgetDefinition, reserve_once};
use palyra_journal_core::families::{budget_accounts, budgets};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::{AppendClass, AppendError, Clock, NewEntry, ReadError, Recorder};
use palyra_types::access::ActorIdentity;
use palyra_types::budget::{AccountEvent, AccountKey, BudgetEvent, BudgetRecord, PursePath};
use palyra_types::session::SessionRef;
use palyra_types::{PrincipalId, RunId, Timestamp};
use tokio::sync::{Notify, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::error::AdminError;
use crate::memories::ZoneOf;

use account_book::AccountBook;
use unsettled_call::UnsettledCall;

pub use account_book::BudgetInForce;
pub use auxiliary_call::{AuxiliaryBudgets, AuxiliaryCall, AuxiliaryPayer, AuxiliaryRefusal, PricesNow};
pub use budget_step::BudgetStep;
pub use budget_waits::{BudgetWaits, BudgetWaker};
pub use palyra_governance::{AnswerProgress, RequestOutcome};
pub use raised_limit::RaisedLimit;
pub use run_budget::{ReservedRequest, RunBudget, StoppedRequest};
pub use run_routing::{MadeRequest, OverBudgetModel, RoutedRequest, RoutingChain, RoutingInputs};
pub use waiting_runs::WaitingRun;

/// Said where limits that are raised do not help.
const DOES_NOT_HELP: &str = "going on once does not help this run: its model has no price under a budget that limits \
    money, or too many requests are in flight; `palyra budget` shows the budgets";

/// Requests that one append ends; with the windows that begin they stay below its limit.
const LOST_PER_APPEND_MAX: usize = 100;

/// The budgets in force and their accounts.
pub struct BudgetBook {
    recorder: Recorder,
    families: Arc<dyn ReadFamilies>,
    clock: Arc<dyn Clock>,
    /// Shared from a decision to the end of its append; taken alone while limits or windows change.
    order: Arc<RwLock<()>>,
    book: Mutex<AccountBook>,
    /// Whether the journal may have entries that memory does not count: an append ended without an answer.
    in_doubt: AtomicBool,
    changed: Notify,
}

/// How a step holds the order of entries.
#[expect(dead_code, reason = "a guard is kept until it is dropped")]
enum OrderHold {
    /// Without budgets entries have any order.
    None,
    Shared(OwnedRwLockReadGuard<()>),
    Alone(OwnedRwLockWriteGuard<()>),
}

/// How a request that does not fit is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetMode {
    /// It is not sent.
    Limited,
    /// A person lets it go on once: the limits in its way are raised by what is missing.
    GoOnOnce,
}

impl BudgetBook {
    /// Reads the budgets and the accounts that have open reservations; other accounts are read when they are needed.
    pub(crate) async fn load(
        recorder: Recorder,
        families: Arc<dyn ReadFamilies>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ReadError> {
        let records = families.query(budgets::in_force).await?;
        let open = families.query(|rows, _| budget_accounts::with_reservations(rows)).await?;
        let mut book = AccountBook::default();
        records.iter().for_each(|record| book.set(in_force(record)));
        open.into_iter().for_each(|row| book.restore(row.key, row.account));
        Ok(Self {
            recorder,
            families,
            clock,
            order: Arc::default(),
            book: Mutex::new(book),
            in_doubt: AtomicBool::new(false),
            changed: Notify::new(),
        })
    }

    /// Begins a step of a run that may reserve or end model requests. Windows that are over are replaced by recorded new
    /// ones first.
    ///
    /// # Errors
    /// [`AppendError`] when a window could not be recorded.
    pub async fn begin(
        self: &Arc<Self>,
        path: PursePath,
        mode: BudgetMode,
        zones: &ZoneOf,
    ) -> Result<BudgetStep, AppendError> {
        self.settle_doubt().await.map_err(|_| AppendError::Busy)?;
        let now = self.clock.wall();
        if self.book().is_idle() {
            return Ok(BudgetStep::new(self, path, now, zones, OrderHold::None));
        }
        loop {
            self.read_missing(&path).await?;
            let hold = match mode {
                BudgetMode::GoOnOnce => OrderHold::Alone(Arc::clone(&self.order).write_owned().await),
                BudgetMode::Limited => OrderHold::Shared(Arc::clone(&self.order).read_owned().await),
            };
            if self.is_ready(&path, now, zones) {
                return Ok(BudgetStep::new(self, path, now, zones, hold));
            }
            drop(hold);
            let _alone = self.order.write().await;
            self.open_windows(&path, now, zones).await?;
        }
    }

    /// Ends the reservations that a restart caught, charged as reserved; called before runs are taken up.
    ///
    /// # Errors
    /// [`TickFailure`] when that could not be recorded.
    pub async fn end_lost(&self, zones: &ZoneOf) -> Result<(), TickFailure> {
        self.record_lost(zones).await.map_err(|error| {
            TickFailure::new(format_args!("requests that the last stop caught are still reserved: {error}"))
        })
    }

    async fn record_lost(&self, zones: &ZoneOf) -> Result<(), AppendError> {
        self.settle_doubt().await.map_err(|_| AppendError::Busy)?;
        let _alone = self.order.write().await;
        let now = self.clock.wall();
        let lost = self.book().open_reservations();
        for some in lost.chunks(LOST_PER_APPEND_MAX) {
            let mut events = Vec::new();
            {
                let book = self.book();
                let accounts: BTreeSet<AccountKey> = some.iter().map(|(key, _)| *key).collect();
                events.extend(book.due_windows(accounts.iter().copied(), now, zones));
                for (key, request) in some {
                    let end = RequestOutcome::Lost.end(request);
                    events.extend(book.ended(*key, request.id, end).into_iter().map(|event| (*key, event)));
                }
            }
            self.record_events(PrincipalId::NIL, None, now, events).await?;
        }
        Ok(())
    }

    /// Records a change of a budget or of its limits. No other entry of budgets waits for its commit at that time, and runs that
    /// wait try again.
    pub(crate) async fn change(
        &self,
        actor: ActorIdentity,
        events: impl FnOnce(&BudgetChangeView<'_>) -> Vec<BudgetEvent>,
    ) -> Result<(), AppendError> {
        self.settle_doubt().await.map_err(|_| AppendError::Busy)?;
        let _alone = self.order.write().await;
        let now = self.clock.wall();
        let events = {
            let book = self.book();
            events(&BudgetChangeView { book: &book, now })
        };
        self.append(actor.principal, Some(actor), now, events.clone()).await?;
        let mut book = self.book();
        for event in events {
            match event {
                BudgetEvent::Set(set) => {
                    let seq = palyra_types::Seq::default();
                    book.set(in_force(&BudgetRecord { set, by: actor.principal, seq, changed: now }));
                }
                BudgetEvent::Removed { budget } => book.remove(budget),
                BudgetEvent::Account { account, event } => book.apply(account, &event),
                BudgetEvent::AuxiliaryUsed(_) => {}
            }
        }
        book.note_change();
        drop(book);
        self.changed.notify_one();
        Ok(())
    }

    /// Reads accounts of a budget that memory does not have yet.
    pub(crate) async fn read_accounts(&self, keys: Vec<AccountKey>) -> Result<(), ReadError> {
        let missing: Vec<_> = keys.into_iter().filter(|key| !self.book().knows(key)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let found = self.families.query(move |rows, _| {
            missing
                .into_iter()
                .map(|key| Ok((key, budget_accounts::account(rows, &key)?)))
                .collect::<Result<Vec<_>, _>>()
        });
        for (key, account) in found.await? {
            self.book().restore(key, account.unwrap_or_default());
        }
        Ok(())
    }

    /// Returns the budgets in force.
    pub(crate) fn in_force(&self) -> Vec<BudgetInForce> {
        self.book().budgets().cloned().collect()
    }

    /// Checks that a run which waits for a budget can go on when a person lets it once, and returns by how much that raises
    /// limits; nothing for a run that does not wait.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] where limits that are raised do not help.
    pub fn check_go_on(&self, run: RunId, zones: &ZoneOf) -> Result<Vec<RaisedLimit>, AdminError> {
        let book = self.book();
        let Some(waiting) = book.waiting.get(&run) else { return Ok(Vec::new()) };
        let path = book.on_path(&waiting.path, self.clock.wall(), zones);
        let places: Vec<_> = path.iter().map(placed_account::PlacedAccount::place).collect();
        let reservation = reserve_once(&places, &waiting.request)
            .ok_or_else(|| AdminError::InvalidArgument { what: DOES_NOT_HELP.to_owned() })?;
        Ok(raised_limit::raised_limits(&path, &reservation))
    }

    /// Notes that a run waits for a budget.
    pub fn wait(&self, run: RunId, waiting: WaitingRun) {
        self.book().wait(run, waiting);
        self.changed.notify_one();
    }

    /// Forgets a run that is over, with the accounts that only it had.
    pub fn forget(&self, run: RunId) {
        self.book().forget(run);
    }

    /// Returns the waiting runs that may go on now, and when the next one may.
    #[must_use]
    pub fn due(&self, zones: &ZoneOf) -> (Vec<(RunId, SessionRef)>, Option<Timestamp>) {
        self.book().due(self.clock.wall(), zones)
    }

    /// Completes when a waiting run may be able to go on, or another one waits.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Takes over a request beside a run whose caller left before its end was recorded.
    fn leave_unsettled(&self, call: UnsettledCall) {
        self.book().unsettled.push(call);
        self.changed.notify_one();
    }

    fn next_unsettled(&self) -> Option<UnsettledCall> {
        self.book().unsettled.pop()
    }

    fn book(&self) -> MutexGuard<'_, AccountBook> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read_missing(&self, path: &PursePath) -> Result<(), AppendError> {
        let keys = self.book().keys_on(path);
        // A run whose accounts cannot be read now tries again.
        self.read_accounts(keys).await.map_err(|_| AppendError::Busy)
    }

    fn is_ready(&self, path: &PursePath, now: Timestamp, zones: &ZoneOf) -> bool {
        let book = self.book();
        let keys = book.keys_on(path);
        keys.iter().all(|key| book.knows(key)) && book.due_windows_of(path, now, zones).is_empty()
    }

    /// Records the windows that have begun for the accounts of a path, and for those in which its run has requests in flight.
    async fn open_windows(
        &self,
        path: &PursePath,
        now: Timestamp,
        zones: &ZoneOf,
    ) -> Result<(), AppendError> {
        let due = self.book().due_windows_of(path, now, zones);
        self.record_events(path.principal, None, now, due).await
    }

    async fn record_events(
        &self,
        principal: PrincipalId,
        actor: Option<ActorIdentity>,
        now: Timestamp,
        events: Vec<(AccountKey, AccountEvent)>,
    ) -> Result<(), AppendError> {
        if events.is_empty() {
            return Ok(());
        }
        let entries =
            events.iter().map(|(account, event)| BudgetEvent::Account { account: *account, event: *event });
        self.append(principal, actor, now, entries.collect()).await?;
        let mut book = self.book();
        events.iter().for_each(|(account, event)| book.apply(*account, event));
        Ok(())
    }

    async fn append(
        &self,
        principal: PrincipalId,
        actor: Option<ActorIdentity>,
        now: Timestamp,
        events: Vec<BudgetEvent>,
    ) -> Result<(), AppendError> {
        if events.is_empty() {
            return Ok(());
        }
        let entry = |event: BudgetEvent| NewEntry {
            time: now,
            principal,
            session: None,
            run: None,
            event: event.into(),
        };
        let entries = events.into_iter().map(entry).collect();
        // The end of a request may not fail for want of space because a window began.
        let class = AppendClass::Ending;
        let appended = match actor {
            Some(actor) => self.recorder.record_act(actor, entries, class, Vec::new()).await,
            None => self.recorder.record(entries, class, Vec::new()).await,
        };
        if matches!(appended, Err(AppendError::Unknown)) {
            self.note_doubt();
        }
        appended.map(drop)
    }

    /// Notes that an append ended without an answer.
    fn note_doubt(&self) {
        self.in_doubt.store(true, Ordering::Release);
        self.changed.notify_one();
    }

    /// Reads budgets and accounts again where the journal may have entries that memory does not count.
    async fn settle_doubt(&self) -> Result<(), ReadError> {
        if !self.in_doubt.load(Ordering::Acquire) {
            return Ok(());
        }
        let _alone = self.order.write().await;
        let known = self.book().known();
        let records = self.families.query(budgets::in_force).await?;
        let accounts = self.families.query(move |rows, _| {
            let open = budget_accounts::with_reservations(rows)?;
            let mut accounts: Vec<_> = open.into_iter().map(|row| (row.key, row.account)).collect();
            for key in known {
                accounts.push((key, budget_accounts::account(rows, &key)?.unwrap_or_default()));
            }
            Ok(accounts)
        });
        let accounts = accounts.await?;
        self.book().reread(records.iter().map(in_force), accounts);
        self.in_doubt.store(false, Ordering::Release);
        self.changed.notify_one();
        Ok(())
    }
}

/// What a change of a budget is decided from.
pub(crate) struct BudgetChangeView<'a> {
    book: &'a AccountBook,
    now: Timestamp,
}

impl BudgetChangeView<'_> {
    /// Returns the events that begin the window of an account, where the current one is over.
    pub(crate) fn opening(&self, account: AccountKey, zones: &ZoneOf) -> Option<BudgetEvent> {
        let due = self.book.due_windows([account], self.now, zones).into_iter().next();
        due.map(|(account, event)| BudgetEvent::Account { account, event })
    }

    /// Returns the budgets in force.
    pub(crate) fn budgets(&self) -> impl Iterator<Item = &BudgetInForce> {
        self.book.budgets()
    }
}

fn in_force(record: &BudgetRecord) -> BudgetInForce {
    let definition = BudgetDefinition::of_recorded(&record.set);
    BudgetInForce { definition, by: record.by, changed: record.changed }
}
