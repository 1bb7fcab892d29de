//! Calls that ask: answered, edited, asked again, expired, withdrawn; and runs that wait for an answer.

use std::time::Duration;

use palyra_admin::Caller;
use palyra_ports::read_approvals::ApprovalQuery;
use palyra_runtime::RequestError;
use palyra_runtime::approvals::{APPROVAL_PAGE_BYTES_MAX, AnswerCounted, ApprovalReply, ApprovalUpdate};
use palyra_runtime::session::SubmitRequest;
use palyra_testkit::scripted_tools::{ACT, CHANGE, LOOK, QUESTION, SEND};
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::access::{Credential, CredentialKind, Role};
use palyra_types::approval::{ApprovalDecision, ApprovalState, ApproverPresence};
use palyra_types::effect::PREVIEW_BYTES_MAX;
use palyra_types::event::{DecidedBy, TapeEvent, ToolEvent};
use palyra_types::model::ChatMessage;
use palyra_types::run::{InputDelivery, RunLifecycleState, RunPhase, WaitReason};
use palyra_types::surface::Surface;
use palyra_types::tool::{DecisionReason, ToolVerdict};
use palyra_types::{ErrorCode, TokenId};

use crate::approval_calls::{answer, approve, ask, asked, asking, asking_rig, asking_with, deny, waiting};
use crate::rig::{Parts, Rig, by_key, entries_of, journal_of, request, settle, soon};
use crate::shapes::{check, shape};

/// What the model read as the result of its first call, in its latest request.
fn told(rig: &Rig) -> String {
    let requests = rig.model.requests();
    let mut results = requests.last().unwrap().messages.iter().filter_map(|message| match message {
        ChatMessage::ToolResult { text, .. } => Some(text.expose().clone()),
        _ => None,
    });
    results.next_back().unwrap()
}

#[tokio::test]
async fn an_approved_call_starts_in_the_commit_of_its_answer_and_runs_once() {
    let rig = asking_rig().await;
    let gate = Gate::closed();
    rig.tools.push(ACT, ToolScript::Hold(gate.clone(), "done".to_owned()));
    let (run, approval) = ask(&rig, "k", ACT, r#"{"a":1}"#).await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::Approval));
    assert!(rig.tools.executions().is_empty());
    let shown = rig.gateway.waiting.approvals.get(rig.me(), approval).await.unwrap();
    assert_eq!(shown.prompt.arguments.expose(), r#"{"a":1}"#);
    assert!(shown.prompt.reason.expose().contains("it acts"), "{:?}", shown.prompt.reason.expose());
    let commits = rig.memory_commits();
    let resolved = approve(&rig, approval).await.unwrap();
    assert_eq!((resolved.record.state, resolved.counted), (ApprovalState::Approved, AnswerCounted::Yes));
    soon("the call", gate.reached()).await;
    assert_eq!(rig.memory_commits(), commits + 1);
    gate.open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let tape = rig.tape(run).await;
    check(&tape);
    assert_eq!(
        shape(&tape)[4..11],
        ["decided 1 Ask", "asks 1", "answer 1 Approved", "decided 1 Allow", "tool 1", "outcome 1", "asked 2"]
    );
    let attested = tape.iter().find_map(|entry| match &entry.event {
        TapeEvent::Tool(ToolEvent::Finished(finished)) => Some(finished.attested),
        _ => None,
    });
    assert_eq!(attested.unwrap().approval, Some(approval));
    assert_eq!(rig.tools.executions().len(), 1);
    let again = approve(&rig, approval).await.unwrap();
    assert_eq!((again.counted, rig.tools.executions().len()), (AnswerCounted::Yes, 1));
    assert!(matches!(
        deny(&rig, approval).await,
        Err(RequestError::ApprovalDecided { state: ApprovalState::Approved, by: Some(by) }) if by == rig.me().actor.principal
    ));
}

#[tokio::test]
async fn a_denied_call_never_runs_and_the_model_reads_what_was_said() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    let reply = ApprovalReply { note: "rather not".into(), ..ApprovalReply::plain(ApprovalDecision::Deny) };
    let resolved = answer(&rig, rig.me(), approval, reply).await.unwrap();
    assert_eq!((resolved.record.state, resolved.counted), (ApprovalState::Denied, AnswerCounted::Yes));
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    check(&rig.tape(run).await);
    assert!(told(&rig).contains("rather not"), "{}", told(&rig));
    assert!(rig.tools.executions().is_empty());
}

#[tokio::test]
async fn an_edited_call_runs_as_it_was_edited_and_one_that_cannot_still_waits() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", ACT, r#"{"a":1}"#).await;
    let edit = |text: &str| ApprovalReply {
        edited: Some(text.into()),
        ..ApprovalReply::plain(ApprovalDecision::Approve)
    };
    let refused = answer(&rig, rig.me(), approval, edit("no json")).await;
    assert!(matches!(&refused, Err(RequestError::EditRefused { .. })), "{refused:?}");
    assert_eq!(waiting(&rig).await.len(), 1);
    answer(&rig, rig.me(), approval, edit(r#"{"a":2}"#)).await.unwrap();
    rig.finished(run).await;
    let ran: Vec<_> = rig.tools.executions().into_iter().map(|execution| execution.arguments).collect();
    assert_eq!(ran, [r#"{"a":2}"#]);
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn what_would_do_something_else_by_now_is_asked_again() {
    let rig = asking_rig().await;
    rig.tools.finds(CHANGE, "one");
    let (run, first) = ask(&rig, "k", CHANGE, "{}").await;
    rig.tools.finds(CHANGE, "two");
    let resolved = approve(&rig, first).await.unwrap();
    assert_eq!((resolved.record.state, resolved.counted), (ApprovalState::Withdrawn, AnswerCounted::No));
    assert!(rig.tools.executions().is_empty());
    let second = resolved.asked_again.unwrap();
    let shown = rig.gateway.waiting.approvals.get(rig.me(), second).await.unwrap();
    assert!(shown.prompt.preview.expose().contains("-two"));
    assert!(!shown.prompt.asked_again.expose().is_empty());
    approve(&rig, second).await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let executions = rig.tools.executions();
    assert_eq!(executions.len(), 1);
    assert!(executions[0].plan.body.expose().contains("two"));
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_call_that_cannot_work_asks_nobody() {
    let rig = asking_rig().await;
    rig.tools.refuses(CHANGE, ErrorCode::FileNotFound, "there is no such file");
    rig.model.push(Script::new().call(CHANGE, "{}"));
    let run = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert!(told(&rig).contains("no such file"));
    assert!(!shape(&rig.tape(run).await).contains(&"asks 1".to_owned()));
}

#[tokio::test]
async fn seventy_two_hours_expire_exactly_what_is_due() {
    let looks = asking_with(r#"@expires("1h")"#).with_file(
        "sends.cedar",
        r#"@id("sends") @reason("it sends") @expires("71h")
        permit (principal, action == Action::"execute", resource == Tool::"send");
        @id("parks") @reason("it is parked") @at_expiry("park")
        permit (principal, action == Action::"execute", resource == Tool::"change");"#,
    );
    let rig = Parts { rules: looks, ..Parts::new() }.start().await;
    let mut due = Vec::new();
    for hour in 0..72_u64 {
        let (tool, span) = match hour % 3 {
            0 => (ACT, 1),
            1 => (SEND, 71),
            _ => (CHANGE, 10_000),
        };
        let (run, approval) = ask(&rig, &format!("k{hour}"), tool, "{}").await;
        due.push((hour + span, run, approval));
        rig.clock.advance(Duration::from_secs(3_600));
        settle().await;
        let mut left: Vec<_> = waiting(&rig).await.iter().map(|record| record.approval).collect();
        let mut expected: Vec<_> =
            due.iter().filter(|(until, ..)| *until > hour + 1).map(|(.., approval)| *approval).collect();
        left.sort_unstable();
        expected.sort_unstable();
        assert_eq!(left, expected, "after {} hours", hour + 1);
    }
    assert!(rig.tools.executions().is_empty());
    for (until, run, _) in due.iter().filter(|(until, ..)| *until <= 72) {
        assert_eq!(rig.record(*run).await.state, RunLifecycleState::Done, "due after {until} hours");
    }
}

#[tokio::test]
async fn what_is_due_at_a_start_is_ended_at_once_and_nothing_else_is_taken_up() {
    let rig = asking_rig().await;
    let (late, _) = ask(&rig, "late", ACT, "{}").await;
    rig.clock.advance(Duration::from_secs(3_600));
    let (early, _) = ask(&rig, "early", ACT, "{}").await;
    let memory = rig.memory.restarted();
    let clock = rig.clock.clone();
    drop(rig);
    clock.advance(Duration::from_secs(23 * 3_600));
    let rig = Parts { memory, clock, seed: 99, rules: asking(), ..Parts::new() }.start().await;
    assert_eq!(rig.finished(late).await.state, RunLifecycleState::Done);
    assert_eq!(rig.record(early).await.phase, RunPhase::Waiting(WaitReason::Approval));
    rig.clock.advance(Duration::from_secs(3_600));
    assert_eq!(rig.finished(early).await.state, RunLifecycleState::Done);
    assert!(rig.tools.executions().is_empty());
}

#[tokio::test]
async fn a_wall_clock_that_is_set_forward_ends_what_is_due_by_it() {
    let rig = asking_rig().await;
    let (run, _) = ask(&rig, "k", ACT, "{}").await;
    let ahead = |hours: i64| hours * 3_600 * 1_000_000;
    rig.clock.set_wall_ahead(ahead(23));
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::Approval));
    rig.clock.set_wall_ahead(ahead(25));
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert!(rig.tools.executions().is_empty());
}

#[tokio::test]
async fn a_cancel_takes_the_question_back() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    rig.cancel(run).await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    check(&rig.tape(run).await);
    assert!(matches!(
        approve(&rig, approval).await,
        Err(RequestError::ApprovalDecided { state: ApprovalState::Withdrawn, by: None })
    ));
    assert!(rig.tools.executions().is_empty());
}

#[tokio::test]
async fn words_to_a_run_that_waits_for_an_approval_are_not_its_answer() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    let queued = rig.input(run, "yes, do it").await.unwrap();
    assert!(queued.queued && queued.run != run);
    let steer = SubmitRequest { delivery: InputDelivery::Steer, ..request(by_key("k"), "carefully") };
    let joined = soon("steering", rig.gateway.sessions.submit(rig.me(), steer)).await.unwrap();
    assert_eq!(joined.run, run);
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::Approval));
    assert!(rig.tools.executions().is_empty());
    approve(&rig, approval).await.unwrap();
    rig.finished(queued.run).await;
    let shown = format!("{:?}", shape(&rig.tape(run).await));
    assert!(shown.contains("input carefully"), "{shown}");
    assert_eq!(rig.tools.executions().len(), 1);
}

#[tokio::test]
async fn an_interrupting_input_withdraws_the_question() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    let submit =
        SubmitRequest { delivery: InputDelivery::Interrupt, ..request(by_key("k"), "stop, do this") };
    let next = soon("a submit", rig.gateway.sessions.submit(rig.me(), submit)).await.unwrap().run;
    assert_eq!(rig.finished(next).await.state, RunLifecycleState::Done);
    assert_eq!(rig.record(run).await.state, RunLifecycleState::Cancelled);
    let record = rig.gateway.waiting.approvals.get(rig.me(), approval).await.unwrap();
    assert_eq!(record.state, ApprovalState::Withdrawn);
}

#[tokio::test]
async fn a_run_stopped_after_any_entry_still_runs_its_call_once_and_only_after_a_yes() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", CHANGE, "{}").await;
    approve(&rig, approval).await.unwrap();
    rig.finished(run).await;
    let entries = entries_of(&rig.memory).await;
    let first = entries.iter().position(|entry| entry.run.is_some()).unwrap();
    for stopped_after in first + 1..=entries.len() {
        let memory = journal_of(&entries[..stopped_after]).await;
        let seed = 1_000 + stopped_after as u64;
        let rig = Parts { memory, seed, rules: asking(), ..Parts::new() }.start().await;
        for _ in 0..6 {
            settle().await;
            for record in waiting(&rig).await {
                approve(&rig, record.approval).await.unwrap();
            }
            if rig.record(run).await.phase == RunPhase::Finished {
                break;
            }
            rig.clock.advance(Duration::from_secs(1));
        }
        let tape = rig.tape(run).await;
        assert_eq!(
            rig.record(run).await.state,
            RunLifecycleState::Done,
            "{stopped_after}: {:?}",
            shape(&tape)
        );
        check(&tape);
        let starts =
            tape.iter().filter(|entry| matches!(entry.event, TapeEvent::Tool(ToolEvent::Started(_)))).count();
        assert!(starts <= 1 && rig.tools.executions().len() <= 1, "stopped after {stopped_after}");
    }
}

#[tokio::test]
async fn a_question_waits_for_the_person_s_words_across_a_restart() {
    let rig = asking_rig().await;
    rig.model.push(Script::new().call(QUESTION, r#"{"question":"which?"}"#));
    let run = rig.submit("k", "go").await.run;
    rig.until(run, "the question", |event| matches!(event, TapeEvent::Tool(ToolEvent::Started(_)))).await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::Question));
    let rig = rig.restarted().await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::Question));
    rig.input(run, "the blue one").await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert!(rig.tools.executions().is_empty());
    let shown = format!("{:?}", rig.model.requests()[0].messages);
    assert_eq!(rig.model.requests().len(), 1, "{shown}");
}

#[tokio::test]
async fn a_run_that_nobody_will_approve_is_denied_at_once() {
    let rig = asking_rig().await;
    rig.model.push(Script::new().call(ACT, "{}").call(LOOK, "{}"));
    let submit = SubmitRequest { approvers: ApproverPresence::Nobody, ..request(by_key("k"), "go") };
    let run = soon("a submit", rig.gateway.sessions.submit(rig.me(), submit)).await.unwrap().run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let decided = rig.tape(run).await.into_iter().find_map(|entry| match entry.event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) if decided.verdict == ToolVerdict::Deny => {
            Some(decided.reason)
        }
        _ => None,
    });
    assert_eq!(decided, Some(DecisionReason::NoApprovalChannel));
    assert_eq!(rig.tools.executions().len(), 1, "it looked");
}

#[tokio::test]
async fn a_watch_shows_what_waits_and_then_each_change() {
    let rig = asking_rig().await;
    let (_, first) = ask(&rig, "a", ACT, "{}").await;
    let mut watcher = rig.gateway.waiting.approvals.watch(rig.me(), None);
    let mut stranger = rig.gateway.waiting.approvals.watch(rig.stranger(), None);
    assert_eq!(stranger.next().await.unwrap(), Some(ApprovalUpdate::CaughtUp { pending: 0 }));
    let Some(ApprovalUpdate::Approval(shown)) = watcher.next().await.unwrap() else { panic!("it waits") };
    assert_eq!(shown.approval, first);
    assert_eq!(watcher.next().await.unwrap(), Some(ApprovalUpdate::CaughtUp { pending: 1 }));
    deny(&rig, first).await.unwrap();
    let Some(ApprovalUpdate::Approval(shown)) = soon("a change", watcher.next()).await.unwrap() else {
        panic!("it changed")
    };
    assert_eq!((shown.approval, shown.state), (first, ApprovalState::Denied));
    let (_, second) = ask(&rig, "b", ACT, "{}").await;
    let Some(ApprovalUpdate::Approval(shown)) = soon("a question", watcher.next()).await.unwrap() else {
        panic!("it asks")
    };
    assert_eq!((shown.approval, shown.state), (second, ApprovalState::Pending));
}

#[tokio::test]
async fn two_people_have_to_say_yes_where_a_rule_wants_it() {
    let rules = asking_with(r#"@approvals("2")"#);
    let rig = Parts { rules, ..Parts::new() }.start().await;
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    let first = approve(&rig, approval).await.unwrap();
    assert_eq!((first.record.state, first.record.voters.len()), (ApprovalState::Pending, 1));
    let again = approve(&rig, approval).await.unwrap();
    assert_eq!((again.counted, again.record.voters.len()), (AnswerCounted::Yes, 1));
    assert!(rig.tools.executions().is_empty());
    let yes = ApprovalReply::plain(ApprovalDecision::Approve);
    let second = answer(&rig, rig.other_owner(), approval, yes).await.unwrap();
    assert_eq!(second.record.state, ApprovalState::Approved);
    rig.finished(run).await;
    assert_eq!(rig.tools.executions().len(), 1);
}

/// Whom a rule names decides, by the role that they have when they answer; an owner whom it does not name does not.
#[tokio::test]
async fn a_named_approver_decides_by_the_role_of_the_moment() {
    let rules = asking_with(r#"@approvers("role:approver")"#);
    let rig = Parts { rules, ..Parts::new() }.start().await;
    let access = &rig.gateway.admin.access;
    let ann = access.create_person(rig.me(), "user:ann", Role::Member).await.unwrap().id;
    let credential = Credential {
        principal: ann,
        token: TokenId::from_parts(11, 9),
        kind: CredentialKind::PersonSession,
        scopes: Role::Approver.scopes(),
    };
    let ann = Caller::with_credential(&credential, Surface::Console);
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    for _ in 0..2 {
        let member = answer(&rig, ann, approval, ApprovalReply::plain(ApprovalDecision::Approve)).await;
        assert!(matches!(member, Err(RequestError::ApprovalNotFound)), "{member:?}");
        let owner = answer(&rig, rig.me(), approval, ApprovalReply::plain(ApprovalDecision::Approve)).await;
        assert!(matches!(owner, Err(RequestError::ApproverNotEligible)), "{owner:?}");
        access.set_role(rig.me(), credential.principal, Role::Approver).await.unwrap();
        access.set_role(rig.me(), credential.principal, Role::Member).await.unwrap();
    }
    access.set_role(rig.me(), credential.principal, Role::Approver).await.unwrap();
    answer(&rig, ann, approval, ApprovalReply::plain(ApprovalDecision::Approve)).await.unwrap();
    rig.finished(run).await;
    assert_eq!(rig.tools.executions().len(), 1);
}

#[tokio::test]
async fn a_decision_names_its_policy_and_the_policy_s_text_is_kept_once() {
    let rig = asking_rig().await;
    for key in ["a", "b"] {
        let (run, approval) = ask(&rig, key, ACT, "{}").await;
        approve(&rig, approval).await.unwrap();
        rig.finished(run).await;
    }
    let (run, _) = ask(&rig, "c", ACT, "{}").await;
    let decided = rig.tape(run).await.into_iter().find_map(|entry| match entry.event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) => Some(decided),
        _ => None,
    });
    let decided = decided.unwrap();
    assert_eq!(decided.decided_by, DecidedBy::Policy);
    assert!(decided.request.expose().contains("act"), "the request is kept word for word");
    assert_ne!(decided.policy_digest, [0; 32]);
}

#[tokio::test]
async fn nothing_is_decided_by_a_clock_that_stands_before_the_newest_entry() {
    let ahead = asking_rig().await;
    ahead.clock.advance(Duration::from_secs(3_600));
    let (run, approval) = ask(&ahead, "k", ACT, "{}").await;
    let memory = ahead.memory.restarted();
    let rig = Parts { memory, seed: 99, rules: asking(), ..Parts::new() }.start().await;
    assert!(matches!(approve(&rig, approval).await, Err(RequestError::ClockBehind { .. })));
    rig.clock.advance(Duration::from_secs(3_600));
    approve(&rig, approval).await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_draining_daemon_takes_no_answer_and_the_next_one_does() {
    let rig = asking_rig().await;
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    soon("rest", rig.gateway.sessions.drain()).await;
    assert!(matches!(approve(&rig, approval).await, Err(RequestError::ShuttingDown)));
    let memory = rig.memory.restarted();
    let rig = Parts { memory, seed: 99, rules: asking(), ..Parts::new() }.start().await;
    assert_eq!(asked(&rig, run).await, approval);
    approve(&rig, approval).await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn waiting_approvals_are_rows_and_one_timer() {
    let rig = asking_rig().await;
    for number in 0..100 {
        ask(&rig, &format!("k{number}"), ACT, "{}").await;
    }
    rig.clock.advance(Duration::from_secs(60));
    settle().await;
    let timer = rig.clock.next_deadline();
    rig.clock.advance(Duration::from_secs(1));
    settle().await;
    assert_eq!(rig.clock.next_deadline(), timer, "nobody else sleeps");
    let memory = rig.memory.restarted();
    let rig = Parts { memory, seed: 99, rules: asking(), ..Parts::new() }.start().await;
    settle().await;
    assert_eq!(waiting(&rig).await.len(), 100);
    assert_eq!(rig.model.requests().len(), 0, "nothing was taken up");
}

/// Whole rows, each once, however large what they show is.
#[tokio::test]
async fn a_page_of_approvals_ends_by_its_bytes() {
    let rig = Parts { rules: asking(), ..Parts::new() }.start().await;
    rig.tools.finds(CHANGE, &"x".repeat(PREVIEW_BYTES_MAX - 100));
    let mut asked_for = Vec::new();
    for n in 0..40 {
        asked_for.push(ask(&rig, &format!("k{n}"), CHANGE, "{}").await.1);
    }
    let mut query = ApprovalQuery { limit: 500, ..ApprovalQuery::default() };
    let mut listed = Vec::new();
    let mut pages = 0;
    loop {
        let page = rig.gateway.waiting.approvals.list(rig.me(), query.clone()).await.unwrap();
        let bytes: usize = page.records.iter().map(|record| record.prompt.preview.expose().len()).sum();
        assert!(bytes > PREVIEW_BYTES_MAX / 2 && bytes <= APPROVAL_PAGE_BYTES_MAX, "{bytes}");
        listed.extend(page.records.iter().map(|record| record.approval));
        pages += 1;
        query.before = page.next;
        if page.next.is_none() {
            break;
        }
    }
    asked_for.reverse();
    assert_eq!((listed, pages), (asked_for, 3));
    let small = ApprovalQuery { limit: 3, ..ApprovalQuery::default() };
    let page = rig.gateway.waiting.approvals.list(rig.me(), small).await.unwrap();
    assert_eq!((page.records.len(), page.next), (3, page.records.last().map(|record| record.seq)));
}
