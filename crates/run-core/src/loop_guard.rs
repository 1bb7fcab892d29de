//! Notices a run that goes round in circles.
//!
//! Owns counts of equal calls with equal results since the last word of a person. Works on digests only.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::EffectId;
use palyra_types::event::{ContentDigest, LoopGuard, RunEvent, TapeEvent, ToolEvent};
use palyra_types::tool::ToolVerdict;

/// The same call with the same result, so often, parks the run.
pub const SAME_RESULT_REPEATS_MAX: u32 = 3;

/// The same failure, so often, parks the run.
pub const SAME_FAILURE_REPEATS_MAX: u32 = 5;

/// Counts repetitions. Bounded by the run's limit on tool calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopCounts {
    calls: BTreeMap<EffectId, ContentDigest>,
    results: BTreeMap<(ContentDigest, ContentDigest), u32>,
    failures: BTreeMap<ContentDigest, u32>,
    /// Calls of references, which a person asked for: they are not counted.
    references: BTreeSet<EffectId>,
}

impl LoopCounts {
    /// Returns the guard that speaks, with its count.
    #[must_use]
    pub fn verdict(&self) -> Option<(LoopGuard, u32)> {
        let most = |counts: &mut dyn Iterator<Item = u32>| counts.max().unwrap_or(0);
        let same_result = most(&mut self.results.values().copied());
        if same_result >= SAME_RESULT_REPEATS_MAX {
            return Some((LoopGuard::SameResult, same_result));
        }
        let same_failure = most(&mut self.failures.values().copied());
        (same_failure >= SAME_FAILURE_REPEATS_MAX).then_some((LoopGuard::SameFailure, same_failure))
    }

    pub(crate) fn evolve(&mut self, event: &TapeEvent) {
        match event {
            TapeEvent::Run(RunEvent::ReferencesExpanded(expanded)) => {
                self.references.extend(expanded.calls());
            }
            TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
                if !self.references.remove(&proposed.effect) {
                    self.calls.insert(proposed.effect, proposed.call_digest);
                }
            }
            TapeEvent::Tool(ToolEvent::Decided(decided)) => {
                match decided.verdict {
                    ToolVerdict::Allow | ToolVerdict::Ask => return,
                    ToolVerdict::Deny => {}
                }
                let Some(call) = self.calls.remove(&decided.effect) else { return };
                *self.failures.entry(call).or_default() += 1;
            }
            TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                let Some(call) = self.calls.remove(&finished.effect) else { return };
                match finished.failure {
                    None => *self.results.entry((call, finished.output_digest)).or_default() += 1,
                    Some(_) => {
                        // A failure without a text of its own is the same only for the same call.
                        let nothing = finished.output_digest == ContentDigest::default();
                        let failure = if nothing { call } else { finished.output_digest };
                        *self.failures.entry(failure).or_default() += 1;
                    }
                }
            }
            // A person looked: what came before does not count again.
            TapeEvent::Run(RunEvent::InputReceived { .. }) => *self = Self::default(),
            TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => {
                self.calls.remove(effect);
            }
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(
                ToolEvent::Started(_) | ToolEvent::Output(_) | ToolEvent::EffectResolved { .. },
            )
            | TapeEvent::Approval(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }
}
