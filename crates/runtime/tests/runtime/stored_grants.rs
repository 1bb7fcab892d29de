//! Permissions that outlive the call they were given for: exactly as wide as they say, counted, revocable.

use palyra_admin::AdminError;
use palyra_ports::AppendError;
use palyra_ports::read_approvals::GrantFilter;
use palyra_runtime::RequestError;
use palyra_runtime::approvals::{ApprovalReply, RememberRequest, RememberScope};
use palyra_runtime::session::SubmitRequest;
use palyra_testkit::Script;
use palyra_testkit::scripted_tools::{ACT, SEND};
use palyra_types::approval::{ApprovalDecision, ArgumentRule, ArgumentShape};
use palyra_types::event::{DecidedBy, TapeEvent, ToolEvent};
use palyra_types::run::{RunLifecycleState, RunPhase, WaitReason};
use palyra_types::{Content, Redacted, StoredGrantId};

use crate::approval_calls::{answer, approve, ask, asked, asking, asking_rig, waiting};
use crate::rig::{Parts, Rig, by_key, request, settle};
use crate::shapes::check;

fn remembering(uses_max: Option<u32>, rules: Vec<ArgumentRule<Content<String>>>) -> ApprovalReply {
    let remember = RememberRequest { scope: RememberScope::Session, expires: None, uses_max, rules };
    ApprovalReply { remember: Some(remember), ..ApprovalReply::plain(ApprovalDecision::Approve) }
}

/// Gives a grant for exactly one call of the session `k`.
async fn granted(rig: &Rig, uses_max: Option<u32>) -> StoredGrantId {
    let (run, approval) = ask(rig, "k", ACT, r#"{"a":1}"#).await;
    let resolved = answer(rig, rig.me(), approval, remembering(uses_max, Vec::new())).await.unwrap();
    rig.finished(run).await;
    resolved.grant.unwrap()
}

/// Runs a call of a session; returns whether it ran without asking anybody.
async fn runs_silently(rig: &Rig, key: &str, arguments: &str) -> bool {
    rig.model.push(Script::new().call(ACT, arguments));
    let run = rig.submit(key, "go").await.run;
    settle().await;
    match rig.record(run).await.phase {
        RunPhase::Waiting(WaitReason::Approval) => {
            rig.cancel(run).await.unwrap();
            rig.finished(run).await;
            false
        }
        _ => {
            assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
            let tape = rig.tape(run).await;
            check(&tape);
            tape.iter().any(|entry| matches!(&entry.event, TapeEvent::Tool(ToolEvent::Decided(decided)) if matches!(decided.decided_by, DecidedBy::Grant(_))))
        }
    }
}

#[tokio::test]
async fn a_grant_covers_its_call_in_its_session_and_no_other() {
    let rig = asking_rig().await;
    let grant = granted(&rig, None).await;
    assert!(runs_silently(&rig, "k", r#"{"a":1}"#).await);
    assert!(!runs_silently(&rig, "k", r#"{"a":2}"#).await);
    assert!(!runs_silently(&rig, "k", r#"{"a":1,"b":2}"#).await);
    assert!(!runs_silently(&rig, "k", "{}").await);
    assert!(!runs_silently(&rig, "other", r#"{"a":1}"#).await);
    let listed = rig.gateway.admin.grants.list(rig.me(), GrantFilter::Standing).await.unwrap();
    assert_eq!((listed.len(), listed[0].stored.grant, listed[0].uses), (1, grant, 1));
    let strange = rig.gateway.admin.grants.list(rig.stranger(), GrantFilter::All).await.unwrap();
    assert!(strange.is_empty());
}

#[tokio::test]
async fn a_grant_holds_in_the_folder_where_it_was_given_and_in_no_other() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", ACT, r#"{"a":1}"#).await;
    let remember =
        RememberRequest { scope: RememberScope::Principal, expires: None, uses_max: None, rules: Vec::new() };
    let reply = ApprovalReply { remember: Some(remember), ..ApprovalReply::plain(ApprovalDecision::Approve) };
    answer(&rig, rig.me(), approval, reply).await.unwrap();
    rig.finished(run).await;
    let executed = rig.tools.executions().len();
    let there = |key: &str, root: &str| SubmitRequest {
        workspace_root: Some(Redacted::cleaned(root.into()).into()),
        ..request(by_key(key), "go")
    };
    for (root, asks) in [("/home", false), ("/elsewhere", true), ("/home/below", true), ("/", true)] {
        rig.model.push(Script::new().call(ACT, r#"{"a":1}"#));
        let run = rig.gateway.sessions.submit(rig.me(), there(root, root)).await.unwrap().run;
        settle().await;
        assert_eq!(waiting(&rig).await.len(), usize::from(asks), "{root}");
        if asks {
            rig.cancel(run).await.unwrap();
        }
        rig.finished(run).await;
        check(&rig.tape(run).await);
    }
    assert_eq!(rig.tools.executions().len(), executed + 1, "only where it was given");
}

#[tokio::test]
async fn a_grant_is_used_up_and_outlives_a_restart() {
    let rig = asking_rig().await;
    granted(&rig, Some(2)).await;
    assert!(runs_silently(&rig, "k", r#"{"a":1}"#).await);
    let memory = rig.memory.restarted();
    let rig = Parts { memory, seed: 99, rules: asking(), ..Parts::new() }.start().await;
    assert!(runs_silently(&rig, "k", r#"{"a":1}"#).await);
    assert!(!runs_silently(&rig, "k", r#"{"a":1}"#).await);
    assert_eq!(rig.tools.executions().len(), 1, "once after the restart");
}

#[tokio::test]
async fn one_answer_uses_a_counted_grant_once() {
    let rig = asking_rig().await;
    granted(&rig, Some(2)).await;
    rig.model.push(Script::new().call(ACT, r#"{"a":1}"#).call(ACT, r#"{"a":1}"#).call(ACT, r#"{"a":1}"#));
    let run = rig.submit("k", "go").await.run;
    settle().await;
    assert_eq!(waiting(&rig).await.len(), 2);
    rig.cancel(run).await.unwrap();
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_revoked_grant_covers_nothing_any_more() {
    let rig = asking_rig().await;
    let grant = granted(&rig, None).await;
    let grants = rig.gateway.admin.grants.clone();
    assert!(matches!(grants.revoke(rig.stranger(), grant).await, Err(AdminError::GrantNotFound)));
    let record = grants.revoke(rig.me(), grant).await.unwrap();
    assert!(record.revoked.is_some());
    grants.revoke(rig.me(), grant).await.unwrap();
    assert!(!runs_silently(&rig, "k", r#"{"a":1}"#).await);
}

#[tokio::test]
async fn of_two_runs_that_meet_at_the_last_use_one_asks() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    let remember = RememberRequest {
        scope: RememberScope::Principal,
        expires: None,
        uses_max: Some(1),
        rules: Vec::new(),
    };
    let reply = ApprovalReply { remember: Some(remember), ..ApprovalReply::plain(ApprovalDecision::Approve) };
    answer(&rig, rig.me(), approval, reply).await.unwrap();
    rig.finished(run).await;
    let gate = palyra_testkit::Gate::closed();
    for _ in 0..2 {
        rig.model.push(Script::new().hold(&gate).call(ACT, "{}"));
    }
    let (one, two) = (rig.submit("a", "go").await.run, rig.submit("b", "go").await.run);
    settle().await;
    gate.open();
    settle().await;
    settle().await;
    let waits = waiting(&rig).await;
    assert_eq!((waits.len(), rig.tools.executions().len()), (1, 2));
    approve(&rig, waits[0].approval).await.unwrap();
    for run in [one, two] {
        rig.finished(run).await;
        check(&rig.tape(run).await);
    }
}

#[tokio::test]
async fn no_grant_is_given_for_anything_a_dangerous_tool_could_be_told() {
    let rig = asking_rig().await;
    rig.model.push(Script::new().call(SEND, r#"{"to":"x"}"#));
    let run = rig.submit("k", "go").await.run;
    let approval = asked(&rig, run).await;
    settle().await;
    let any = ArgumentRule { argument: "to".into(), shape: ArgumentShape::Any };
    let refused = answer(&rig, rig.me(), approval, remembering(None, vec![any])).await;
    assert!(matches!(refused, Err(RequestError::InvalidArgument { .. })), "{refused:?}");
    let elsewhere = ArgumentRule { argument: "to".into(), shape: ArgumentShape::Equal("\"y\"".into()) };
    let refused = answer(&rig, rig.me(), approval, remembering(None, vec![elsewhere])).await;
    assert!(matches!(refused, Err(RequestError::InvalidArgument { .. })), "{refused:?}");
    assert_eq!(waiting(&rig).await.len(), 1);
    assert!(rig.tools.executions().is_empty());
}

/// The yes, the grant and the start of the call are in the journal, and nobody was told so.
#[tokio::test]
async fn a_grant_of_whose_append_nobody_heard_covers_calls_once_the_journal_is_read_again() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", ACT, r#"{"a":1}"#).await;
    rig.memory.lose_next_answer();
    let told = answer(&rig, rig.me(), approval, remembering(None, Vec::new())).await;
    assert!(matches!(told, Err(RequestError::Append(AppendError::Unknown))), "{told:?}");
    for _ in 0..4 {
        rig.clock.advance(std::time::Duration::from_secs(60));
        settle().await;
    }
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::OutcomeUnknown));
    rig.cancel(run).await.unwrap();
    rig.finished(run).await;
    let grants = rig.gateway.admin.grants.list(rig.me(), GrantFilter::Standing).await.unwrap();
    assert_eq!(grants.len(), 1);
    assert!(runs_silently(&rig, "k", r#"{"a":1}"#).await);
    assert!(!runs_silently(&rig, "k", r#"{"a":2}"#).await);
}
