//! A reserved request beside a run whose end is not recorded.

use palyra_governance::RequestOutcome;
use palyra_types::budget::{PursePath, ReservationId};

/// A reserved request beside a run whose end is not recorded.
#[derive(Debug, Clone)]
pub(super) struct UnsettledCall {
    pub(super) path: PursePath,
    pub(super) id: ReservationId,
    /// How it ended, as far as it is known.
    pub(super) outcome: RequestOutcome,
}
