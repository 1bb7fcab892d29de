//! Events of the log itself.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::proof::{ErasureReason, ReopenReason, SeqRange, TreeHead};
use crate::{Epoch, LogId, PrincipalId};

/// The log itself: its start, its epochs, erasures, and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEvent {
    /// The log's first entry.
    Opened {
        /// The log's id.
        log_id: LogId,
        /// The nonce behind it.
        nonce: [u8; 32],
        /// The first epoch's public key (Ed25519).
        first_key: [u8; 32],
    },
    /// A daemon started writing.
    EpochStarted {
        /// Its number.
        epoch: Epoch,
        /// Its public key (Ed25519).
        key: [u8; 32],
        /// Whether its payloads are sealed; `None` where an older daemon did not say.
        sealing: Option<EpochSealing>,
    },
    /// The content of earlier entries was erased; the entries themselves stay.
    Erased {
        /// Who wanted it.
        authoriser: PrincipalId,
        /// Why.
        reason: ErasureReason,
        /// Which entries, ascending, apart, all below this one; at most
        /// [`crate::proof::ERASURE_RANGES_MAX`].
        ranges: Vec<SeqRange>,
    },
    /// The log ended and another one begins over the same entries.
    Reopened {
        /// The new log's id (also in the envelope).
        log_id: LogId,
        /// The nonce behind it.
        nonce: [u8; 32],
        /// The new log's first public key (Ed25519).
        key: [u8; 32],
        /// The newest known head of the old log, given up with this.
        abandoned: TreeHead,
        /// Why.
        reason: ReopenReason,
    },
}

/// Whether the payloads of an epoch are sealed. It is in the tree, so nobody can mark a payload as sealed afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpochSealing {
    /// None is.
    Off,
    /// They are.
    On,
}
