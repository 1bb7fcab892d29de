//! Events about effects that are not on a tape.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::content_walk::ContentClass::{Fixed, Identity, Prose};
use crate::content_walk::content_rows;
use crate::effect::{EffectSettled, KeptPlacement, UndoRequested, UndoResult, UndoneFile};
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

content_rows! {
    fn effect_event(walk, event: EffectEvent) {
        match event {
            EffectEvent::Settled(EffectSettled { run: _, effect: _, resolution: _, by: _, note }) => {
                walk.text(Prose, "note", note);
            }
            EffectEvent::UndoRequested(UndoRequested { undo: _, run: _, paths, kept }) => {
                walk.each(paths, |walk, path| walk.text(Identity, "paths", path));
                // That a kept file is put in place is a fact: an erased placement stays one of nothing.
                if let Some(KeptPlacement { file, sha256, before }) = kept {
                    walk.text(Fixed, "kept.file", file);
                    walk.opaque(Fixed, "kept.sha256", sha256);
                    walk.each(before, |walk, digest| {
                        walk.maybe(digest, |walk, digest| walk.opaque(Fixed, "kept.before", digest));
                    });
                }
            }
            EffectEvent::UndoFinished { undo: _, run: _, files } => {
                walk.each(files, |walk, UndoneFile { path, result }| {
                    walk.text(Identity, "files.path", path);
                    match result {
                        UndoResult::Conflict(difference) => walk.text(Prose, "files.conflict", difference),
                        UndoResult::Failed(failure) => walk.text(Prose, "files.failed", failure),
                        UndoResult::Restored | UndoResult::AlreadyRestored | UndoResult::Withheld => {}
                    }
                });
            }
        }
    }
}
