//! The budgets and accounts in memory.
//!
//! Owns what counts: what is committed, and the reservations that are decided and not committed yet. Knows no journal and
//! no clock. Invariant: an account that is not known here has no reservation that is not committed.

use std::collections::BTreeMap;

use palyra_governance::{BudgetAccount, BudgetDefinition, ReservationEnd, SpanAt};
use palyra_types::budget::{
    AccountEvent, AccountKey, PursePath, ReservationId, ReservationRequest, UsageAmount, WindowKind,
    WindowSpan,
};
use palyra_types::session::SessionRef;
use palyra_types::{BudgetId, PrincipalId, RunId, Timestamp};

use super::placed_account::PlacedAccount;
use super::unsettled_call::UnsettledCall;
use super::waiting_runs::WaitingRun;
use crate::memories::ZoneOf;

/// A budget in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetInForce {
    /// What it says.
    pub definition: BudgetDefinition,
    /// Who defined it, in whose time zone its windows begin.
    pub by: PrincipalId,
    /// When.
    pub changed: Timestamp,
}

impl BudgetInForce {
    /// Returns the window at a time.
    #[must_use]
    pub fn span_at(&self, now: Timestamp, zones: &ZoneOf) -> WindowSpan {
        self.definition.window.span_at(now, &zones(self.by))
    }
}

/// An account with what is decided about it.
#[derive(Default)]
struct AccountState {
    committed: BudgetAccount,
    /// Reservations whose commit is awaited.
    decided: BTreeMap<ReservationId, Vec<AccountEvent>>,
    /// The account with these reservations.
    counted: BudgetAccount,
}

impl AccountState {
    fn of(committed: BudgetAccount) -> Self {
        Self { counted: committed.clone(), committed, decided: BTreeMap::new() }
    }

    fn recount(&mut self) {
        self.counted = self.committed.clone();
        self.decided.values().flatten().for_each(|event| self.counted.evolve(event));
    }
}

/// Everything that counts.
#[derive(Default)]
pub(super) struct AccountBook {
    budgets: BTreeMap<BudgetId, BudgetInForce>,
    accounts: BTreeMap<AccountKey, AccountState>,
    /// The accounts of each open reservation.
    open: BTreeMap<ReservationId, Vec<AccountKey>>,
    pub(super) waiting: BTreeMap<RunId, WaitingRun>,
    /// Requests beside runs whose callers left before their end was recorded.
    pub(super) unsettled: Vec<UnsettledCall>,
    /// How often a person changed a budget.
    pub(super) changes: u64,
}

impl AccountBook {
    /// Returns whether nothing is limited and nothing is reserved.
    pub(super) fn is_idle(&self) -> bool {
        self.budgets.is_empty() && self.open.is_empty()
    }

    pub(super) fn budgets(&self) -> impl Iterator<Item = &BudgetInForce> {
        self.budgets.values()
    }

    pub(super) fn set(&mut self, budget: BudgetInForce) {
        self.budgets.insert(budget.definition.id, budget);
    }

    pub(super) fn remove(&mut self, budget: BudgetId) {
        self.budgets.remove(&budget);
    }

    pub(super) fn note_change(&mut self) {
        self.changes += 1;
    }

    pub(super) fn knows(&self, key: &AccountKey) -> bool {
        self.accounts.contains_key(key)
    }

    /// Takes an account as the journal has it, unless it is known.
    pub(super) fn restore(&mut self, key: AccountKey, account: BudgetAccount) {
        if self.knows(&key) {
            return;
        }
        for id in account.open().keys() {
            self.open.entry(*id).or_default().push(key);
        }
        self.accounts.insert(key, AccountState::of(account));
    }

    /// Takes budgets and accounts as the journal has them, in the place of all that counted; runs that wait stay.
    pub(super) fn reread(
        &mut self,
        budgets: impl IntoIterator<Item = BudgetInForce>,
        accounts: Vec<(AccountKey, BudgetAccount)>,
    ) {
        let budgets_before = std::mem::take(&mut self.budgets);
        let raised_before = self.raised();
        self.accounts.clear();
        self.open.clear();
        budgets.into_iter().for_each(|budget| self.set(budget));
        accounts.into_iter().for_each(|(key, account)| self.restore(key, account));
        if self.budgets != budgets_before || self.raised() != raised_before {
            self.note_change();
        }
    }

    /// Returns by how much limits are raised.
    fn raised(&self) -> BTreeMap<AccountKey, UsageAmount> {
        let raised = self.accounts.iter().map(|(key, state)| (*key, state.committed.totals().topped_up));
        raised.filter(|(_, amount)| *amount != UsageAmount::ZERO).collect()
    }

    /// Returns the accounts that are known.
    pub(super) fn known(&self) -> Vec<AccountKey> {
        self.accounts.keys().copied().collect()
    }

    /// Returns the accounts in which a run with this path is counted.
    pub(super) fn keys_on(&self, path: &PursePath) -> Vec<AccountKey> {
        self.budgets().filter_map(|budget| budget.definition.account_on(path)).collect()
    }

    /// Returns the accounts of a path as they count now.
    pub(super) fn on_path(&self, path: &PursePath, now: Timestamp, zones: &ZoneOf) -> Vec<PlacedAccount<'_>> {
        let mut placed = Vec::new();
        for budget in self.budgets.values() {
            let definition = &budget.definition;
            let Some(key) = definition.account_on(path) else { continue };
            let account = self.accounts.get(&key).map(|state| state.counted.clone()).unwrap_or_default();
            placed.push(PlacedAccount { key, definition, account, span: budget.span_at(now, zones) });
        }
        placed
    }

    /// Returns the windows that have begun for the accounts of a path, and for those in which its run has reservations.
    pub(super) fn due_windows_of(
        &self,
        path: &PursePath,
        now: Timestamp,
        zones: &ZoneOf,
    ) -> Vec<(AccountKey, AccountEvent)> {
        let own = self.open.iter().filter(|(id, _)| id.run == path.run).flat_map(|(_, keys)| keys).copied();
        let mut keys: Vec<AccountKey> = self.keys_on(path).into_iter().chain(own).collect();
        keys.sort_unstable();
        keys.dedup();
        self.due_windows(keys, now, zones)
    }

    /// Returns the windows of known accounts that have begun and are not recorded.
    pub(super) fn due_windows(
        &self,
        keys: impl IntoIterator<Item = AccountKey>,
        now: Timestamp,
        zones: &ZoneOf,
    ) -> Vec<(AccountKey, AccountEvent)> {
        let due = |key: AccountKey| {
            let state = self.accounts.get(&key)?;
            // Without its budget, or with another window, an account stays in the window that it has.
            let budget = self.budgets.get(&key.budget).filter(|it| it.definition.window == key.window)?;
            state.counted.opening(budget.span_at(now, zones)).map(|event| (key, event))
        };
        keys.into_iter().filter_map(due).collect()
    }

    /// Counts reservations that are decided and not committed.
    pub(super) fn decide(&mut self, id: ReservationId, account: AccountKey, events: &[AccountEvent]) {
        let state = self.accounts.entry(account).or_default();
        events.iter().for_each(|event| state.counted.evolve(event));
        state.decided.entry(id).or_default().extend_from_slice(events);
        self.open.entry(id).or_default().push(account);
    }

    /// Drops a reservation of an append in doubt, once it is known that it was not recorded.
    pub(super) fn drop_unrecorded(&mut self, id: ReservationId) {
        for key in self.open.remove(&id).unwrap_or_default() {
            if let Some(state) = self.accounts.get_mut(&key) {
                state.decided.remove(&id);
                state.committed.evolve(&AccountEvent::Released { id });
                state.recount();
            }
        }
    }

    /// Gives a reservation back that was decided and is not recorded.
    pub(super) fn give_back(&mut self, id: ReservationId) {
        for key in self.open.remove(&id).unwrap_or_default() {
            if let Some(state) = self.accounts.get_mut(&key)
                && state.decided.remove(&id).is_some()
            {
                state.recount();
            }
        }
    }

    /// Takes a committed event into account. One of an account that is not known is read with it when it is needed.
    pub(super) fn apply(&mut self, key: AccountKey, event: &AccountEvent) {
        let Some(state) = self.accounts.get_mut(&key) else { return };
        state.committed.evolve(event);
        match event {
            AccountEvent::Reserved { request } => {
                let keys = self.open.entry(request.id).or_default();
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
            AccountEvent::Settled { id, .. } | AccountEvent::Released { id } => {
                self.open.remove(id);
            }
            AccountEvent::WindowOpened { .. }
            | AccountEvent::ToppedUp { .. }
            | AccountEvent::SoftLimitPassed { .. } => {}
        }
        state.recount();
    }

    /// Takes the reservations of a committed step out of those that wait for their commit; their events are applied next.
    pub(super) fn confirm(&mut self, id: ReservationId) {
        for key in self.open.get(&id).into_iter().flatten() {
            self.accounts.get_mut(key).and_then(|state| state.decided.remove(&id));
        }
    }

    /// Returns the accounts in which a request is reserved, each with the request.
    pub(super) fn reserved_in(&self, id: ReservationId) -> Vec<(AccountKey, ReservationRequest)> {
        let keys = self.open.get(&id).into_iter().flatten();
        keys.filter_map(|key| Some((*key, *self.accounts.get(key)?.counted.open().get(&id)?))).collect()
    }

    /// Returns the events that end a reservation in the window that its account is in.
    pub(super) fn ended(&self, key: AccountKey, id: ReservationId, end: ReservationEnd) -> Vec<AccountEvent> {
        let Some(state) = self.accounts.get(&key) else { return Vec::new() };
        let span = state.counted.totals().span.unwrap_or(WindowSpan::ENDLESS);
        state.counted.settle(id, end, span)
    }

    /// Returns every open reservation with its account.
    pub(super) fn open_reservations(&self) -> Vec<(AccountKey, ReservationRequest)> {
        let of = |(key, state): (&AccountKey, &AccountState)| {
            state.committed.open().values().map(|request| (*key, *request)).collect::<Vec<_>>()
        };
        self.accounts.iter().flat_map(of).collect()
    }

    /// Forgets a run that is over, with its own accounts. Its requests have ended, so a reservation that is still open is one
    /// of an append in doubt that was not recorded.
    pub(super) fn forget(&mut self, run: RunId) {
        self.waiting.remove(&run);
        let left: Vec<ReservationId> = self.open.keys().filter(|id| id.run == run).copied().collect();
        left.into_iter().for_each(|id| self.drop_unrecorded(id));
        self.accounts.retain(|key, state| {
            key.window != WindowKind::Run || key.run != Some(run) || !state.counted.open().is_empty()
        });
    }

    pub(super) fn wait(&mut self, run: RunId, mut waiting: WaitingRun) {
        waiting.seen_changes = self.changes;
        self.waiting.insert(run, waiting);
    }

    /// Returns the waiting runs that may go on now, which are forgotten as waiting, and when the next one may.
    pub(super) fn due(
        &mut self,
        now: Timestamp,
        zones: &ZoneOf,
    ) -> (Vec<(RunId, SessionRef)>, Option<Timestamp>) {
        let may_go_on = |waiting: &WaitingRun| {
            waiting.resumes.is_some_and(|resumes| resumes <= now)
                || waiting.may_try_again(self.changes)
                    && waiting.fits(&self.on_path(&waiting.path, now, zones))
        };
        let due: Vec<_> = self.waiting.iter().filter(|(_, waiting)| may_go_on(waiting)).collect();
        let due: Vec<_> = due.into_iter().map(|(run, waiting)| (*run, waiting.session)).collect();
        for (run, _) in &due {
            self.waiting.remove(run);
        }
        (due, self.waiting.values().filter_map(|waiting| waiting.resumes).min())
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::Attempt;
    use palyra_types::budget::{PurseKey, RequestSize, TaskClass};

    use super::*;

    /// Returns a book in which a request is reserved by an append in doubt.
    fn in_doubt() -> (AccountBook, ReservationId) {
        let id = ReservationId {
            run: RunId::from_parts(2, 1),
            class: TaskClass::Interactive,
            attempt: Attempt(1),
        };
        let size = RequestSize { input_tokens: 5, output_tokens_max: 9 };
        let reserved = AccountEvent::Reserved { request: ReservationRequest { id, size, price: None } };
        let budget = BudgetId::from_parts(1, 1);
        let key = AccountKey { budget, window: WindowKind::Endless, purse: PurseKey::Total, run: None };
        let mut book = AccountBook::default();
        book.restore(key, BudgetAccount::default());
        book.decide(id, key, &[reserved]);
        book.confirm(id);
        book.apply(key, &reserved);
        assert_eq!(book.reserved_in(id).len(), 1);
        (book, id)
    }

    #[test]
    fn a_reservation_in_doubt_is_dropped_when_its_run_reserves_the_request_again_or_is_over() {
        let (mut book, id) = in_doubt();
        book.drop_unrecorded(id);
        assert!(book.reserved_in(id).is_empty() && book.open_reservations().is_empty());
        let (mut book, id) = in_doubt();
        book.forget(RunId::from_parts(2, 2));
        assert_eq!(book.reserved_in(id).len(), 1, "another run");
        book.forget(id.run);
        assert!(book.reserved_in(id).is_empty() && book.open_reservations().is_empty());
    }
}
