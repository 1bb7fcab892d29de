//! Random events about references of inputs.

use palyra_types::context_reference::{
    ExpandedReference, ReferenceError, ReferenceKind, ReferenceLimits, ReferenceMeans, ReferencesExpanded,
};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::{EffectId, TapeSeq};

use super::RandomAppends;

impl RandomAppends {
    pub(super) fn references_event(&mut self) -> TapeEvent {
        let count = self.number();
        TapeEvent::Run(RunEvent::ReferencesExpanded(ReferencesExpanded {
            input: TapeSeq(self.number()),
            items: (0..count).map(|_| self.reference()).collect(),
            surplus: self.number(),
            limits: ReferenceLimits { item_tokens: self.number().into(), total_tokens: self.number().into() },
            written: (0..count).map(|_| self.text()).collect(),
        }))
    }

    fn reference(&mut self) -> ExpandedReference {
        // No effect has the number 0.
        let effect = EffectId(self.number() + 1);
        let place = self.number();
        let error = self.one_of(&ReferenceError::ALL);
        let means = self.one_of(&[
            ReferenceMeans::Call(effect),
            ReferenceMeans::SameAs(place),
            ReferenceMeans::Refused(error),
        ]);
        ExpandedReference { kind: self.one_of(&ReferenceKind::ALL), means }
    }
}
