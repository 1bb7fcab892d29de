//! The question to a person whether a call may run: exactly what would run.

use palyra_types::approval::{ApprovalPromptRecord, ApprovalRequested, AtExpiry};
use palyra_types::event::{ApprovalEvent, ContentDigest, TapeEvent};
use palyra_types::tool::{ToolDecision, ToolVerdict};
use palyra_types::{ApprovalId, EffectId, Redacted};

use super::step::Step;
use crate::input::PreparedEffect;

/// Bytes of arguments in the line that says what a call does, at most; a tool that is prepared says it better.
const SUMMARY_ARGUMENTS_BYTES_MAX: usize = 160;

/// Why it is asked again, or was withdrawn.
pub(super) const CHANGED: &str = "what the call would do changed after it was asked";

/// What makes a question about a call.
pub(super) struct PromptSource<'a> {
    pub(super) approval: ApprovalId,
    pub(super) binding: ContentDigest,
    pub(super) prepared: Option<&'a PreparedEffect>,
    pub(super) asked_again: &'static str,
    /// Why policy asks, where that is not what the call was decided by.
    pub(super) reason: Option<&'a Redacted<String>>,
}

/// Asks a person about a call.
pub(super) fn ask(step: &mut Step, effect: EffectId, asking: &PromptSource<'_>) {
    let Some(call) = step.machine.tools.get(effect) else { return };
    let terms = call.ask.map(|(terms, _)| terms).unwrap_or_default();
    let arguments = call.arguments.clone().map(canonical);
    let (summary, preview, unbound) = match asking.prepared {
        Some(prepared) => (prepared.summary.clone(), prepared.preview.clone(), prepared.unbound.clone()),
        None => (summary((&call.tool).into(), arguments.clone()), Redacted::default(), Redacted::default()),
    };
    let requested = ApprovalRequested {
        approval: asking.approval,
        effect,
        binding: asking.binding,
        risk: call.terms.risk,
        terms,
        expires: match terms.at_expiry {
            AtExpiry::Deny => Some(step.now.after(terms.span)),
            AtExpiry::Park => None,
        },
        policy_digest: call.terms.policy_digest,
        prompt: ApprovalPromptRecord {
            tool: (&call.tool).into(),
            arguments,
            summary,
            preview,
            reason: asking.reason.unwrap_or(&call.explanation).clone(),
            unbound,
            asked_again: asking.asked_again.into(),
        },
    };
    step.record(TapeEvent::Approval(ApprovalEvent::Requested(Box::new(requested))));
}

/// Asks once more, because what would run is no longer what was asked; with the reason that policy has by now.
pub(super) fn ask_again(
    step: &mut Step,
    effect: EffectId,
    fresh: ApprovalId,
    prepared: &PreparedEffect,
    judged: &ToolDecision,
) {
    let binding = prepared.plan.binding;
    let reason = (judged.verdict == ToolVerdict::Ask).then_some(&judged.explanation);
    let asking =
        PromptSource { approval: fresh, binding, prepared: Some(prepared), asked_again: CHANGED, reason };
    ask(step, effect, &asking);
}

/// Writes arguments as canonical JSON; what is no JSON stays as it is.
fn canonical(arguments: String) -> String {
    match serde_json::from_str::<serde_json::Value>(&arguments) {
        Ok(mut value) => {
            // Whether a map keeps the order of its text is a choice that another crate may make for all of us.
            value.sort_all_objects();
            value.to_string()
        }
        Err(_) => arguments,
    }
}

fn summary(tool: Redacted<String>, arguments: Redacted<String>) -> Redacted<String> {
    tool.zip(arguments).map(|(tool, arguments)| {
        let end = arguments.floor_char_boundary(SUMMARY_ARGUMENTS_BYTES_MAX);
        let (kept, left_out) = (&arguments[..end], if end < arguments.len() { "…" } else { "" });
        format!("{tool} {kept}{left_out}")
    })
}
