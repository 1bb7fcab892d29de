//! Why the calls of a run were allowed: the rule, the grant or the person behind each decision.

mod decider;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::clean_text;
use palyra_types::access::AccessScope;
use palyra_wire::v1;
use palyra_wire::v1::explain_decision_request::Decision;
use palyra_wire::v1::tape_entry::Event;

use self::decider::{decider, rules, verdict_mark};
use super::ScreenSpec;
use crate::screen_call::ScreenCall;
use crate::wording::{command, line_or, now_seconds, risk_mark, time_tag};

const EMPTY: &str = "No call was decided here.";
/// Entries of the tape that a page is made from.
const ENTRIES_MAX: u32 = 200;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/runs/{run_id}/why",
    title: "Why calls ran",
    navigation: None,
    operation: "ReadTape",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&DecisionPage::default(), 0), sentence: EMPTY }),
};

/// The decisions of a part of a tape.
#[derive(Default)]
struct DecisionPage {
    run_id: String,
    calls: BTreeMap<u32, DecidedCall>,
    /// Approvals by their ids, for the names of who decided.
    approvals: BTreeMap<String, v1::Approval>,
    /// Grants by their ids.
    grants: BTreeMap<String, v1::StoredGrant>,
    /// The last entry of the part, where another one follows.
    next_after: Option<u32>,
}

/// A call with its decisions.
#[derive(Default)]
struct DecidedCall {
    proposed: Option<v1::ToolProposed>,
    decisions: Vec<RecordedDecision>,
    /// What the rules looked at; `None` for a person who may not read them.
    explained: Option<v1::ExplainDecisionResponse>,
}

/// A decision on the tape.
struct RecordedDecision {
    tape_seq: u32,
    time: Option<prost_types::Timestamp>,
    decided: v1::ToolDecided,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let run_id = call.param("run_id");
    let after = call.query_number("after");
    let read = v1::ReadTapeRequest { run_id: run_id.clone(), after_tape_seq: after, limit: ENTRIES_MAX };
    let read = call.call(read).await?;
    let last = read.entries.last().map(|entry| entry.tape_seq);
    let mut calls = calls_of(read.entries);
    if call.has_scope(AccessScope::Admin) {
        for (effect_id, decided) in &mut calls {
            decided.explained = explained(&call, &run_id, *effect_id).await;
        }
    }
    let approvals = approvals(&call, &calls).await;
    let grants = call.call(v1::ListGrantsRequest { all: true }).await?.grants;
    let grants = grants.into_iter().map(|grant| (grant.grant_id.clone(), grant)).collect();
    let page = DecisionPage { run_id, calls, approvals, grants, next_after: last.filter(|_| read.more) };
    Ok(view(&page, now_seconds()))
}

/// Returns the explanation of a call; `None` where the daemon has none.
async fn explained(call: &ScreenCall, run_id: &str, effect_id: u32) -> Option<v1::ExplainDecisionResponse> {
    let recorded = v1::RecordedDecision { run_id: run_id.to_owned(), effect_id };
    let request = v1::ExplainDecisionRequest { decision: Some(Decision::Recorded(recorded)) };
    call.call(request).await.ok()
}

/// Returns the approvals that decided, with the names of the people.
async fn approvals(call: &ScreenCall, calls: &BTreeMap<u32, DecidedCall>) -> BTreeMap<String, v1::Approval> {
    let decisions = calls.values().flat_map(|call| &call.decisions).map(|decision| &decision.decided);
    let by_approval = decisions.filter(|decided| decided.decided_by() == v1::DecisionSource::Approval);
    let mut found = BTreeMap::new();
    for decided in by_approval {
        let request = v1::GetApprovalRequest { approval_id: decided.decider_id.clone() };
        let approval = call.call(request).await.ok().and_then(|answer| answer.approval);
        found.extend(approval.map(|approval| (decided.decider_id.clone(), approval)));
    }
    found
}

/// Collects proposals and decisions by the number of their call; a call without a decision is left out.
fn calls_of(entries: Vec<v1::TapeEntry>) -> BTreeMap<u32, DecidedCall> {
    let mut calls: BTreeMap<u32, DecidedCall> = BTreeMap::new();
    for entry in entries {
        let v1::TapeEntry { tape_seq, time, .. } = entry;
        match entry.event {
            Some(Event::ToolProposed(proposed)) => {
                let call = calls.entry(proposed.effect_id).or_default();
                call.proposed = Some(proposed);
            }
            Some(Event::ToolDecided(decided)) => {
                let decisions = &mut calls.entry(decided.effect_id).or_default().decisions;
                decisions.push(RecordedDecision { tape_seq, time, decided });
            }
            _ => {}
        }
    }
    calls.retain(|_, call| !call.decisions.is_empty());
    calls
}

fn view(page: &DecisionPage, now: i64) -> Markup {
    html! {
        p { a href={ "/console/runs/" (page.run_id) } { "See the run" } }
        @if page.calls.is_empty() { p { (EMPTY) } }
        @for (effect_id, call) in &page.calls {
            section.card id={ "call-" (effect_id) } {
                h2 { (effect_id) ". " (tool_of(call)) }
                @if let Some(proposed) = &call.proposed {
                    details { summary { "Arguments" } pre { (clean_text(&proposed.arguments)) } }
                }
                @for decision in &call.decisions { (decision_row(decision, page, now)) }
                @if let Some(explained) = &call.explained { (rules(explained)) }
            }
        }
        @if let Some(after) = page.next_after {
            p { a href={ "/console/runs/" (page.run_id) "/why?after=" (after) } { "Next calls" } }
        }
        (command("In a terminal", &format!("palyra policy explain {}", page.run_id)))
    }
}

fn tool_of(call: &DecidedCall) -> String {
    let tool = call.proposed.as_ref().map(|proposed| proposed.tool.as_str());
    line_or(tool.unwrap_or_default(), "A call whose words are not here")
}

fn decision_row(decision: &RecordedDecision, page: &DecisionPage, now: i64) -> Markup {
    let RecordedDecision { tape_seq, time, decided } = decision;
    html! {
        p {
            (verdict_mark(decided.verdict()).markup()) ", decided by " (decider(decided, page)) ": "
            (line_or(&decided.explanation, "no reason given"))
            @if decided.risk() != v1::RiskLevel::Unspecified { " - " (risk_mark(decided.risk()).markup()) }
            span.muted {
                " - " (time_tag(time.as_ref(), now)) ", "
                a href={ "/console/runs/" (page.run_id) "?after=" (tape_seq.saturating_sub(1)) "#seq-" (tape_seq) } {
                    "entry " (tape_seq)
                }
            }
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let decision = |decided_by: v1::DecisionSource| RecordedDecision {
        tape_seq: 4,
        time: None,
        decided: v1::ToolDecided {
            explanation: text.to_owned(),
            decided_by: decided_by.into(),
            decider_id: "A".to_owned(),
            ..Default::default()
        },
    };
    let explained = v1::ExplainDecisionResponse {
        explanation: text.to_owned(),
        policies: vec![text.to_owned()],
        request: text.to_owned(),
        ..Default::default()
    };
    let proposed =
        v1::ToolProposed { tool: text.to_owned(), arguments: text.to_owned(), ..Default::default() };
    let call = DecidedCall {
        proposed: Some(proposed),
        decisions: vec![decision(v1::DecisionSource::Grant), decision(v1::DecisionSource::Approval)],
        explained: Some(explained),
    };
    let approval = v1::Approval { decided_by_name: text.to_owned(), ..Default::default() };
    let page = DecisionPage {
        run_id: "R".to_owned(),
        calls: BTreeMap::from([(3, call)]),
        approvals: BTreeMap::from([("A".to_owned(), approval)]),
        grants: BTreeMap::from([("A".to_owned(), v1::StoredGrant::default())]),
        next_after: Some(9),
    };
    view(&page, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_every_decision_about_it_with_the_person_who_approved() {
        let entry = |tape_seq, event| v1::TapeEntry { tape_seq, event: Some(event), ..Default::default() };
        let decided = |verdict: v1::ToolVerdict, by: v1::DecisionSource| {
            Event::ToolDecided(v1::ToolDecided {
                effect_id: 3,
                verdict: verdict.into(),
                decided_by: by.into(),
                decider_id: "A".to_owned(),
                ..Default::default()
            })
        };
        let proposed = |effect_id| {
            Event::ToolProposed(v1::ToolProposed {
                effect_id,
                tool: format!("tool{effect_id}"),
                ..Default::default()
            })
        };
        let calls = calls_of(vec![
            entry(1, proposed(3)),
            entry(2, decided(v1::ToolVerdict::Ask, v1::DecisionSource::Policy)),
            entry(3, proposed(4)),
            entry(5, decided(v1::ToolVerdict::Allow, v1::DecisionSource::Approval)),
        ]);
        assert_eq!((calls.len(), calls[&3].decisions.len()), (1, 2), "an undecided call is left out");
        let approval = v1::Approval { decided_by_name: "user:alice".to_owned(), ..Default::default() };
        let approvals = BTreeMap::from([("A".to_owned(), approval)]);
        let page = DecisionPage { run_id: "R".to_owned(), calls, approvals, ..Default::default() };
        let shown = view(&page, 0).into_string();
        for part in ["3. tool3", "needs approval", "<strong>user:alice</strong>", "?after=4#seq-5"] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
}
