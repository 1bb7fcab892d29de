//! What became of effects: those whose outcome nobody knows, and what the run has read.
//!
//! Owns both as facts of the tape. Whether the run waits for them is the machine's.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::EffectId;
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::tool::{Taints, ToolVerdict};

/// Doubts and taints of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EffectTracker {
    unknown: BTreeSet<EffectId>,
    taints: Taints,
    /// What the run had read when the model answered last.
    answered_with: Taints,
    /// What the output of an allowed call would bring; forgotten with its outcome.
    bring: BTreeMap<EffectId, Taints>,
}

impl EffectTracker {
    /// Returns the effects whose outcome nobody knows and nobody said, in order.
    pub fn unknown(&self) -> impl Iterator<Item = EffectId> {
        self.unknown.iter().copied()
    }

    /// Returns whether nobody knows the outcome of this effect, and nobody said it.
    #[must_use]
    pub fn is_unknown(&self, effect: EffectId) -> bool {
        self.unknown.contains(&effect)
    }

    /// Returns what the run has read; it only grows.
    #[must_use]
    pub fn taints(&self) -> Taints {
        self.taints
    }

    /// Returns what the run had read when the model answered last: what its open calls can depend on.
    #[must_use]
    pub fn answered_with(&self) -> Taints {
        self.answered_with
    }

    pub(crate) fn evolve(&mut self, event: &TapeEvent) {
        match event {
            TapeEvent::Run(RunEvent::Started(started)) => self.taints = self.taints.with(started.taints),
            TapeEvent::Tool(ToolEvent::Decided(decided)) => match decided.verdict {
                ToolVerdict::Allow | ToolVerdict::Ask => {
                    self.bring.insert(decided.effect, decided.taints);
                }
                ToolVerdict::Deny => {
                    self.bring.remove(&decided.effect);
                }
            },
            TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                let brought = self.bring.remove(&finished.effect).unwrap_or_default();
                self.taints = self.taints.with(brought).with(finished.taints);
            }
            // What a client's functions return is a tool's output that nothing here made.
            TapeEvent::Run(RunEvent::ClientToolsAnswered(_)) => self.taints = self.taints.with(Taints::TOOL),
            TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => {
                self.bring.remove(effect);
                self.unknown.insert(*effect);
            }
            TapeEvent::Tool(ToolEvent::EffectResolved { effect, .. }) => {
                self.unknown.remove(effect);
            }
            // References depend on no answer: what was read until then is what their calls can depend on.
            TapeEvent::Model(ModelEvent::Message(_)) | TapeEvent::Run(RunEvent::ReferencesExpanded(_)) => {
                self.answered_with = self.taints;
            }
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(ToolEvent::Proposed(_) | ToolEvent::Started(_) | ToolEvent::Output(_))
            | TapeEvent::Approval(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }
}
