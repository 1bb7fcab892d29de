//! Runs that wait for a budget.
//!
//! Owns when such a run tries again: at the end of the windows in its way, and when its request fits by now.

use palyra_governance::{PathDecision, decide_reservation};
use palyra_types::Timestamp;
use palyra_types::budget::{PursePath, ReservationRequest};
use palyra_types::session::SessionRef;

use super::placed_account::PlacedAccount;

/// A run whose next model request does not fit under a budget.
#[derive(Debug, Clone)]
pub struct WaitingRun {
    /// Its session.
    pub session: SessionRef,
    /// The purses that it draws on.
    pub path: PursePath,
    /// The request.
    pub request: ReservationRequest,
    /// The requests to models of its chain that it waits for as well: it tries again when one of them fits.
    pub alternatives: Vec<ReservationRequest>,
    /// When the accounts in its way begin again.
    pub resumes: Option<Timestamp>,
    /// Whether a person is asked: then it tries again only once a person has changed a budget.
    pub asks: bool,
    /// How often budgets had been changed when it began to wait.
    pub(super) seen_changes: u64,
}

impl WaitingRun {
    /// Makes one from a stop of its request.
    #[must_use]
    pub fn new(session: SessionRef, path: PursePath, request: ReservationRequest) -> Self {
        let alternatives = Vec::new();
        Self { session, path, request, alternatives, resumes: None, asks: false, seen_changes: 0 }
    }

    pub(super) fn may_try_again(&self, changes: u64) -> bool {
        !self.asks || changes != self.seen_changes
    }

    pub(super) fn fits(&self, path: &[PlacedAccount<'_>]) -> bool {
        let places: Vec<_> = path.iter().map(PlacedAccount::place).collect();
        let mut requests = std::iter::once(&self.request).chain(&self.alternatives);
        requests.any(|request| matches!(decide_reservation(&places, request), PathDecision::Reserve(_)))
    }
}
