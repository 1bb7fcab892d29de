//! The settings of learning.

use palyra_types::learning::CandidateKind;

use crate::confidence::FULL_CONFIDENCE_BPS;

/// What is learned, and from which confidence on it is applied without a person. All figures are basis points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LearningRuntimeConfig {
    /// Whether anything is learned, and whether runs are given learned preferences.
    pub is_enabled: bool,
    /// How many of the finished runs are looked at.
    pub sampling_bps: u32,
    /// From here on a fact is applied.
    pub fact_auto_write_threshold_bps: u32,
    /// From here on a preference is applied.
    pub preference_auto_write_threshold_bps: u32,
    /// From here on a procedure is applied; `None` for never.
    pub procedure_auto_write_threshold_bps: Option<u32>,
    /// Below it a candidate is dropped.
    pub review_threshold_bps: u32,
}

impl Default for LearningRuntimeConfig {
    fn default() -> Self {
        Self {
            is_enabled: true,
            sampling_bps: FULL_CONFIDENCE_BPS,
            fact_auto_write_threshold_bps: 9_000,
            preference_auto_write_threshold_bps: 9_200,
            procedure_auto_write_threshold_bps: None,
            review_threshold_bps: 0,
        }
    }
}

impl LearningRuntimeConfig {
    /// Returns the settings with which nothing is learned.
    #[must_use]
    pub fn disabled() -> Self {
        Self { is_enabled: false, ..Self::default() }
    }

    /// Returns from which confidence on a kind is applied; `None` for never.
    #[must_use]
    pub fn auto_write_threshold_bps(&self, kind: CandidateKind) -> Option<u32> {
        match kind {
            CandidateKind::Fact => Some(self.fact_auto_write_threshold_bps),
            CandidateKind::Preference => Some(self.preference_auto_write_threshold_bps),
            CandidateKind::Procedure => self.procedure_auto_write_threshold_bps,
        }
    }

    /// Returns whether a run is looked at, by a number that is different for each run and evenly spread.
    #[must_use]
    pub fn is_sampled(&self, number: u64) -> bool {
        number % u64::from(FULL_CONFIDENCE_BPS) < u64::from(self.sampling_bps)
    }
}
