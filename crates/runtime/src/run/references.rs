//! Lets the references of inputs become proposals, judged as those of a model are.

use palyra_context::references::{PlannedInput, PlannedItem};
use palyra_run_core::{ExpandedInput, ExpandedItem, ItemMeans};
use palyra_types::context_reference::{ReferenceError, ReferenceLimits};

use crate::run::call_evaluator::CallEvaluator;

/// Judges the calls that references need, in the order in which they are written.
pub(super) fn expand(
    judging: &mut CallEvaluator<'_>,
    planned: Vec<PlannedInput>,
    limits: ReferenceLimits,
) -> Vec<ExpandedInput> {
    let proposals = planned.iter().flat_map(PlannedInput::proposals).collect();
    let mut judged = judging.proposals(proposals).into_iter();
    let mut inputs = Vec::with_capacity(planned.len());
    for PlannedInput { input, references, surplus } in planned {
        let items = references.into_iter().map(|reference| {
            let means = match reference.item {
                PlannedItem::Call(_) => judged.next().map(|call| ItemMeans::Call(Box::new(call))),
                PlannedItem::SameAs(place) => u32::try_from(place).ok().map(ItemMeans::SameAs),
                PlannedItem::Refused(error) => Some(ItemMeans::Refused(error)),
            };
            let means = means.unwrap_or(ItemMeans::Refused(ReferenceError::Failed));
            ExpandedItem { kind: reference.kind, written: reference.written, means }
        });
        let items = items.collect();
        inputs.push(ExpandedInput { input, items, surplus, limits });
    }
    inputs
}
