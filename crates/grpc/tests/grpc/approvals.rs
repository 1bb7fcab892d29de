//! Approvals over the wire: seen by whom they concern, decided once, by people and from outside the run.

use palyra_testkit::Script;
use palyra_types::ErrorCode;
use palyra_wire::v1;
use palyra_wire::v1::approvals_service_client::ApprovalsServiceClient;
use palyra_wire::v1::effects_service_client::EffectsServiceClient;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::run_stream_response::Frame;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::watch_approvals_response::Step;
use palyra_wire::v1::{ApprovalDecision, ApprovalState, ResolveApprovalRequest, RunState, StartRunRequest};
use tonic::Code;
use tonic::transport::Channel;

use crate::daemon::TestDaemon;
use crate::raw::assert_refused;
use crate::talk::{Talk, bearing, start};

const PATH: &str = r#"{"path":"notes.txt"}"#;

/// A run that asks whether `change` may run, and answers with words afterwards.
async fn asking(daemon: &TestDaemon) -> (Talk, String, String) {
    daemon.provider.push(Script::new().call("change", PATH));
    daemon.provider.push(Script::new().text("so be it"));
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("change it"))).await.unwrap();
    let run = talk.opened().await.run_id;
    let heard = talk.until_event(|event| matches!(event, Event::ApprovalRequested(_))).await;
    let asked = heard.events().find_map(|event| match event {
        Event::ApprovalRequested(asked) => Some(asked.clone()),
        _ => None,
    });
    (talk, run, asked.unwrap().approval_id)
}

fn answer(approval: &str, decision: ApprovalDecision) -> ResolveApprovalRequest {
    ResolveApprovalRequest {
        approval_id: approval.to_owned(),
        decision: decision.into(),
        ..ResolveApprovalRequest::default()
    }
}

async fn approvals(daemon: &TestDaemon) -> ApprovalsServiceClient<Channel> {
    ApprovalsServiceClient::new(daemon.local().await)
}

#[tokio::test]
async fn a_call_that_asks_is_listed_shown_and_run_after_a_yes() {
    let daemon = TestDaemon::start().await;
    let (mut talk, run, approval) = asking(&daemon).await;
    let mut client = approvals(&daemon).await;
    let listed = client.list_approvals(v1::ListApprovalsRequest::default()).await.unwrap().into_inner();
    assert_eq!(listed.approvals.len(), 1);
    let get = v1::GetApprovalRequest { approval_id: approval.clone() };
    let shown = client.get_approval(get).await.unwrap().into_inner().approval.unwrap();
    assert_eq!(shown, listed.approvals[0]);
    let prompt = shown.prompt.clone().unwrap();
    assert_eq!((prompt.tool.as_str(), prompt.arguments.as_str()), ("change", PATH));
    assert_eq!((shown.run_id.as_str(), shown.state()), (run.as_str(), ApprovalState::Pending));
    assert!(shown.expires.unwrap().seconds > shown.created.unwrap().seconds);

    let yes = answer(&approval, ApprovalDecision::Approve);
    let told = client.resolve_approval(yes.clone()).await.unwrap().into_inner();
    assert!(told.counted);
    assert_eq!(told.approval.as_ref().unwrap().state(), ApprovalState::Approved);
    let (heard, end) = talk.rest().await;
    assert_eq!((heard.text().as_str(), end.state()), ("so be it", RunState::Done));
    let finished = heard.events().find_map(|event| match event {
        Event::ToolFinished(finished) => Some(finished.clone()),
        _ => None,
    });
    assert_eq!(finished.unwrap().approval_id, approval, "the attestation names the approval");

    let again = client.resolve_approval(yes).await.unwrap().into_inner();
    assert!(again.counted, "the same answer again is the same answer");
    let late = client.resolve_approval(answer(&approval, ApprovalDecision::Deny)).await.unwrap().into_inner();
    assert!(!late.counted, "who comes late is told");
    let late = late.approval.unwrap();
    assert_eq!(late.state(), ApprovalState::Approved);
    assert!(!late.decided_by.is_empty());
    let pending = client.list_approvals(v1::ListApprovalsRequest::default()).await.unwrap().into_inner();
    assert!(pending.approvals.is_empty());
}

#[tokio::test]
async fn a_stream_answers_approvals_of_its_own_run() {
    let daemon = TestDaemon::start().await;
    let (mut talk, _, approval) = asking(&daemon).await;
    let no = ResolveApprovalRequest {
        note: "not this file".to_owned(),
        ..answer(&approval, ApprovalDecision::Deny)
    };
    talk.say(Say::AnswerApproval(no)).await;
    let (heard, end) = talk.rest().await;
    assert_eq!(end.state(), RunState::Done);
    let receipts: Vec<_> =
        heard.others.iter().filter(|frame| matches!(frame, Frame::ApprovalAnswered(_))).collect();
    assert_eq!(receipts.len(), 1);
    assert!(!heard.events().any(|event| matches!(event, Event::ToolStarted(_))), "nothing ran");
    let seen = daemon.provider.requests();
    let last = format!("{:?}", seen.last().unwrap().messages.last());
    assert!(!last.is_empty());
}

#[tokio::test]
async fn a_refused_answer_ends_no_stream() {
    let daemon = TestDaemon::start().await;
    let (mut talk, _, approval) = asking(&daemon).await;
    let unknown = answer("01BX5ZZKBKACTAV9WEVGEMMVRZ", ApprovalDecision::Approve);
    talk.say(Say::AnswerApproval(unknown)).await;
    let heard = talk.until(|frame| matches!(frame, Frame::ApprovalRefused(_))).await;
    let Some(Frame::ApprovalRefused(refused)) = heard.others.last() else { panic!("until() stops there") };
    assert_eq!(refused.error_code, ErrorCode::ApprovalNotFound.to_string());
    talk.say(Say::AnswerApproval(answer(&approval, ApprovalDecision::Approve))).await;
    assert_eq!(talk.rest().await.1.state(), RunState::Done);
}

#[tokio::test]
async fn strangers_neither_see_nor_decide() {
    let daemon = TestDaemon::start().await;
    let (_talk, run, approval) = asking(&daemon).await;
    let token = daemon.token("somebody-else").await;
    let mut stranger = ApprovalsServiceClient::new(daemon.remote().await);
    let listed = stranger.list_approvals(bearing(&token, v1::ListApprovalsRequest::default())).await.unwrap();
    assert!(listed.into_inner().approvals.is_empty());
    for asked in [&approval, "01BX5ZZKBKACTAV9WEVGEMMVRZ"] {
        let yes = answer(asked, ApprovalDecision::Approve);
        let refused = stranger.resolve_approval(bearing(&token, yes)).await.unwrap_err();
        assert_refused(&refused, Code::PermissionDenied, ErrorCode::ScopeMissing);
        let named = v1::GetApprovalRequest { approval_id: (*asked).to_owned() };
        let refused = stranger.get_approval(bearing(&token, named)).await.unwrap_err();
        assert_refused(&refused, Code::NotFound, ErrorCode::ApprovalNotFound);
    }
    // The right id with the wrong run: as if it did not exist.
    let other = ResolveApprovalRequest {
        run_id: "01BX5ZZKBKACTAV9WEVGEMMVRZ".to_owned(),
        ..answer(&approval, ApprovalDecision::Approve)
    };
    let mut owner = approvals(&daemon).await;
    assert_refused(
        &owner.resolve_approval(other).await.unwrap_err(),
        Code::NotFound,
        ErrorCode::ApprovalNotFound,
    );
    let still = owner.get_approval(v1::GetApprovalRequest { approval_id: approval }).await.unwrap();
    assert_eq!(still.into_inner().approval.unwrap().state(), ApprovalState::Pending);
    assert!(!run.is_empty());
}

#[tokio::test]
async fn a_watch_shows_what_waits_then_each_change() {
    let daemon = TestDaemon::start().await;
    let (_talk, _, approval) = asking(&daemon).await;
    let mut client = approvals(&daemon).await;
    let mut watch = client.watch_approvals(v1::WatchApprovalsRequest::default()).await.unwrap().into_inner();
    let step = watch.message().await.unwrap().unwrap().step.unwrap();
    assert!(matches!(&step, Step::Approval(waiting) if waiting.approval_id == approval), "{step:?}");
    let step = watch.message().await.unwrap().unwrap().step.unwrap();
    assert_eq!(step, Step::CaughtUp(v1::ApprovalsCaughtUp { pending: 1 }));
    client.resolve_approval(answer(&approval, ApprovalDecision::Approve)).await.unwrap();
    let step = watch.message().await.unwrap().unwrap().step.unwrap();
    let Step::Approval(decided) = step else { panic!("a change was expected") };
    assert_eq!((decided.approval_id.as_str(), decided.state()), (approval.as_str(), ApprovalState::Approved));
}

#[tokio::test]
async fn a_remembered_yes_lets_equal_calls_run_until_it_is_revoked() {
    let daemon = TestDaemon::start().await;
    let (mut talk, _, approval) = asking(&daemon).await;
    let mut client = approvals(&daemon).await;
    let always = ResolveApprovalRequest {
        remember: Some(v1::GrantWish { scope: v1::GrantScope::Principal.into(), ..v1::GrantWish::default() }),
        ..answer(&approval, ApprovalDecision::Approve)
    };
    let grant_id = client.resolve_approval(always).await.unwrap().into_inner().grant_id;
    assert!(!grant_id.is_empty());
    talk.rest().await;

    daemon.provider.push(Script::new().call("change", PATH));
    daemon.provider.push(Script::new().text("silently"));
    let mut second = Talk::open(daemon.local().await, Say::Start(start("again"))).await.unwrap();
    let (heard, end) = second.rest().await;
    assert_eq!((heard.text().as_str(), end.state()), ("silently", RunState::Done));
    assert!(!heard.events().any(|event| matches!(event, Event::ApprovalRequested(_))));
    let decided = heard.events().find_map(|event| match event {
        Event::ToolDecided(decided) => Some(decided.clone()),
        _ => None,
    });
    let decided = decided.unwrap();
    assert_eq!((decided.decided_by_name().as_ref(), decided.decider_id), ("grant", grant_id.clone()));

    let grants = client.list_grants(v1::ListGrantsRequest::default()).await.unwrap().into_inner().grants;
    assert_eq!((grants.len(), grants[0].uses), (1, 1));
    let revoke = v1::RevokeGrantRequest { grant_id };
    assert!(client.revoke_grant(revoke).await.unwrap().into_inner().grant.unwrap().revoked.is_some());
    let (_third, ..) = asking(&daemon).await;
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_call_is_denied_at_once() {
    let daemon = TestDaemon::start().await;
    daemon.provider.push(Script::new().call("change", PATH));
    daemon.provider.push(Script::new().text("then not"));
    let message = StartRunRequest { approve: v1::ApproverChoice::Never.into(), ..start("change it") };
    let mut talk = Talk::open(daemon.local().await, Say::Start(message)).await.unwrap();
    let (heard, end) = talk.rest().await;
    assert_eq!((heard.text().as_str(), end.state()), ("then not", RunState::Done));
    let reasons: Vec<_> = heard
        .events()
        .filter_map(|event| match event {
            Event::ToolDecided(decided) => Some(decided.reason_name().into_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, ["no_approval_channel"]);
    let odd = StartRunRequest { approve: 77, ..start("change it") };
    let mut gateway = GatewayServiceClient::new(daemon.local().await);
    let refused = gateway.start_run(odd).await.unwrap_err();
    assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
    assert!(refused.message().contains("`approve` must be"), "{refused:?}");
}

#[tokio::test]
async fn effects_are_listed_for_whom_they_concern() {
    let daemon = TestDaemon::start().await;
    let (mut talk, run, approval) = asking(&daemon).await;
    approvals(&daemon).await.resolve_approval(answer(&approval, ApprovalDecision::Approve)).await.unwrap();
    talk.rest().await;
    let mut client = EffectsServiceClient::new(daemon.local().await);
    let list = v1::ListEffectsRequest { run_id: run.clone(), ..v1::ListEffectsRequest::default() };
    let effects = client.list_effects(list.clone()).await.unwrap().into_inner().effects;
    assert_eq!(effects.len(), 1);
    assert_eq!(
        (effects[0].contract_name().as_ref(), effects[0].state_name().as_ref()),
        ("opaque", "finished")
    );
    assert_eq!(effects[0].approval_id, approval);
    let token = daemon.token("somebody-else").await;
    let mut stranger = EffectsServiceClient::new(daemon.remote().await);
    assert!(stranger.list_effects(bearing(&token, list)).await.unwrap().into_inner().effects.is_empty());
    let known = v1::ResolveEffectRequest {
        run_id: run.clone(),
        effect_id: 1,
        resolution: v1::EffectResolution::Happened.into(),
        note: String::new(),
    };
    let refused = client.resolve_effect(known).await.unwrap_err();
    assert_refused(&refused, Code::FailedPrecondition, ErrorCode::EffectNotUnknown);
    let refused = client.undo_run(v1::UndoRunRequest { run_id: run }).await.unwrap_err();
    assert_refused(&refused, Code::FailedPrecondition, ErrorCode::UndoNothing);
}
