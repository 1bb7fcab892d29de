//! The references of one input within a transcript: their calls, and how a model reads them.

use std::collections::BTreeSet;

use palyra_types::context_reference::{
    ExpandedReference, ReferenceError, ReferenceMeans, ReferencesExpanded,
};
use palyra_types::model::BYTES_PER_TOKEN_ESTIMATED;
use palyra_types::{EffectId, Redacted, TapeSeq};

use super::{CallKey, EDITED, NOT_RECORDED, ReferenceMessage, TranscriptCall};
use crate::data_key::{DataKey, DataPart};
use crate::plan::LeftOut;
use crate::references::{
    PreviewItem, PreviewedInput, PreviewedReference, ProposedCall, ReferenceCost, ReferenceItem,
    ReferenceOutcome, ResolvedReferences, preview_context_references, render_context_reference_prompt,
};

/// The references of one input.
#[derive(Debug, Clone)]
pub(super) struct InputReferences {
    expanded: ReferencesExpanded,
    /// The entry that says what they became.
    entry: TapeSeq,
    /// Their calls, as far as they were proposed.
    pub(super) calls: Vec<TranscriptCall>,
}

impl InputReferences {
    pub(super) fn new(expanded: &ReferencesExpanded, entry: TapeSeq) -> Self {
        Self { expanded: expanded.clone(), entry, calls: Vec::new() }
    }

    /// Returns whether a call is one of them.
    pub(super) fn has_call(&self, effect: EffectId) -> bool {
        self.expanded.calls().any(|call| call == effect)
    }

    /// Returns what a model reads of them; empty once they are erased.
    pub(super) fn render(&self, key: &DataKey) -> Redacted<String> {
        if self.expanded.written.is_empty() {
            return Redacted::default();
        }
        render_context_reference_prompt(&self.resolved(), key)
    }

    /// Returns what the plan of a request says of their message, which has this place.
    pub(super) fn message_at(&self, at: usize) -> ReferenceMessage {
        let costs = preview_context_references(&self.resolved()).items;
        let cut: Vec<u64> = costs
            .iter()
            .map(|cost| cost.tokens_whole.saturating_sub(cost.tokens_shown))
            .filter(|tokens| *tokens > 0)
            .collect();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let bytes = cut.iter().sum::<u64>().saturating_mul(BYTES_PER_TOKEN_ESTIMATED);
        let left_out = LeftOut { items: count(cut.len()), bytes };
        ReferenceMessage { at, items: count(costs.len()), left_out }
    }

    /// Returns what they cost, as far as their calls were made; `unmade` are those that the caller did not make.
    pub(super) fn preview(&self, unmade: &BTreeSet<EffectId>) -> PreviewedInput {
        let preview = preview_context_references(&self.resolved());
        let items = self.expanded.items.iter().zip(&self.expanded.written).zip(preview.items);
        let mut references = Vec::new();
        for ((item, written), cost) in items {
            let call = match item.means {
                ReferenceMeans::Call(effect) => self.call(effect),
                ReferenceMeans::SameAs(_) | ReferenceMeans::Refused(_) => None,
            };
            let cost = self.cost(*item, cost, unmade);
            let call =
                call.map(|call| ProposedCall { tool: call.tool.clone(), arguments: call.arguments.clone() });
            references.push(PreviewedReference { kind: item.kind, written: written.clone(), call, cost });
        }
        PreviewedInput { references, tokens_shown: preview.tokens_shown, surplus: preview.surplus }
    }

    fn cost(&self, item: ExpandedReference, cost: PreviewItem, unmade: &BTreeSet<EffectId>) -> ReferenceCost {
        let is_open = |effect| self.call(effect).is_none_or(|call| call.result.is_none());
        match item.means {
            ReferenceMeans::SameAs(place) => ReferenceCost::SameAs(place),
            ReferenceMeans::Call(effect) if unmade.contains(&effect) || is_open(effect) => {
                ReferenceCost::AfterCall
            }
            ReferenceMeans::Call(_) | ReferenceMeans::Refused(_) => {
                let known = ReferenceCost::Known { whole: cost.tokens_whole, shown: cost.tokens_shown };
                cost.error.map_or(known, ReferenceCost::Failed)
            }
        }
    }

    fn resolved(&self) -> ResolvedReferences {
        let mut items = Vec::new();
        for ((item, written), place) in self.expanded.items.iter().zip(&self.expanded.written).zip(0..) {
            let mut part = DataPart { entry: self.entry, place };
            let outcome = match item.means {
                ReferenceMeans::Call(effect) => match self.call(effect) {
                    Some(call) => {
                        part = call.proposed;
                        outcome_of(call)
                    }
                    None => unknown(),
                },
                ReferenceMeans::SameAs(earlier) => {
                    ReferenceOutcome::SameAs(usize::try_from(earlier).unwrap_or(usize::MAX))
                }
                ReferenceMeans::Refused(error) => {
                    ReferenceOutcome::Failed { error, detail: Redacted::default() }
                }
            };
            items.push(ReferenceItem { kind: item.kind, written: written.clone(), part, outcome });
        }
        ResolvedReferences { items, surplus: self.expanded.surplus, limits: self.expanded.limits }
    }

    fn call(&self, effect: EffectId) -> Option<&TranscriptCall> {
        self.calls.iter().find(|call| call.key == CallKey::Effect(effect))
    }
}

/// What is said of a call without an outcome.
fn unknown() -> ReferenceOutcome {
    ReferenceOutcome::Failed { error: ReferenceError::Failed, detail: NOT_RECORDED.into() }
}

fn outcome_of(call: &TranscriptCall) -> ReferenceOutcome {
    let Some(result) = &call.result else { return unknown() };
    let text = result.text.clone();
    let text = match &call.edited {
        None => text,
        Some(edited) => edited.clone().zip(text).map(|(edited, text)| format!("{EDITED} {edited}\n{text}")),
    };
    match result.failure {
        None => ReferenceOutcome::Resolved(text),
        Some(error) => ReferenceOutcome::Failed { error, detail: text },
    }
}
