//! Who or what decided about a call: a rule, a grant, a person or the budget of the run.

use maud::{Markup, html};
use palyra_screen_text::{clean_text, count};
use palyra_wire::v1;

use super::DecisionPage;
use crate::wording::{StateMark, id_tag, line, line_or, spaced};

/// Returns who or what decided.
pub(super) fn decider(decided: &v1::ToolDecided, page: &DecisionPage) -> Markup {
    match decided.decided_by() {
        v1::DecisionSource::Approval => {
            let approval = page.approvals.get(&decided.decider_id);
            let name = approval.map(|approval| approval.decided_by_name.as_str()).unwrap_or_default();
            html! {
                strong { (line_or(name, "an approval")) } " ("
                a href={ "/console/approvals/" (decided.decider_id) } { "the approval" } ")"
            }
        }
        v1::DecisionSource::Grant => html! {
            "a stored grant " (id_tag(&decided.decider_id))
            @if let Some(grant) = page.grants.get(&decided.decider_id) {
                " (" a href={ "/console/approvals/" (grant.approval_id) } { "given with an approval" } ", "
                @if grant.revoked.is_some() { "revoked since" } @else { "used " (count(grant.uses.into(), "time")) }
                ")"
            }
        },
        v1::DecisionSource::Policy => html! { "the rules" },
        v1::DecisionSource::Budget => html! { "the budget of the run" },
        v1::DecisionSource::Unspecified => html! { "something not known" },
    }
}

/// Returns what was decided.
pub(super) fn verdict_mark(verdict: v1::ToolVerdict) -> StateMark {
    match verdict {
        v1::ToolVerdict::Allow => StateMark::new("✓", "allowed", "positive"),
        v1::ToolVerdict::Ask => StateMark::new("○", "needs approval", "caution"),
        v1::ToolVerdict::Deny => StateMark::new("✕", "denied", "danger"),
        v1::ToolVerdict::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

/// Returns the rules that decided, and what they looked at.
pub(super) fn rules(explained: &v1::ExplainDecisionResponse) -> Markup {
    html! {
        p {
            @if explained.policies.is_empty() { span.muted { "No rule is named: " (spaced(explained.reason().short_name())) "." } }
            @else {
                "By the rules: "
                @for policy in &explained.policies { code { (line(policy)) } " " }
                a href="/console/policies" { "See the rules" }
            }
        }
        details {
            summary { "What the rules looked at" }
            pre { (clean_text(&explained.explanation)) "\n" (clean_text(&explained.request)) }
            p.muted { "Digest of the rules: " (id_tag(&explained.policy_digest)) }
        }
    }
}
