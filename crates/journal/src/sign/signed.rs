//! A head on its way from the tree to those who ask for it.

use std::sync::Arc;

use palyra_ledger::{Checkpoint, EpochKey, NodeHash};
use palyra_types::proof::{SignedCheckpoint, TreeHead};
use palyra_types::{LogId, Timestamp};

/// Why a head was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignedAs {
    /// To say how far the log has come.
    Head,
    /// To vouch for a new key; kept for ever.
    Handover,
    /// To vouch for the epochs of format 1, which nothing else does; kept for ever.
    FirstOfFormat1,
}

/// A signed head, with what decides how long it is kept.
#[derive(Debug, Clone)]
pub(crate) struct SignedHead {
    pub(crate) checkpoint: SignedCheckpoint,
    pub(crate) signed_as: SignedAs,
    pub(crate) time: Timestamp,
}

impl SignedHead {
    pub(crate) fn size(&self) -> u64 {
        self.checkpoint.head.size
    }
}

/// Signs a committed head with one key, or with older ones and the newest for a handover.
pub(crate) fn sign(log_id: LogId, head: TreeHead, keys: &[&EpochKey], time: Timestamp) -> SignedHead {
    let checkpoint = Checkpoint { log_id, size: head.size, root: NodeHash(head.root) };
    let note = Arc::from(checkpoint.sign(keys).encode());
    let signed_as = if keys.len() > 1 { SignedAs::Handover } else { SignedAs::Head };
    SignedHead { checkpoint: SignedCheckpoint { log_id, head, note }, signed_as, time }
}
