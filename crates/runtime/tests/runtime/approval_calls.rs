//! Calls that ask, and the people who answer, in few words.

use palyra_policy::ToolPolicyRules;
use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery};
use palyra_runtime::approvals::{ApprovalReply, ResolvedApproval};
use palyra_runtime::{Caller, RequestError};
use palyra_testkit::Script;
use palyra_types::approval::{ApprovalDecision, ApprovalRecord};
use palyra_types::event::{ApprovalEvent, TapeEvent};
use palyra_types::{ApprovalId, RunId};

use crate::rig::{Parts, Rig, looking, settle, soon};

/// Lets the opaque tool run once a person has said yes within a day.
pub(crate) const ACTS: &str = r#"@id("acts") @reason("it acts")
permit (principal, action == Action::"execute", resource == Tool::"act");"#;

/// The shipped rules, what lets scripted tools look, and what lets them act after a yes.
pub(crate) fn asking() -> ToolPolicyRules {
    looking().with_file("acts.cedar", ACTS)
}

/// As [`asking`], with other terms.
pub(crate) fn asking_with(terms: &str) -> ToolPolicyRules {
    looking().with_file("acts.cedar", &ACTS.replace("@reason", &format!("{terms} @reason")))
}

pub(crate) async fn asking_rig() -> Rig {
    Parts { rules: asking(), ..Parts::new() }.start().await
}

/// Begins a run whose model wants a call that asks; returns once the question is recorded and nobody works on it.
pub(crate) async fn ask(rig: &Rig, key: &str, tool: &str, arguments: &str) -> (RunId, ApprovalId) {
    rig.model.push(Script::new().call(tool, arguments));
    let run = rig.submit(key, "go").await.run;
    let approval = asked(rig, run).await;
    settle().await;
    (run, approval)
}

/// Waits for the latest question of a run.
pub(crate) async fn asked(rig: &Rig, run: RunId) -> ApprovalId {
    let entry = rig
        .until(run, "a question", |event| matches!(event, TapeEvent::Approval(ApprovalEvent::Requested(_))))
        .await;
    let TapeEvent::Approval(ApprovalEvent::Requested(asked)) = &entry.event else { panic!("it is one") };
    asked.approval
}

pub(crate) async fn answer(
    rig: &Rig,
    who: Caller,
    approval: ApprovalId,
    reply: ApprovalReply,
) -> Result<ResolvedApproval, RequestError> {
    soon("an answer to an answer", rig.gateway.waiting.approvals.resolve(who, approval, reply)).await
}

pub(crate) async fn approve(rig: &Rig, approval: ApprovalId) -> Result<ResolvedApproval, RequestError> {
    answer(rig, rig.me(), approval, ApprovalReply::plain(ApprovalDecision::Approve)).await
}

pub(crate) async fn deny(rig: &Rig, approval: ApprovalId) -> Result<ResolvedApproval, RequestError> {
    answer(rig, rig.me(), approval, ApprovalReply::plain(ApprovalDecision::Deny)).await
}

/// Returns the approvals that wait, newest first.
pub(crate) async fn waiting(rig: &Rig) -> Vec<ApprovalRecord> {
    let query = ApprovalQuery { only: ApprovalFilter::Pending, limit: 500, ..ApprovalQuery::default() };
    rig.gateway.waiting.approvals.list(rig.me(), query).await.unwrap().records
}
