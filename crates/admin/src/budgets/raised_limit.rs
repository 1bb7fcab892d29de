//! By how much limits are raised for a run that goes on once.

use palyra_governance::{BudgetName, PathReservation};
use palyra_types::Timestamp;
use palyra_types::budget::{AccountEvent, UsageAmount};

use super::placed_account::PlacedAccount;

/// A budget whose limits are raised so that a run can go on once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaisedLimit {
    /// Its name.
    pub budget: BudgetName,
    /// By how much.
    pub amount: UsageAmount,
    /// When the account begins again; `None` when it never does.
    pub until: Option<Timestamp>,
}

/// Returns what a reservation raises, in the order of its path.
pub(super) fn raised_limits(path: &[PlacedAccount<'_>], reservation: &PathReservation) -> Vec<RaisedLimit> {
    let raised = path.iter().zip(&reservation.changes).filter_map(|(placed, change)| {
        let amount = change.events.iter().find_map(|event| {
            if let AccountEvent::ToppedUp { amount, .. } = event { Some(*amount) } else { None }
        })?;
        let budget = placed.definition.name.clone();
        Some(RaisedLimit { budget, amount, until: placed.span.resets() })
    });
    raised.collect()
}
