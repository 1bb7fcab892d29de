//! Every order of up to six inputs from a small alphabet, from the moments at which they race.
//!
//! Small enough to be complete: what no lot ever draws is still walked through here.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use palyra_types::EffectId;
use palyra_types::effect::{EffectResolution, OutputRest};
use palyra_types::event::{ApprovalEvent, RunEvent, TapeEvent, ToolEvent, UnknownOutcomeCause};
use palyra_types::model::ModelFailureClass;
use palyra_types::run::{CancelReason, RunPhase, WaitReason};
use palyra_types::tool::EffectContract;

use crate::scenario::asks::{
    approve, asking, cannot, deny, edit, expire, number_of, person, question, ready, ready_finding, settle,
};
use crate::scenario::{ScenarioAct, ScenarioDriver, StepCommit};
use crate::scenario::{
    answer, begin, broken, calls, cancel, cancel_because, done, done_with, due, fails, input, lost, post,
    prints, prints_with, read, replay, restart, scan, shell, start, start_keyed, steer, steer_keyed, text,
};
use crate::{Effect, RunError, RunInput};

const INPUTS_MAX: usize = 6;

/// One way through, so far.
#[derive(Clone)]
struct Walk {
    driver: ScenarioDriver,
    asked: Vec<u32>,
    executed: BTreeMap<EffectId, u32>,
    /// What was left to spend at the last commit, and whether it was asked to stop.
    left: Option<Duration>,
    stopping: bool,
}

impl Walk {
    fn to(acts: &[ScenarioAct]) -> Self {
        let mut walk = Self {
            driver: ScenarioDriver::new(),
            asked: Vec::new(),
            executed: BTreeMap::new(),
            left: None,
            stopping: false,
        };
        for act in acts {
            walk.go(act);
        }
        walk
    }

    fn go(&mut self, act: &ScenarioAct) {
        let over = self.driver.machine.state().is_terminal();
        let entries_before = self.driver.tape.len();
        let outcome = match act {
            ScenarioAct::Take(input) => self.driver.take(input),
            ScenarioAct::Restart => self.driver.restart(),
            ScenarioAct::Answer(_) | ScenarioAct::Prepared { .. } => self.driver.act(act).expect("an input"),
            ScenarioAct::Wait(span) => {
                self.driver.now = self.driver.now.after(*span);
                return;
            }
        };
        match outcome {
            Err(error) => {
                // A run that is about to stop sends words away like one that is over.
                let steering = matches!(act, ScenarioAct::Take(RunInput::Steer { .. }));
                let after_end = [RunError::Finished, RunError::ApprovalDecided].contains(&error);
                let early = steering || matches!(act, ScenarioAct::Answer(_));
                assert!(over == after_end || (early && !over));
                assert_eq!(self.driver.tape.len(), entries_before);
            }
            Ok(commit) => {
                assert!(!over, "something followed the end: {}", self.driver.tape_line());
                self.note(&commit);
            }
        }
    }

    fn note(&mut self, commit: &StepCommit) {
        let line = || self.driver.tape_line();
        for effect in &commit.effects {
            match effect {
                Effect::CallModel { attempt } => {
                    assert!(!self.asked.contains(&attempt.0), "asked twice: {}", line());
                    assert!(!self.stopping, "asked while it stops: {}", line());
                    self.asked.push(attempt.0);
                }
                Effect::Execute(grant) => {
                    let effect = grant.effect();
                    let started = |event: &TapeEvent| matches!(event, TapeEvent::Tool(ToolEvent::Started(begun)) if begun.effect == effect);
                    let announced = self.driver.tape.iter().any(|(event, _)| started(event));
                    assert!(announced && !self.stopping, "nobody announced it: {}", line());
                    let times = self.executed.entry(grant.effect()).or_default();
                    *times += 1;
                    assert!(*times == 1 || grant.contract() != EffectContract::Opaque, "{}", line());
                }
                _ => {}
            }
        }
        self.stopping |= commit
            .events
            .iter()
            .any(|event| matches!(event, TapeEvent::Run(RunEvent::CancelRequested { .. })));
        let left = self.driver.machine.active_time_left(self.driver.now);
        assert!(self.left.is_none_or(|before| left <= before), "there is more to spend: {}", line());
        self.left = Some(left);
        let ends = commit
            .events
            .iter()
            .filter(|event| matches!(event, TapeEvent::Run(RunEvent::Finished(_))))
            .count();
        assert_eq!(ends, usize::from(self.driver.machine.state().is_terminal()), "{}", line());
        assert_eq!(replay(&self.driver.tape), self.driver.machine, "{}", line());
        self.inspect_approvals();
    }

    /// Brings the run to its end by good will; there must be a way.
    fn finish(mut self) {
        for _ in 0..20 {
            let act = match self.driver.phase() {
                RunPhase::Finished => return,
                RunPhase::Queued => begin(),
                RunPhase::Waiting(WaitReason::Approval) => self.yes(),
                RunPhase::Waiting(_) => input(),
                RunPhase::Running => {
                    let machine = &self.driver.machine;
                    let preparing = machine.preparing().first().map(|(effect, _)| effect.0);
                    match (machine.open_attempt(), machine.pausing_after()) {
                        _ if preparing.is_some() => ready(preparing.unwrap_or_default()),
                        (Some(attempt), _) => answer(attempt.0),
                        (None, Some(attempt)) => due(attempt.0),
                        (None, None) => done(self.first_running()),
                    }
                }
            };
            self.go(&act);
        }
        panic!("the run does not end: {}", self.driver.tape_line());
    }

    /// A yes of somebody who has not said it.
    fn yes(&self) -> ScenarioAct {
        let pending = self.driver.machine.pending_approvals().next().expect("it waits for one");
        let said = (3..).find(|number| !pending.voters.contains(&person(*number))).expect("people enough");
        approve(number_of(pending.approval)).by(said).act()
    }

    /// Checks that each approval is asked once and resolved once, and that none outlives the run.
    fn inspect_approvals(&self) {
        let (mut asked, mut open) = (BTreeSet::new(), BTreeSet::new());
        for (event, _) in &self.driver.tape {
            let fits = match event {
                TapeEvent::Approval(ApprovalEvent::Requested(requested)) => {
                    open.insert(requested.approval);
                    asked.insert(requested.approval)
                }
                TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => open.remove(&resolved.approval),
                TapeEvent::Run(RunEvent::Finished(_)) => open.is_empty(),
                _ => true,
            };
            assert!(fits, "{}", self.driver.tape_line());
        }
    }

    fn first_running(&self) -> u32 {
        let mut running = std::collections::BTreeSet::new();
        for (event, _) in &self.driver.tape {
            match event {
                TapeEvent::Tool(ToolEvent::Started(begun)) => running.insert(begun.effect.0),
                TapeEvent::Tool(ToolEvent::Finished(finished)) => running.remove(&finished.effect.0),
                TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => running.remove(&effect.0),
                _ => false,
            };
        }
        running.retain(|effect| self.driver.machine.is_tool_running(EffectId(*effect)));
        *running.first().unwrap_or_else(|| panic!("nobody runs it: {}", self.driver.tape_line()))
    }
}

/// Walks every order of the alphabet's inputs, repetitions included; returns how many ways there were.
fn walk_all(walk: &Walk, alphabet: &[ScenarioAct], left: usize) -> usize {
    walk.clone().finish();
    if left == 0 {
        return 1;
    }
    let onward = alphabet.iter().map(|act| {
        let mut next = walk.clone();
        next.go(act);
        // What changes nothing leads nowhere new.
        let waited = matches!(act, ScenarioAct::Wait(_));
        if next.driver.tape.len() == walk.driver.tape.len() && !waited {
            1
        } else {
            walk_all(&next, alphabet, left - 1)
        }
    });
    onward.sum()
}

#[test]
fn every_order_while_the_model_is_asked() {
    let alphabet = [
        text(1, "a"),
        text(2, "b"),
        answer(1),
        answer(2),
        calls(1, &[read("a")]),
        calls(2, &[shell(), read("b")]),
        fails(1, ModelFailureClass::Network),
        due(1),
        steer(),
        done(1),
        lost(1, UnknownOutcomeCause::ExecutorLost),
        input(),
        cancel(),
        restart(),
    ];
    let ways = walk_all(&Walk::to(&[start(), begin()]), &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

#[test]
fn every_order_while_tools_of_all_kinds_are_under_way() {
    let alphabet = [
        done(1),
        done(2),
        lost(2, UnknownOutcomeCause::Deadline),
        done(3),
        calls(2, &[post()]),
        cancel(),
        cancel_because(CancelReason::TimeLimit),
        input(),
        restart(),
    ];
    let walk = Walk::to(&[start(), begin(), calls(1, &[read("a"), post(), scan()])]);
    let ways = walk_all(&walk, &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

#[test]
fn every_order_of_what_tools_print_and_how_they_end() {
    let alphabet = [
        prints(1, "a"),
        prints_with(1, "", OutputRest::InOutcome),
        prints(2, "b"),
        done(1),
        done(2),
        lost(2, UnknownOutcomeCause::ExecutorLost),
        steer(),
        cancel(),
        restart(),
        broken(),
    ];
    let walk = Walk::to(&[start(), begin(), calls(1, &[read("a"), post()])]);
    let ways = walk_all(&walk, &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

#[test]
fn every_order_around_an_opaque_call() {
    let alphabet = [
        begin(),
        calls(1, &[shell(), shell()]),
        calls(2, &[shell(), shell()]),
        done(1),
        lost(1, UnknownOutcomeCause::ExecutorLost),
        done(2),
        done_with(2, "other"),
        input(),
        restart(),
        cancel(),
        broken(),
    ];
    let ways = walk_all(&Walk::to(&[start()]), &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

/// All that can race with the end of an answer, each as often as fits.
#[test]
fn every_order_around_the_end_of_an_answer() {
    let alphabet = [
        text(1, "a"),
        answer(1),
        text(2, "b"),
        answer(2),
        steer_keyed(1),
        steer_keyed(2),
        fails(2, ModelFailureClass::Timeout),
        due(2),
        cancel(),
        cancel_because(CancelReason::Interrupted),
        restart(),
    ];
    let ways = walk_all(&Walk::to(&[start_keyed(2), begin()]), &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

/// A cancel, a timer, a person, and two tools that end, are lost, or end after all.
#[test]
fn every_order_of_a_stop_and_the_outcomes_of_tools() {
    let alphabet = [
        done(1),
        lost(1, UnknownOutcomeCause::Cancelled),
        done(2),
        lost(2, UnknownOutcomeCause::Deadline),
        steer(),
        answer(2),
        text(2, "so"),
        cancel(),
        cancel_because(CancelReason::TimeLimit),
        ScenarioAct::Wait(Duration::from_secs(10)),
        restart(),
    ];
    let walk = Walk::to(&[start(), begin(), calls(1, &[post(), post()])]);
    let ways = walk_all(&walk, &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

/// The pause before a repeated request, and everything that may come before it is over.
#[test]
fn every_order_around_a_pause() {
    let alphabet = [
        due(1),
        due(2),
        text(2, "late"),
        answer(2),
        fails(2, ModelFailureClass::RateLimit),
        fails(3, ModelFailureClass::Transient),
        steer(),
        input(),
        cancel(),
        cancel_because(CancelReason::TimeLimit),
        ScenarioAct::Wait(Duration::from_secs(1)),
        restart(),
    ];
    let walk = Walk::to(&[start(), begin(), text(1, "half"), fails(1, ModelFailureClass::Network)]);
    let ways = walk_all(&walk, &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

#[test]
fn every_order_around_an_approval_and_its_time() {
    let alphabet = [
        approve(11).act(),
        deny(11).act(),
        ScenarioAct::Wait(Duration::from_secs(60)),
        expire(11),
        steer(),
        done(1),
        cancel(),
        restart(),
        broken(),
    ];
    let walk = Walk::to(&[start(), begin(), calls(1, &[asking("write").for_secs(60)])]);
    let ways = walk_all(&walk, &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

#[test]
fn every_order_around_a_call_that_is_prepared_and_drifts() {
    let alphabet = [
        ready(2),
        ready_finding(2, "other"),
        cannot(2),
        approve(12).act(),
        approve(12).found("other").fresh(77).act(),
        approve(77).found("other").act(),
        deny(12).act(),
        done(1),
        done(2),
        cancel(),
        restart(),
    ];
    let walk = Walk::to(&[start(), begin(), calls(1, &[read("x"), edit("a").beside()])]);
    let ways = walk_all(&walk, &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

#[test]
fn every_order_of_votes_edits_and_denials() {
    let alphabet = [
        approve(11).act(),
        approve(11).by(4).act(),
        approve(12).edited(r#"{"path":"b"}"#).act(),
        deny(11).by(5).act(),
        deny(12).act(),
        done(1),
        done(2),
        steer(),
        cancel(),
        restart(),
    ];
    let walk = Walk::to(&[
        start(),
        begin(),
        calls(1, &[asking("pay").needing(2).beside(), asking("write").beside()]),
    ]);
    let ways = walk_all(&walk, &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

#[test]
fn every_order_around_a_question_a_doubt_and_an_approval() {
    let alphabet = [
        input(),
        steer(),
        lost(2, UnknownOutcomeCause::ExecutorLost),
        settle(2, EffectResolution::Happened),
        done(2),
        approve(13).act(),
        done(3),
        cancel_because(CancelReason::TimeLimit),
        restart(),
    ];
    let round = [question().beside(), post(), asking("write").beside()];
    let walk = Walk::to(&[start(), begin(), calls(1, &round)]);
    let ways = walk_all(&walk, &alphabet, INPUTS_MAX);
    assert!(ways > 500, "only {ways} ways");
}

#[test]
fn a_restart_that_repeats_a_request_is_heard_under_its_new_number_only() {
    let mut walk = Walk::to(&[start(), begin(), restart()]);
    assert_eq!(walk.asked, [1, 2]);
    walk.go(&answer(1));
    assert_eq!(walk.driver.phase(), RunPhase::Running);
    walk.go(&answer(2));
    assert_eq!(walk.driver.phase(), RunPhase::Finished);
    assert_eq!(walk.driver.take(&RunInput::Begin), Err(RunError::Finished));
}
