//! References of inputs, as scripted: which inputs have some, and what these are.
//!
//! Owns when a runtime has to expand them: before the first request that shows the input, once.

use palyra_types::TapeSeq;
use palyra_types::context_reference::{ReferenceError, ReferenceKind, ReferenceLimits};
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent};

use super::{ScenarioDriver, ScriptedCall, StepCommit, asks, denied, read};
use crate::{ExpandedInput, ExpandedItem, ItemMeans, RunInput};

/// The numbers of the approvals that calls of references of the first input are asked under, less their place.
pub(crate) const APPROVALS_FROM: u32 = 900;

/// How far the numbers of the approvals of two inputs are apart.
const APPROVALS_STEP: u32 = 2_000_000;

/// Entries of which a random run can have references.
const RANDOM_ENTRIES_MAX: u32 = 400;

/// The references of the input of one entry.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedReferences {
    pub(crate) input: u32,
    pub(crate) items: Vec<ScriptedItem>,
}

/// One reference.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "scenarios hold a handful of them")]
pub(crate) enum ScriptedItem {
    Call(ScriptedCall),
    SameAs(u32),
    Refused(ReferenceError),
}

/// A driver whose input of this entry has references.
pub(crate) fn with_references(input: u32, items: &[ScriptedItem]) -> ScenarioDriver {
    let mut driver = ScenarioDriver::new();
    driver.references.push(ScriptedReferences { input, items: items.to_vec() });
    driver
}

/// The references of the inputs of a random run: some of its entries have some, if they are inputs.
pub(crate) fn some_references(seed: u32) -> Vec<ScriptedReferences> {
    let some = |input: u32| {
        let items = match (input + seed) % 7 {
            0 => vec![ScriptedItem::Call(read("a"))],
            1 => vec![
                ScriptedItem::Call(read("b")),
                ScriptedItem::SameAs(0),
                ScriptedItem::Call(denied("web")),
            ],
            2 => vec![ScriptedItem::Refused(ReferenceError::OutsideOfWorkspace)],
            3 => vec![ScriptedItem::Call(asks::asking("web")), ScriptedItem::Call(read("a"))],
            _ => return None,
        };
        Some(ScriptedReferences { input, items })
    };
    (1..=RANDOM_ENTRIES_MAX).filter_map(some).collect()
}

/// The input by which a runtime says what the references of an entry are.
pub(crate) fn expanded(input: u32, items: &[ScriptedItem]) -> RunInput {
    RunInput::ReferencesExpanded(vec![ScriptedReferences { input, items: items.to_vec() }.expanded()])
}

impl ScriptedReferences {
    fn expanded(&self) -> ExpandedInput {
        let first = APPROVALS_FROM + APPROVALS_STEP * self.input.saturating_sub(1);
        let items = (first..).zip(&self.items).map(|(approval, item)| ExpandedItem {
            kind: ReferenceKind::File,
            written: "@file:a".into(),
            means: match item {
                ScriptedItem::Call(call) => ItemMeans::Call(Box::new(call.judged(asks::approval(approval)))),
                ScriptedItem::SameAs(place) => ItemMeans::SameAs(*place),
                ScriptedItem::Refused(error) => ItemMeans::Refused(*error),
            },
        });
        ExpandedInput {
            input: TapeSeq(self.input),
            items: items.collect(),
            surplus: 0,
            limits: ReferenceLimits::default(),
        }
    }
}

impl ScenarioDriver {
    /// Returns what a runtime answers to a context request while an input has references that nothing has resolved.
    pub(super) fn expansion(&self, commit: &StepCommit) -> Option<RunInput> {
        let events: Vec<&TapeEvent> =
            self.tape.iter().map(|(event, _)| event).chain(&commit.events).collect();
        let is_due = |references: &&ScriptedReferences| {
            let after = usize::try_from(references.input).ok().and_then(|from| events.get(from..));
            let entry = usize::try_from(references.input).ok().and_then(|at| events.get(at.checked_sub(1)?));
            let is_input = entry.is_some_and(|event| {
                matches!(event, TapeEvent::Run(RunEvent::Started(_) | RunEvent::InputReceived { .. }))
            });
            let over = |event: &&TapeEvent| match event {
                TapeEvent::Run(RunEvent::ReferencesExpanded(expanded)) => {
                    expanded.input.0 == references.input
                }
                TapeEvent::Model(ModelEvent::Requested(_)) => true,
                _ => false,
            };
            is_input && after.is_some_and(|after| !after.iter().any(over))
        };
        let due: Vec<ExpandedInput> =
            self.references.iter().filter(is_due).map(ScriptedReferences::expanded).collect();
        (!due.is_empty()).then_some(RunInput::ReferencesExpanded(due))
    }
}
