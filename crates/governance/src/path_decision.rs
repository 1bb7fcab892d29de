//! Whether a request may be dispatched, by all budgets on its path.
//!
//! Owns all or nothing: either every account of the path reserves, or none does. The caller records the events in the
//! transaction of the dispatch, in which it has read the accounts. Begin at [`decide_reservation`].

use std::fmt::Write as _;

use palyra_types::Timestamp;

use crate::account::{AccountEvent, TopUpReason};
use crate::budget::{AccountKey, LimitAction};
use crate::limit_hit::LimitHit;
use crate::path_account::{PathAccount, SoftLimitWarning};
use palyra_types::budget::ReservationRequest;
use palyra_types::budget::UsageAmount;

/// The events of one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountChange {
    /// The account.
    pub account: AccountKey,
    /// Its events, in order.
    pub events: Vec<AccountEvent>,
}

/// A reservation in every account of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathReservation {
    /// What to record, in the order of the path.
    pub changes: Vec<AccountChange>,
    /// Soft limits that are passed by it.
    pub warnings: Vec<SoftLimitWarning>,
}

/// What follows when a request does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopAction {
    /// The run waits.
    Park {
        /// When every account that was hit has begun again; `None` when only a person can let the run go on.
        resume: Option<Timestamp>,
    },
    /// A person is asked.
    Ask,
    /// The request is refused.
    Refuse,
}

/// A request that does not fit, with every limit in its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetStop {
    /// What follows: the strictest action of the budgets that were hit.
    pub action: StopAction,
    /// The limits, in the order of the path. At least one.
    pub hits: Vec<LimitHit>,
}

/// The decision about one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathDecision {
    /// It may be dispatched once the reservation is recorded.
    Reserve(PathReservation),
    /// It may not.
    Stop(BudgetStop),
}

/// Decides whether a request fits under all limits of its path, and returns the events that reserve it in every account.
///
/// A path without budgets has no limits. Warnings never stop a request.
#[must_use]
pub fn decide_reservation(path: &[PathAccount<'_>], request: &ReservationRequest) -> PathDecision {
    let hits: Vec<LimitHit> = path.iter().flat_map(|place| place.hits(request)).collect();
    if hits.is_empty() {
        PathDecision::Reserve(reservation(path, request))
    } else {
        PathDecision::Stop(BudgetStop { action: strictest(&hits), hits })
    }
}

/// Reserves a request that a person lets go on once: limits in its way are raised, in their current windows, by exactly the
/// amounts that are missing. `None` when that does not help: the model has no price under a limit on money, the share of
/// auxiliary calls is used up, or too many requests are in flight.
#[must_use]
pub fn reserve_once(path: &[PathAccount<'_>], request: &ReservationRequest) -> Option<PathReservation> {
    let mut raised = Vec::new();
    let mut changes = Vec::new();
    for place in path {
        let missing = place.missing(request)?;
        let mut account = place.account.clone();
        let mut events = Vec::new();
        if missing != UsageAmount::ZERO {
            events = account.top_up(missing, TopUpReason::GoOnOnce, place.span);
            events.iter().for_each(|event| account.evolve(event));
        }
        changes.push(AccountChange { account: *place.key, events });
        raised.push(account);
    }
    let path: Vec<PathAccount<'_>> =
        path.iter().zip(&raised).map(|(place, account)| PathAccount { account, ..*place }).collect();
    // A limit near the largest number cannot be raised by what is missing.
    if path.iter().any(|place| !place.hits(request).is_empty()) {
        return None;
    }
    let reserved = reservation(&path, request);
    for (change, reserving) in changes.iter_mut().zip(reserved.changes) {
        change.events.extend(reserving.events);
    }
    Some(PathReservation { changes, warnings: reserved.warnings })
}

fn reservation(path: &[PathAccount<'_>], request: &ReservationRequest) -> PathReservation {
    let change = |place: &PathAccount<'_>| AccountChange {
        account: *place.key,
        events: place.reservation_events(request),
    };
    PathReservation {
        changes: path.iter().map(change).collect(),
        warnings: path.iter().flat_map(|place| place.warnings(request)).collect(),
    }
}

fn strictest(hits: &[LimitHit]) -> StopAction {
    let has = |action: LimitAction| hits.iter().any(|hit| hit.action == action);
    if has(LimitAction::Refuse) {
        StopAction::Refuse
    } else if has(LimitAction::Ask) {
        StopAction::Ask
    } else {
        let resets: Option<Vec<Timestamp>> = hits.iter().map(|hit| hit.resets).collect();
        StopAction::Park { resume: resets.and_then(|times| times.into_iter().max()) }
    }
}

impl BudgetStop {
    /// Returns the reasons and the ways to go on, as people read them.
    #[must_use]
    pub fn explanation(&self) -> String {
        let mut text = String::new();
        for hit in &self.hits {
            let _ = write!(text, "{hit}. ");
        }
        match self.action {
            StopAction::Park { resume: Some(time) } => {
                let _ = write!(
                    text,
                    "The run waits until {}, or until you top the budget up or let it go on once",
                    shown(time)
                );
            }
            StopAction::Park { resume: None } => {
                text.push_str("The run waits until you top the budget up or let it go on once");
            }
            StopAction::Ask => {
                text.push_str("Top the budget up, let the run go on once, or cancel it");
            }
            StopAction::Refuse => text.push_str("The request was refused and not sent"),
        }
        text
    }
}

fn shown(time: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(time.0)
        .map_or_else(|_| "the end of the window".to_owned(), |time| time.to_string())
}

#[cfg(test)]
mod tests;
