//! What a caller asks of a verification.

use crate::note::{CheckpointNote, VerifierKey};
use crate::sealed::StateKeys;

/// Told now and then: what is being done, and the number of the entry it is at.
pub type ProgressFn = dyn FnMut(&'static str, u64);

/// What to verify against, beside the log itself.
#[derive(Default)]
pub struct VerifyOptions {
    /// A key that the caller trusts.
    pub key: Option<VerifierKey>,
    /// A checkpoint that the caller kept.
    pub since: Option<KeptCheckpoint>,
    /// Keys of sealed payloads.
    pub keys: Option<StateKeys>,
    /// Whom to tell about progress.
    pub progress: Option<Box<ProgressFn>>,
}

/// A checkpoint that the caller kept; its signatures do not matter, the caller's word does.
#[derive(Debug, Clone)]
pub struct KeptCheckpoint(pub(crate) CheckpointNote);

/// A text is no checkpoint of a Palyra log.
#[derive(Debug, thiserror::Error)]
#[error("it is not a checkpoint of a Palyra log")]
pub struct ParseCheckpointError;

impl std::str::FromStr for KeptCheckpoint {
    type Err = ParseCheckpointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        CheckpointNote::parse(text).map(Self).ok_or(ParseCheckpointError)
    }
}
