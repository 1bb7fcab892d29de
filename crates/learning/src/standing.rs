//! Whether a candidate is applied, waits for a person, or is dropped.

use palyra_types::learning::{CandidateKind, HoldReason};
use palyra_types::tool::Taints;

use crate::find_candidates::FoundCandidate;
use crate::learning_config::LearningRuntimeConfig;

/// What becomes of a candidate that was just found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateStanding {
    /// It is applied at once.
    Applied,
    /// It waits for a person.
    PendingReview(HoldReason),
    /// It is not recorded: it is below the threshold for a review.
    Dropped,
}

/// Decides about a candidate. Tainted and sensitive ones are never applied without a person.
#[must_use]
pub fn decide_standing(
    candidate: &FoundCandidate,
    confidence_bps: u32,
    config: &LearningRuntimeConfig,
) -> CandidateStanding {
    use CandidateStanding::{Applied, Dropped, PendingReview};
    if confidence_bps < config.review_threshold_bps {
        return Dropped;
    }
    if candidate.is_sensitive || candidate.taints.has(Taints::SECRET) {
        return PendingReview(HoldReason::Sensitive);
    }
    match config.auto_write_threshold_bps(candidate.kind) {
        None => PendingReview(HoldReason::ByKind),
        Some(_) if candidate.taints != Taints::NONE => PendingReview(HoldReason::Tainted),
        Some(threshold) if confidence_bps < threshold => PendingReview(HoldReason::Unsure),
        Some(_) if candidate.kind == CandidateKind::Procedure => PendingReview(HoldReason::ByKind),
        Some(_) => Applied,
    }
}
