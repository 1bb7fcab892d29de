//! One step of a run: its reservations and the ends of its requests, until they are committed.
//!
//! Invariant: a reservation counts in memory from its decision on, and is given back when the step is dropped without its
//! commit; an end counts once it is committed.

use std::sync::Arc;

use palyra_governance::{
    BudgetStop, ModelCandidate, PathDecision, RequestOutcome, RoutingRequest, SoftLimitWarning,
    UsageRoutingPlan, decide_reservation, reserve_once,
};
use palyra_ports::NewEntry;
use palyra_types::Timestamp;
use palyra_types::budget::{
    AccountEvent, AccountKey, BudgetEvent, PursePath, ReservationId, ReservationRequest,
};

use super::account_book::AccountBook;
use super::placed_account::PlacedAccount;
use super::{BudgetBook, OrderHold};
use crate::memories::ZoneOf;

/// What is decided in one step.
pub struct BudgetStep {
    book: Arc<BudgetBook>,
    path: PursePath,
    now: Timestamp,
    zones: ZoneOf,
    hold: OrderHold,
    events: Vec<(AccountKey, AccountEvent)>,
    /// Reservations that memory counts and the journal does not have.
    decided: Vec<ReservationId>,
}

impl BudgetStep {
    pub(super) fn new(
        book: &Arc<BudgetBook>,
        path: PursePath,
        now: Timestamp,
        zones: &ZoneOf,
        hold: OrderHold,
    ) -> Self {
        Self {
            book: Arc::clone(book),
            path,
            now,
            zones: Arc::clone(zones),
            hold,
            events: Vec::new(),
            decided: Vec::new(),
        }
    }

    /// Returns whether a budget limits the run.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !matches!(self.hold, OrderHold::None) && !self.book.book().keys_on(&self.path).is_empty()
    }

    /// Returns the time of the step.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Plans which of several models serves a request, under the accounts of the path. A step that was begun to go on once
    /// may raise limits that leave no choice here.
    #[must_use]
    pub fn plan(&mut self, request: &RoutingRequest, candidates: &[ModelCandidate]) -> UsageRoutingPlan {
        let mut book = self.book.book();
        let path = match self.hold {
            OrderHold::None => Vec::new(),
            OrderHold::Shared(_) | OrderHold::Alone(_) => self.path_in(&mut book, request.id),
        };
        let places: Vec<_> = path.iter().map(PlacedAccount::place).collect();
        UsageRoutingPlan::make(request, candidates, &places)
    }

    /// Returns the accounts of the path as they count for a request of this step.
    fn path_in<'a>(&self, book: &'a mut AccountBook, id: ReservationId) -> Vec<PlacedAccount<'a>> {
        // A run reserves a request again where the append of the first try was in doubt and not recorded.
        book.drop_unrecorded(id);
        let mut path = book.on_path(&self.path, self.now, &self.zones);
        // What ends in this step ends in the same commit.
        for (key, event) in &self.events {
            if matches!(event, AccountEvent::Settled { .. } | AccountEvent::Released { .. }) {
                path.iter_mut().for_each(|placed| placed.evolve(*key, event));
            }
        }
        path
    }

    /// Reserves a request in every account of the path, or in none. A step that was begun to go on once raises limits that
    /// are in the way, where that helps.
    ///
    /// # Errors
    /// [`BudgetStop`] when the request does not fit.
    pub fn reserve(&mut self, request: &ReservationRequest) -> Result<Vec<SoftLimitWarning>, BudgetStop> {
        let mut book = self.book.book();
        let path = match self.hold {
            OrderHold::None => return Ok(Vec::new()),
            OrderHold::Shared(_) | OrderHold::Alone(_) => self.path_in(&mut book, request.id),
        };
        let places: Vec<_> = path.iter().map(PlacedAccount::place).collect();
        let decision = decide_reservation(&places, request);
        let reservation = match (decision, &self.hold) {
            (PathDecision::Reserve(reservation), _) => reservation,
            (PathDecision::Stop(stop), OrderHold::Alone(_)) => reserve_once(&places, request).ok_or(stop)?,
            (PathDecision::Stop(stop), OrderHold::Shared(_) | OrderHold::None) => return Err(stop),
        };
        for change in &reservation.changes {
            book.decide(request.id, change.account, &change.events);
            self.events.extend(change.events.iter().map(|event| (change.account, *event)));
        }
        book.waiting.remove(&request.id.run);
        self.decided.push(request.id);
        Ok(reservation.warnings)
    }

    /// Takes a reservation of this step back: its request is not recorded.
    pub fn take_back(&mut self, id: ReservationId) {
        let before = self.decided.len();
        self.decided.retain(|decided| *decided != id);
        if self.decided.len() == before {
            return;
        }
        // A step reserves one request at most, and ends others.
        self.events.retain(|(_, event)| {
            matches!(event, AccountEvent::Settled { id: ended, .. } | AccountEvent::Released { id: ended } if *ended != id)
        });
        self.book.book().give_back(id);
    }

    /// Ends a request. One that is not reserved, or has ended, is left alone.
    pub fn end(&mut self, id: ReservationId, outcome: RequestOutcome) {
        if matches!(self.hold, OrderHold::None) {
            return;
        }
        let book = self.book.book();
        for (key, request) in book.reserved_in(id) {
            let ended = book.ended(key, id, outcome.end(&request));
            self.events.extend(ended.into_iter().map(|event| (key, event)));
        }
    }

    /// Returns the entries to append together with those of the run.
    #[must_use]
    pub fn entries(&self, time: Timestamp) -> Vec<NewEntry> {
        let entry = |(account, event): &(AccountKey, AccountEvent)| NewEntry {
            time,
            principal: self.path.principal,
            session: None,
            run: None,
            event: BudgetEvent::Account { account: *account, event: *event }.into(),
        };
        self.events.iter().map(entry).collect()
    }

    /// Counts what was committed.
    pub fn committed(mut self) {
        let events = std::mem::take(&mut self.events);
        self.count(&events);
    }

    /// Counts what may have been committed: reservations stay, and requests have not ended.
    pub fn in_doubt(mut self) {
        let mut events = std::mem::take(&mut self.events);
        if !events.is_empty() {
            self.book.note_doubt();
        }
        events.retain(|(_, event)| {
            !matches!(event, AccountEvent::Settled { .. } | AccountEvent::Released { .. })
        });
        self.count(&events);
    }

    fn count(&mut self, events: &[(AccountKey, AccountEvent)]) {
        if events.is_empty() {
            return;
        }
        {
            let mut book = self.book.book();
            self.decided.drain(..).for_each(|id| book.confirm(id));
            events.iter().for_each(|(key, event)| book.apply(*key, event));
            if matches!(self.hold, OrderHold::Alone(_)) {
                book.note_change();
            }
        }
        let gives_room = |event: &AccountEvent| {
            matches!(event, AccountEvent::Settled { .. } | AccountEvent::Released { .. })
        };
        if events.iter().any(|(_, event)| gives_room(event)) {
            self.book.changed.notify_one();
        }
    }
}

impl Drop for BudgetStep {
    fn drop(&mut self) {
        if self.decided.is_empty() {
            return;
        }
        let mut book = self.book.book();
        self.decided.drain(..).for_each(|id| book.give_back(id));
        drop(book);
        self.book.changed.notify_one();
    }
}
