//! The verdict on one tool call.
//!
//! Owns the order of the stations: name, arguments, rules. Invariant: the only way to
//! [`ToolVerdict::Allow`] leads through all three.

use palyra_types::Redacted;
use palyra_types::tool::{
    DecisionReason, EffectContract, Parallelism, ToolCall, ToolDecision, ToolSpec, ToolVerdict,
};

use crate::arguments::parse_arguments;
use crate::quote::{listed, quoted};
use crate::rules::{PermitRule, evaluate_with_config};
use crate::schema::ArgumentsSchema;
use crate::snapshot::ToolCallPolicySnapshot;

const TOOLS_LISTED_MAX: usize = 40;

/// Why a call is not permitted.
struct Refusal {
    reason: DecisionReason,
    explanation: String,
}

/// Judges one call against one snapshot; denies whatever no rule permits.
#[must_use]
pub fn decide_tool_call(snapshot: &ToolCallPolicySnapshot, call: &ToolCall) -> ToolDecision {
    let Some((tool, schema)) = snapshot.tool(&call.tool) else {
        return decision(snapshot, None, Err(unknown_tool(snapshot, call)));
    };
    let judged = evaluate_tool_proposal_security(snapshot, (tool, schema), call)
        .map(|rule| format!("`{}` is permitted by `{}`", tool.name, rule.name));
    decision(snapshot, Some(tool), judged)
}

/// Puts a call of a known tool through the stations and returns the rule that permits it.
fn evaluate_tool_proposal_security<'s>(
    snapshot: &'s ToolCallPolicySnapshot,
    (tool, schema): (&ToolSpec, &ArgumentsSchema),
    call: &ToolCall,
) -> Result<&'s PermitRule, Refusal> {
    let complaint = match parse_arguments(call.arguments.expose()) {
        Ok(arguments) => schema.complaint(&arguments),
        Err(error) => Some(error.to_string()),
    };
    if let Some(complaint) = complaint {
        let explanation = format!("the arguments of `{}` do not fit: {complaint}", tool.name);
        return Err(Refusal { reason: DecisionReason::InvalidArguments, explanation });
    }
    evaluate_with_config(snapshot.rules(), tool).ok_or_else(|| no_rule_permits(snapshot, tool))
}

fn decision(
    snapshot: &ToolCallPolicySnapshot,
    tool: Option<&ToolSpec>,
    judged: Result<String, Refusal>,
) -> ToolDecision {
    let (verdict, reason, explanation) = match judged {
        Ok(explanation) => (ToolVerdict::Allow, DecisionReason::Permitted, explanation),
        Err(refusal) => (ToolVerdict::Deny, refusal.reason, refusal.explanation),
    };
    ToolDecision {
        verdict,
        reason,
        explanation: Redacted::new(explanation),
        policy_digest: snapshot.digest(),
        contract: tool.map_or(EffectContract::Opaque, |tool| tool.contract),
        parallelism: tool.map_or(Parallelism::Exclusive, |tool| tool.parallelism),
        deadline: tool.map(|tool| tool.deadline).unwrap_or_default(),
        output_bytes_max: tool.map(|tool| tool.output_bytes_max).unwrap_or_default(),
    }
}

fn unknown_tool(snapshot: &ToolCallPolicySnapshot, call: &ToolCall) -> Refusal {
    let named = quoted(call.tool.as_str(), 64);
    let explanation = if snapshot.catalog().is_empty() {
        format!("there is no tool {named}; this run has no tools, answer without them")
    } else {
        let names = listed(snapshot.catalog().iter().map(|tool| tool.name.as_str()), TOOLS_LISTED_MAX);
        format!("there is no tool {named}; use one of these exact names: {names}")
    };
    Refusal { reason: DecisionReason::UnknownTool, explanation }
}

fn no_rule_permits(snapshot: &ToolCallPolicySnapshot, tool: &ToolSpec) -> Refusal {
    let permitted = snapshot
        .catalog()
        .iter()
        .filter(|tool| evaluate_with_config(snapshot.rules(), tool).is_some())
        .map(|tool| tool.name.as_str());
    let permitted = listed(permitted, TOOLS_LISTED_MAX);
    let mend = if permitted.is_empty() {
        "no tool is permitted here, answer without them".to_owned()
    } else {
        format!("repeating the call changes nothing, permitted are {permitted}")
    };
    let explanation = format!("policy denies `{}`, no rule permits it; {mend}", tool.name);
    Refusal { reason: DecisionReason::NoRulePermits, explanation }
}

#[cfg(test)]
mod tests;
