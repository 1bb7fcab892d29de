//! Calls that wait for their turn: what was taken back meanwhile keeps them from starting.

use palyra_admin::postures::PostureWhere;
use palyra_runtime::approvals::{ApprovalReply, RememberRequest, RememberScope};
use palyra_testkit::scripted_tools::{ACT, CHANGE, COUNT, LOOK};
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::approval::ApprovalDecision;
use palyra_types::event::{TapeEvent, ToolEvent};
use palyra_types::posture::Posture;
use palyra_types::tool::{DecisionReason, ToolName, ToolVerdict};
use palyra_types::{RunId, StoredGrantId};

use crate::approval_calls::{ACTS, answer, approve, ask, asked, asking, asking_rig, asking_with, waiting};
use crate::rig::{Parts, Rig, looking, settle};
use crate::shapes::check;

/// Whether what let the call run is taken back while it waits.
#[derive(Clone, Copy, PartialEq)]
enum Meanwhile {
    Nothing,
    TakenBack,
}

const BOTH: [Meanwhile; 2] = [Meanwhile::Nothing, Meanwhile::TakenBack];

/// Begins a run whose first call is held, with another one behind it; returns the run and what lets it go on.
async fn behind_a_held_call(rig: &Rig, tool: &str, arguments: &str) -> (RunId, Gate) {
    let gate = Gate::closed();
    rig.tools.push(COUNT, ToolScript::Hold(gate.clone(), "counted".to_owned()));
    rig.model.push(Script::new().call(COUNT, "{}").call(tool, arguments));
    let run = rig.submit("k", "go").await.run;
    settle().await;
    (run, gate)
}

async fn granted(rig: &Rig) -> StoredGrantId {
    let (run, approval) = ask(rig, "k", ACT, r#"{"a":1}"#).await;
    let remember = RememberRequest {
        scope: RememberScope::Session,
        expires: None,
        uses_max: Some(2),
        rules: Vec::new(),
    };
    let reply = ApprovalReply { remember: Some(remember), ..ApprovalReply::plain(ApprovalDecision::Approve) };
    let resolved = answer(rig, rig.me(), approval, reply).await.unwrap();
    rig.finished(run).await;
    resolved.grant.unwrap()
}

async fn disable(rig: &Rig, tool: &str) {
    let policy = &rig.gateway.admin.policy;
    let tool = ToolName::new(tool);
    policy.set_posture(rig.me(), tool, PostureWhere::Global, Posture::Disabled).await.unwrap();
}

fn executed(rig: &Rig, run: RunId, tool: &str) -> usize {
    rig.tools.executions().iter().filter(|call| call.run == run && call.tool == tool).count()
}

/// Returns the last verdict of a run's tape.
async fn last_verdict(rig: &Rig, run: RunId) -> (ToolVerdict, DecisionReason) {
    let tape = rig.tape(run).await;
    check(&tape);
    let decided = tape.iter().rev().find_map(|entry| match &entry.event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) => Some((decided.verdict, decided.reason)),
        _ => None,
    });
    decided.unwrap()
}

#[tokio::test]
async fn a_call_whose_grant_is_revoked_while_it_waits_is_asked_about() {
    for meanwhile in BOTH {
        let rig = asking_rig().await;
        let grant = granted(&rig).await;
        let (run, gate) = behind_a_held_call(&rig, ACT, r#"{"a":1}"#).await;
        if meanwhile == Meanwhile::TakenBack {
            rig.gateway.admin.grants.revoke(rig.me(), grant).await.unwrap();
        }
        gate.open();
        settle().await;
        let asks = usize::from(meanwhile == Meanwhile::TakenBack);
        assert_eq!((executed(&rig, run, ACT), waiting(&rig).await.len()), (1 - asks, asks));
        if asks == 1 {
            approve(&rig, asked(&rig, run).await).await.unwrap();
        }
        rig.finished(run).await;
        check(&rig.tape(run).await);
        assert_eq!(executed(&rig, run, ACT), 1, "once, by the grant or by the yes");
    }
}

#[tokio::test]
async fn a_tool_that_is_disabled_while_its_call_waits_does_not_run() {
    for meanwhile in BOTH {
        let rig = Rig::start().await;
        let (run, gate) = behind_a_held_call(&rig, LOOK, "{}").await;
        let commits = rig.memory_commits();
        if meanwhile == Meanwhile::TakenBack {
            disable(&rig, LOOK).await;
        }
        gate.open();
        rig.finished(run).await;
        match meanwhile {
            Meanwhile::Nothing => {
                assert_eq!(executed(&rig, run, LOOK), 1);
                assert_eq!(rig.memory_commits(), commits + 3, "both outcomes, and the last answer");
                assert_eq!(last_verdict(&rig, run).await.0, ToolVerdict::Allow);
            }
            Meanwhile::TakenBack => {
                assert_eq!(executed(&rig, run, LOOK), 0);
                let denied = (ToolVerdict::Deny, DecisionReason::Disabled);
                assert_eq!(last_verdict(&rig, run).await, denied);
            }
        }
    }
}

#[tokio::test]
async fn an_approved_call_whose_tool_is_disabled_while_it_waits_does_not_run() {
    for meanwhile in BOTH {
        let rig = asking_rig().await;
        let (run, gate) = behind_a_held_call(&rig, ACT, r#"{"a":1}"#).await;
        approve(&rig, asked(&rig, run).await).await.unwrap();
        settle().await;
        assert_eq!(executed(&rig, run, ACT), 0, "it is not its turn");
        if meanwhile == Meanwhile::TakenBack {
            disable(&rig, ACT).await;
        }
        gate.open();
        rig.finished(run).await;
        assert_eq!(executed(&rig, run, ACT), usize::from(meanwhile == Meanwhile::Nothing));
        check(&rig.tape(run).await);
    }
}

#[tokio::test]
async fn rules_that_change_while_calls_wait_are_those_that_count() {
    for (rules, executions, asks) in [
        (asking(), 1, 0),
        (looking(), 0, 0),
        (looking().with_file("acts.cedar", &ACTS.replace("\"execute\"", "\"execute_unattended\"")), 1, 0),
    ] {
        let rig = asking_rig().await;
        let (run, gate) = behind_a_held_call(&rig, ACT, r#"{"a":1}"#).await;
        approve(&rig, asked(&rig, run).await).await.unwrap();
        settle().await;
        rig.rule(&rules);
        gate.open();
        rig.finished(run).await;
        assert_eq!((executed(&rig, run, ACT), waiting(&rig).await.len()), (executions, asks));
    }
}

/// The controls are a yes that a rule with the same approvers wanted, and one of a rule that named none before and after.
#[tokio::test]
async fn a_yes_does_not_answer_a_rule_that_names_other_approvers_by_now() {
    let owners = || asking_with(r#"@approvers("role:owner")"#);
    let both = || asking_with(r#"@approvers("role:owner, role:approver")"#);
    for (before, after, asks) in [
        (asking(), asking(), 0),
        (asking(), owners(), 1),
        (owners(), owners(), 0),
        (owners(), both(), 1),
        (owners(), asking(), 0),
    ] {
        let rig = Parts { rules: before, ..Parts::new() }.start().await;
        let (run, gate) = behind_a_held_call(&rig, ACT, r#"{"a":1}"#).await;
        approve(&rig, asked(&rig, run).await).await.unwrap();
        settle().await;
        rig.rule(&after);
        gate.open();
        settle().await;
        assert_eq!((executed(&rig, run, ACT), waiting(&rig).await.len()), (1 - asks, asks));
        if asks == 1 {
            approve(&rig, waiting(&rig).await.remove(0).approval).await.unwrap();
        }
        rig.finished(run).await;
        check(&rig.tape(run).await);
        assert_eq!(executed(&rig, run, ACT), 1);
    }
}

#[tokio::test]
async fn a_call_that_is_prepared_is_judged_once_more_when_it_is() {
    let permits = looking().with_file(
        "acts.cedar",
        &ACTS.replace("\"act\"", "\"change\"").replace("\"execute\"", "\"execute_unattended\""),
    );
    for meanwhile in BOTH {
        let rig = asking_rig().await;
        rig.rule(&permits);
        let (run, gate) = behind_a_held_call(&rig, CHANGE, r#"{"a":1}"#).await;
        if meanwhile == Meanwhile::TakenBack {
            rig.rule(&looking());
        }
        gate.open();
        settle().await;
        let asks = usize::from(meanwhile == Meanwhile::TakenBack);
        assert_eq!((executed(&rig, run, CHANGE), waiting(&rig).await.len()), (1 - asks, asks));
        if asks == 1 {
            let prompt = waiting(&rig).await.remove(0).prompt;
            assert!(prompt.asked_again.expose().contains("changed while the call waited"));
            assert!(!prompt.preview.expose().is_empty(), "it shows what would be changed");
            rig.cancel(run).await.unwrap();
        }
        rig.finished(run).await;
        check(&rig.tape(run).await);
    }
}
