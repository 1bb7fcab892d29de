//! What policies that are only tried out would have decided: counts, and examples of what differs.

use crate::tool::ToolVerdict;
use crate::{EffectId, RunId, Timestamp};

/// Examples that one count keeps, at most.
pub const SHADOW_EXAMPLES_MAX: usize = 32;

/// All that was counted of one candidate so far. A later count of the same candidate replaces an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShadowCounts {
    /// Digest of the candidate's files.
    pub candidate: [u8; 32],
    /// Since when it is compared.
    pub since: Timestamp,
    /// Decisions that were compared.
    pub judged: u64,
    /// Of those, the same.
    pub same: u64,
    /// It would allow.
    pub newly_allowed: u64,
    /// It would ask.
    pub newly_asked: u64,
    /// It would deny.
    pub newly_denied: u64,
    /// Decisions that were not compared, because too many came at once.
    pub missed: u64,
    /// The newest that differ, newest first, at most [`SHADOW_EXAMPLES_MAX`].
    pub examples: Vec<ShadowExample>,
}

/// A decision that the candidate would have made otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShadowExample {
    /// The run.
    pub run: RunId,
    /// The effect.
    pub effect: EffectId,
    /// What was decided.
    pub was: ToolVerdict,
    /// What the candidate would have decided.
    pub would_be: ToolVerdict,
}
