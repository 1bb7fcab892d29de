//! The labels of the content that a run has read, as its tape has them.

use std::collections::BTreeMap;

use palyra_types::EffectId;
use palyra_types::event::{RunEvent, TapeEvent, ToolEvent};
use palyra_types::tool::Taints;

/// The labels of a tape, entry after entry: those of a call count once its output came.
#[derive(Debug, Default)]
pub struct TaintsRead {
    of_calls: BTreeMap<EffectId, Taints>,
    taints: Taints,
}

impl TaintsRead {
    /// Takes the next event of the tape.
    pub fn take(&mut self, event: &TapeEvent) {
        if let TapeEvent::Run(RunEvent::Started(started)) = event {
            self.taints = self.taints.with(started.taints);
        } else if let TapeEvent::Tool(ToolEvent::Decided(decided)) = event {
            self.of_calls.insert(decided.effect, decided.taints);
        } else if let TapeEvent::Tool(ToolEvent::Finished(finished)) = event {
            let of_call = self.of_calls.remove(&finished.effect).unwrap_or_default();
            self.taints = self.taints.with(of_call).with(finished.taints);
        } else if matches!(event, TapeEvent::Run(RunEvent::ClientToolsAnswered(_))) {
            self.taints = self.taints.with(Taints::TOOL);
        }
    }

    /// Returns the labels of all that was read.
    #[must_use]
    pub fn taints(&self) -> Taints {
        self.taints
    }
}
