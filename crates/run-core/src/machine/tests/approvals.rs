//! Calls that ask: who is asked when, and what each answer leads to.

use palyra_types::approval::{ApprovalState, GrantScope};
use palyra_types::event::{ApprovalEvent, CallAttestation, RunEvent, TapeEvent, ToolEvent};
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::tool::{DecisionReason, Taints};
use palyra_types::{ErrorCode, SessionId, StoredGrantId};

use crate::scenario::asks::{
    PolicyNow, approval, approve, asking, cannot, deny, edit, expire, person, read_tainted, ready,
    ready_finding, send, stamp,
};
use crate::scenario::{
    ScenarioAct, ScenarioDriver, ScriptedCall, answer, begin, broken, calls, cancel, check, check_from,
    digest, done, fails_with, input, lost, read, restart, scan, start, steer, wait,
};
use crate::{AnswerStage, Effect, RunError, RunInput};

/// A run whose first answer wants these calls.
fn wanting(wanted: &[ScriptedCall]) -> ScenarioDriver {
    let mut driver = ScenarioDriver::new();
    for act in [start(), begin(), calls(1, wanted)] {
        driver.act(&act).expect("an input").expect("taken");
    }
    driver
}

fn after(mut driver: ScenarioDriver, acts: &[ScenarioAct]) -> ScenarioDriver {
    for act in acts {
        if let Some(outcome) = driver.act(act) {
            outcome.unwrap_or_else(|error| panic!("{error} on {}", driver.tape_line()));
        }
    }
    driver
}

#[test]
fn a_call_that_is_not_prepared_asks_with_its_decision_and_runs_with_the_approval() {
    let run = check_from(
        wanting(&[asking("write")]),
        &[restart(), approve(11).act(), done(1)],
        "nothing
         Resolved 11 Approved, Allowed by 11, Started 1 opaque > execute 1
         Finished 1, ModelRequested 2 turn 2 > ask 2",
    );
    assert_eq!(run.phase(), RunPhase::Running);
}

#[test]
fn a_prepared_call_asks_with_what_it_would_do() {
    let run = check(
        &[start(), begin(), calls(1, &[edit("a")]), ready(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 edit, ToAsk > prepare 1
         Asks 11 about 1",
    );
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::Approval));
    let Some((TapeEvent::Approval(ApprovalEvent::Requested(asked)), _)) = run.tape.last() else {
        panic!("{}", run.tape_line())
    };
    assert_eq!(asked.prompt.summary.expose(), "will edit");
    assert_eq!(asked.prompt.arguments.expose(), r#"{"path":"a"}"#);
    let plan = digest(r#"edit {"path":"a"} as it was"#);
    assert_eq!(asked.binding, plan);
    check_from(
        run,
        &[restart(), approve(11).act(), done(1)],
        "nothing
         Resolved 11 Approved, Allowed by 11, Started 1 probe > execute 1
         Finished 1, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn the_plan_of_an_approved_call_is_on_the_tape_and_in_its_grant() {
    let mut run = after(wanting(&[edit("a")]), &[ready(1)]);
    let commit = run.must(&run.answer(&approve(11)));
    let Some(Effect::Execute(grant)) = commit.effects.last() else { panic!("{}", commit.line()) };
    assert_eq!(grant.plan().binding, digest(r#"edit {"path":"a"} as it was"#));
    let Some(TapeEvent::Tool(ToolEvent::Started(started))) = commit.events.last() else {
        panic!("{}", commit.line())
    };
    assert_eq!(&started.plan, grant.plan());
}

#[test]
fn a_prepared_call_that_is_allowed_starts_with_its_plan_or_not_at_all() {
    check_from(
        wanting(&[stamp("a")]),
        &[ready(1), done(1)],
        "Started 1 probe > execute 1
         Finished 1, ModelRequested 2 turn 2 > ask 2",
    );
    let run = check_from(
        wanting(&[stamp("a"), edit("b")]),
        &[restart(), cannot(1), cannot(2)],
        "nothing > prepare 1
         Denied NotPossible > prepare 2
         Denied NotPossible, ModelRequested 2 turn 2 > ask 2",
    );
    assert!(run.machine.pending_approvals().next().is_none());
}

#[test]
fn a_denial_is_told_to_the_model_which_goes_on() {
    let run = check_from(
        wanting(&[asking("write")]),
        &[deny(11).note("not on Sundays").act(), approve(11).act()],
        "Resolved 11 Denied, Denied ApprovalDenied by 11, ModelRequested 2 turn 2 > ask 2
         refused: ApprovalDecided",
    );
    let denied = run.tape.iter().find_map(|(event, _)| match event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) if decided.reason == DecisionReason::ApprovalDenied => {
            Some(decided)
        }
        _ => None,
    });
    assert!(denied.expect("denied").explanation.expose().ends_with(": not on Sundays"));
}

#[test]
fn several_people_have_to_say_yes_and_each_once() {
    let run = check_from(
        wanting(&[asking("pay").needing(3)]),
        &[
            approve(11).act(),
            approve(11).act(),
            restart(),
            approve(11).by(4).act(),
            approve(11).by(4).act(),
            approve(11).by(5).act(),
        ],
        "Voted 11
         refused: NotEligible
         nothing
         Voted 11
         refused: NotEligible
         Resolved 11 Approved, Allowed by 11, Started 1 opaque > execute 1",
    );
    assert_eq!(run.phase(), RunPhase::Running);
    check_from(
        wanting(&[asking("pay").needing(3)]),
        &[approve(11).by(4).act(), deny(11).by(4).act()],
        "Voted 11
         Resolved 11 Denied, Denied ApprovalDenied by 11, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn where_another_person_is_wanted_the_runs_own_may_not_decide() {
    check_from(
        wanting(&[asking("pay").by_another()]),
        &[approve(11).act(), deny(11).act(), approve(11).by(4).act()],
        "refused: NotEligible
         refused: NotEligible
         Resolved 11 Approved, Allowed by 11, Started 1 opaque > execute 1",
    );
}

#[test]
fn policy_has_the_last_word() {
    check_from(
        wanting(&[asking("pay")]),
        &[approve(11).policy(PolicyNow::Denies).act()],
        "Resolved 11 Denied, Denied Forbidden, ModelRequested 2 turn 2 > ask 2",
    );
    check_from(
        wanting(&[asking("pay")]),
        &[approve(11).policy(PolicyNow::Needs(2)).act(), approve(11).by(4).act()],
        "Voted 11
         Resolved 11 Approved, Allowed by 11, Started 1 opaque > execute 1",
    );
    check_from(
        wanting(&[asking("pay")]),
        &[approve(11).policy(PolicyNow::OtherVersion).act()],
        "Resolved 11 Withdrawn, Denied Drifted, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn what_changed_meanwhile_is_asked_again() {
    let run = check_from(
        wanting(&[edit("a")]),
        &[
            ready(1),
            approve(11).found("something else").fresh(77).act(),
            approve(11).found("something else").act(),
            approve(77).found("a third thing").fresh(78).act(),
            approve(78).found("a third thing").act(),
        ],
        "Asks 11 about 1
         Resolved 11 Withdrawn, Asks 77 about 1 again
         refused: ApprovalDecided
         Resolved 77 Withdrawn, Asks 78 about 1 again
         Resolved 78 Approved, Allowed by 78, Started 1 probe > execute 1",
    );
    assert_eq!(run.machine.pending_approvals().count(), 0);
    check_from(
        wanting(&[edit("a")]),
        &[ready(1), approve(11).refused().act()],
        "Asks 11 about 1
         Resolved 11 Withdrawn, Denied NotPossible, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn a_person_may_write_other_arguments() {
    let mut run = after(wanting(&[edit("a")]), &[ready(1)]);
    let commit = run.must(&run.answer(&approve(11).edited(r#"{"path":"b"}"#).found("else")));
    assert_eq!(
        commit.line(),
        "Resolved 11 Approved edited, Allowed by 11, Started 1 probe > execute 1",
        "an edit is no drift"
    );
    let Some(Effect::Execute(grant)) = commit.effects.last() else { panic!("{}", commit.line()) };
    assert_eq!(grant.arguments().expose(), r#"{"path":"b"}"#);
    assert_eq!(grant.plan().binding, digest(r#"edit {"path":"b"} else"#));
    run.act(&done(1)).expect("an input").expect("taken");
    let attested = attested(&run);
    assert_eq!(attested.call_digest, digest(r#"edit {"path":"b"}"#));
    assert_eq!((attested.approval, attested.policy_digest), (Some(approval(11)), [8; 32]));
}

fn attested(run: &ScenarioDriver) -> CallAttestation {
    let finished = run.tape.iter().find_map(|(event, _)| match event {
        TapeEvent::Tool(ToolEvent::Finished(finished)) => Some(finished.attested),
        _ => None,
    });
    finished.expect("a finished call")
}

#[test]
fn what_somebody_wrote_must_be_possible_and_is_not_what_others_saw() {
    let other = r#"{"path":"b"}"#;
    let run = check_from(
        wanting(&[edit("a"), asking("pay").needing(2)]),
        &[
            ready(1),
            approve(11).edited(other).policy(PolicyNow::Denies).act(),
            approve(11).edited(other).refused().act(),
            approve(11).edited(other).policy(PolicyNow::Needs(2)).act(),
            approve(12).edited(other).act(),
        ],
        "Asks 11 about 1
         refused: EditRefused
         refused: EditRefused
         refused: EditRefused
         refused: EditRefused",
    );
    assert_eq!(run.machine.pending_approvals().count(), 2);
}

#[test]
fn an_approval_expires_once_its_time_is_over_and_not_before() {
    let run = check_from(
        wanting(&[asking("write").for_secs(60)]),
        &[wait(59), expire(11), wait(1), expire(11), expire(11)],
        "refused: Stale
         Resolved 11 Expired, Denied ApprovalExpired by 11, ModelRequested 2 turn 2 > ask 2
         refused: Stale",
    );
    assert_eq!(run.machine.counts().tool_calls, 1, "decided twice, counted once");
    check_from(
        wanting(&[asking("write").for_secs(60)]),
        &[wait(60), approve(11).act()],
        "Resolved 11 Expired, Denied ApprovalExpired by 11, ModelRequested 2 turn 2 > ask 2",
    );
    check_from(
        wanting(&[asking("write").parked()]),
        &[wait(100 * 24 * 3_600), expire(11), approve(11).act()],
        "refused: Stale
         Resolved 11 Approved, Allowed by 11, Started 1 opaque > execute 1",
    );
}

#[test]
fn a_stop_takes_the_questions_back_in_one_commit() {
    check_from(
        wanting(&[asking("a").beside(), read("x"), asking("b").beside()]),
        &[cancel(), approve(11).act(), expire(11), done(2)],
        "Resolved 11 Withdrawn, Resolved 13 Withdrawn, CancelRequested User > stop tools
         refused: ApprovalDecided
         refused: Stale
         Finished 2, RunFinished Cancelled Cancelled > end",
    );
    check_from(
        wanting(&[asking("a")]),
        &[cancel(), approve(11).act()],
        "Resolved 11 Withdrawn, CancelRequested User, RunFinished Cancelled Cancelled > end
         refused: ApprovalDecided",
    );
    check_from(
        wanting(&[asking("a")]),
        &[broken()],
        "Resolved 11 Withdrawn, RunFinished Failed InternalError > end",
    );
}

#[test]
fn words_to_a_run_that_waits_for_an_approval_are_not_its_answer() {
    let run = check_from(
        wanting(&[asking("write")]),
        &[input(), steer(), approve(11).act(), done(1)],
        "refused: NotWaiting
         InputReceived Steer
         Resolved 11 Approved, Allowed by 11, Started 1 opaque > execute 1
         Finished 1, ModelRequested 2 turn 2 > ask 2",
    );
    assert_eq!(run.phase(), RunPhase::Running);
}

#[test]
fn parallel_calls_do_not_wait_for_one_that_is_asked_and_exclusive_ones_do() {
    check_from(
        wanting(&[asking("a").beside(), read("x"), scan(), read("y")]),
        &[done(2), approve(11).act(), done(1), done(3)],
        "Finished 2
         Resolved 11 Approved, Allowed by 11, Started 1 opaque > execute 1
         Finished 1, Started 3 > execute 3
         Finished 3, Started 4 > execute 4",
    );
}

#[test]
fn a_prepared_call_waits_for_its_turn_and_holds_back_what_follows() {
    check_from(
        wanting(&[read("x"), edit("a"), read("y")]),
        &[done(1), ready(2), approve(12).act(), done(2)],
        "Finished 1 > prepare 2
         Asks 12 about 2
         Resolved 12 Approved, Allowed by 12, Started 2 probe > execute 2
         Finished 2, Started 3 > execute 3",
    );
}

#[test]
fn what_is_approved_before_its_turn_starts_in_its_turn() {
    check_from(
        wanting(&[read("x"), asking("a")]),
        &[approve(12).act(), restart(), done(1), done(2)],
        "Resolved 12 Approved, Allowed by 12
         nothing > execute 1
         Finished 1, Started 2 opaque > execute 2
         Finished 2, ModelRequested 2 turn 2 > ask 2",
    );
}

/// Two prepared calls beside each other with room for one: what was approved before its turn is looked at again.
#[test]
fn what_changed_between_the_approval_and_its_turn_is_asked_again() {
    let limits = palyra_types::run::RunLimits { parallel_tools_max: 1, ..Default::default() };
    let run = |found: &str, approves: crate::scenario::asks::ScriptedAnswer, expected: &str| {
        let mut driver = ScenarioDriver::new();
        let round = calls(1, &[edit("a").beside(), read("x")]);
        for act in [crate::scenario::start_with(limits), begin(), round, ready(1)] {
            driver.act(&act).expect("an input").expect("taken");
        }
        check_from(driver, &[approves.act(), done(2), ready_finding(1, found)], expected);
    };
    run(
        "as it was",
        approve(11),
        "Resolved 11 Approved, Allowed by 11
         Finished 2 > prepare 1
         Started 1 probe > execute 1",
    );
    run(
        "else",
        approve(11),
        "Resolved 11 Approved, Allowed by 11
         Finished 2 > prepare 1
         Asks 501 about 1 again",
    );
    run(
        "as it was",
        approve(11).edited(r#"{"path":"b"}"#),
        "Resolved 11 Approved edited, Allowed by 11
         Finished 2 > prepare 1
         Asks 501 about 1 again",
    );
}

#[test]
fn a_stored_grant_lets_a_call_run_and_is_named() {
    let run = check_from(
        wanting(&[asking("write").granted(9)]),
        &[done(1)],
        "Finished 1, ModelRequested 2 turn 2 > ask 2",
    );
    assert!(run.tape_line().contains("Allowed by grant, Started 1 opaque"), "{}", run.tape_line());
    assert_eq!(attested(&run).grant, Some(StoredGrantId::from_parts(6, 9)));
    assert_eq!(run.machine.counts().tool_calls, 1);
}

#[test]
fn what_is_to_be_remembered_is_stored_with_the_approval() {
    let run = check_from(
        wanting(&[asking("write")]),
        &[approve(11).by(4).remember(9).act()],
        "Resolved 11 Approved, Allowed by 11, GrantStored, Started 1 opaque > execute 1",
    );
    let stored = run.tape.iter().find_map(|(event, _)| match event {
        TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) => Some(stored),
        _ => None,
    });
    let stored = stored.expect("a stored grant");
    assert_eq!((stored.principal, stored.granted_by), (person(3), person(4)));
    assert_eq!((stored.approval, stored.tool.expose().as_str()), (approval(11), "write"));
    assert_eq!(stored.scope, GrantScope::Session(SessionId::from_parts(1, 2)));
}

#[test]
fn a_yes_without_judgement_is_the_callers_mistake() {
    let run = after(wanting(&[edit("a")]), &[ready(1)]);
    let RunInput::ApprovalAnswered(AnswerStage::Judged(yes)) = run.answer(&approve(11)) else {
        unreachable!("an answer that was judged")
    };
    let prepared = yes.prepared.clone().expect("a call that is prepared");
    let mut unprepared = yes.clone();
    unprepared.prepared = None;
    let said = AnswerStage::Said(Box::new(yes.answer));
    for early in [AnswerStage::Judged(unprepared), said.clone().with_prepared(prepared), said] {
        let early = RunInput::ApprovalAnswered(early);
        assert_eq!(run.machine.decide(&early, run.now), Err(RunError::OutOfPlace));
    }
}

#[test]
fn what_a_run_has_read_grows_with_outcomes_only() {
    let web = read_tainted("w", Taints::WEB);
    let files = read_tainted("f", Taints::WORKSPACE);
    let run = wanting(&[web, files, asking("write").beside()]);
    assert_eq!(run.machine.taints(), Taints::NONE);
    let run = after(run, &[done(1)]);
    assert_eq!(run.machine.taints(), Taints::WEB);
    let run = after(run, &[fails_with(2, "no"), deny(13).act(), answer(2)]);
    assert_eq!(run.machine.taints(), Taints::WEB.with(Taints::WORKSPACE));
}

/// A cut at each entry of the commit that approves: before it nothing ran, and the call starts once.
#[test]
fn wherever_the_commit_of_an_approval_is_cut_the_call_starts_at_most_once() {
    for call in [asking("write"), edit("a"), send()] {
        let mut run = wanting(&[call]);
        if !run.machine.preparing().is_empty() {
            run = after(run, &[ready(1)]);
        }
        let before = run.tape.len();
        let run = after(run, &[approve(11).act()]);
        for length in before..=run.tape.len() {
            let mut cut = run.clone();
            cut.tape.truncate(length);
            let commit = cut.restart().expect("a restart is taken");
            let starts = cut
                .tape
                .iter()
                .filter(|(event, _)| matches!(event, TapeEvent::Tool(ToolEvent::Started(_))))
                .count();
            let resolved = cut.tape.iter().filter(|(event, _)| {
                matches!(event, TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) if resolved.state == ApprovalState::Approved)
            });
            assert!(starts <= 1 && resolved.count() <= 1, "{}", commit.line());
        }
    }
}

#[test]
fn an_approval_outlives_a_doubt_about_another_call() {
    let lost = lost(1, palyra_types::event::UnknownOutcomeCause::ExecutorLost);
    let run = check_from(
        wanting(&[crate::scenario::post(), asking("write").beside()]),
        &[lost, approve(12).act(), input(), done(2)],
        "OutcomeUnknown 1 ExecutorLost
         Resolved 12 Approved, Allowed by 12
         InputReceived, Started 2 opaque > execute 2
         Finished 2, ModelRequested 2 turn 2 > ask 2",
    );
    assert_eq!(run.end_code(), None);
}

impl ScenarioDriver {
    fn end_code(&self) -> Option<ErrorCode> {
        match self.tape.last() {
            Some((TapeEvent::Run(RunEvent::Finished(finished)), _)) => finished.error,
            _ => None,
        }
    }
}
