//! Events about effects that are not on a tape.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::effect::{EffectSettled, UndoRequested, UndoneFile};
use crate::{RunId, UndoId};

/// Outcomes of effects that are recorded beside the tape of their run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectEvent {
    /// What a person says became of an effect, beside the tape of its run.
    Settled(EffectSettled),
    /// What a run changed is about to be taken back.
    UndoRequested(UndoRequested),
    /// What became of taking it back.
    UndoFinished {
        /// Which one.
        undo: UndoId,
        /// The run.
        run: RunId,
        /// Its files.
        files: Vec<UndoneFile>,
    },
}
