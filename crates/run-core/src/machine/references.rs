//! References of an input become calls before the first model request that shows it.
//!
//! Owns their record and nothing of the calls, which go the way of those that a model proposes. Invariant: an input is
//! expanded once, and its calls have outcomes before a request shows it.

use palyra_types::context_reference::{
    ExpandedReference, REFERENCES_MAX, ReferenceMeans, ReferencesExpanded,
};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::tool::DecisionReason;

use super::proceed::{may_ask_model, proceed};
use super::step::Step;
use super::{RunStateMachine, calls};
use crate::input::{ExpandedInput, ExpandedItem, ItemMeans, JudgedCall};

/// Returns whether these inputs wait for their references to be expanded. A run with functions of its client has no
/// tools, so it has no references.
pub(super) fn fits(machine: &RunStateMachine, inputs: &[ExpandedInput]) -> bool {
    let in_order = inputs.is_sorted_by(|a, b| a.input < b.input);
    let awaited = |expanded: &ExpandedInput| {
        machine.received.is_unexpanded(expanded.input)
            && expanded.items.len() <= REFERENCES_MAX
            && expanded.items.iter().enumerate().all(|(place, item)| is_resolvable(expanded, place, item))
    };
    let asked = may_ask_model(machine) && !machine.client.is_offered();
    asked && !inputs.is_empty() && in_order && inputs.iter().all(awaited)
}

/// An item that is the same as another one needs that one's call.
fn is_resolvable(expanded: &ExpandedInput, place: usize, item: &ExpandedItem) -> bool {
    match item.means {
        ItemMeans::SameAs(earlier) => usize::try_from(earlier).is_ok_and(|earlier| {
            earlier < place && matches!(expanded.items[earlier].means, ItemMeans::Call(_))
        }),
        ItemMeans::Call(_) | ItemMeans::Refused(_) => true,
    }
}

impl Step {
    /// Records what the references of inputs became, and goes on with their calls.
    pub(super) fn expand_references(&mut self, inputs: &[ExpandedInput]) {
        for input in inputs {
            self.expand_input(input);
        }
        proceed(self);
    }

    fn expand_input(&mut self, expanded: &ExpandedInput) {
        let mut calls: Vec<JudgedCall> = Vec::new();
        let mut next = self.machine.tools.next_effect();
        let items = expanded.items.iter().map(|item| {
            let means = match &item.means {
                ItemMeans::Call(call) => {
                    let effect = next;
                    next = next.next();
                    calls.push((**call).clone());
                    ReferenceMeans::Call(effect)
                }
                ItemMeans::SameAs(place) => ReferenceMeans::SameAs(*place),
                ItemMeans::Refused(error) => ReferenceMeans::Refused(*error),
            };
            ExpandedReference { kind: item.kind, means }
        });
        let items = items.collect();
        self.record(TapeEvent::Run(RunEvent::ReferencesExpanded(ReferencesExpanded {
            input: expanded.input,
            items,
            surplus: expanded.surplus,
            limits: expanded.limits,
            written: expanded.items.iter().map(|item| item.written.clone()).collect(),
        })));
        // Unlike calls of a model, these end no run: the model reads which items were left out.
        let fits = self.machine.budget.fits_calls(calls.len());
        calls::record_calls(self, &calls, (!fits).then_some(DecisionReason::BudgetExhausted));
    }
}
