//! Functions of the client: the run waits for all results of an answer at once, makes no grant, and has no effect.

use std::time::Duration;

use jiff::tz::TimeZone;
use palyra_context::transcript::Transcript;
use palyra_types::client_tool::{
    ClientCallId, ClientCallSpan, ClientTool, ClientToolChoice, ClientToolOffer,
};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::model::{ChatMessage, FinishReason, ModelAnswer, ModelName, ModelRef, ToolProposal};
use palyra_types::run::{CancelReason, IdempotencyDigest, RunPhase, TerminationReason, WaitReason};
use palyra_types::tool::{Taints, ToolName};
use palyra_types::{Attempt, Redacted, RunId, Timestamp};
use proptest::prelude::*;

use crate::scenario::{
    ScenarioAct, ScenarioDriver, answer, begin, calls, cancel, check, check_from, input, read, replay,
    reported, restart, start, steer, text, wait,
};
use crate::{ClientResults, Effect, RunError, RunInput};

const ANSWER_WITHIN: Duration = Duration::from_secs(600);

fn offer_of(names: &[&'static str], choice: ClientToolChoice) -> ClientToolOffer {
    let tool = |name: &&'static str| ClientTool {
        name: (*name).into(),
        description: Redacted::default(),
        parameters: "{}".into(),
        strict: None,
    };
    let tools = names.iter().map(tool).collect();
    ClientToolOffer { tools, choice, answer_tokens_max: None, answer_within: ANSWER_WITHIN }
}

fn offer() -> ScenarioAct {
    let offer = offer_of(&["weather", "clock"], ClientToolChoice::Auto);
    ScenarioAct::Take(RunInput::OfferClientTools(Box::new(offer)))
}

fn client_calls(attempt: u32, names: &[&'static str]) -> ScenarioAct {
    let proposal = |name: &&'static str| ToolProposal {
        model_call_id: "id of the model".into(),
        tool: ToolName::new(name),
        arguments: "{}".into(),
    };
    let answer = ModelAnswer {
        response_id: Redacted::default(),
        answered_by: ModelName::new("scripted-1"),
        finish: FinishReason::ToolCalls,
        usage: Some(reported(10)),
        proposals: names.iter().map(proposal).collect(),
        continuation: None,
    };
    let (attempt, model) = (Attempt(attempt), ModelRef::new("test", "scripted"));
    ScenarioAct::Take(RunInput::Answered { attempt, answer, model, calls: Vec::new() })
}

fn results_of(first: u32, outputs: &[&'static str], key: Option<u8>) -> ClientResults {
    ClientResults {
        span: ClientCallSpan { first, count: u32::try_from(outputs.len()).unwrap() },
        outputs: outputs.iter().map(|output| (*output).into()).collect(),
        offer: None,
        idempotency: key.map(|key| IdempotencyDigest([key; 32])),
    }
}

fn take_results(results: ClientResults) -> ScenarioAct {
    ScenarioAct::Take(RunInput::ClientToolsAnswered(Box::new(results)))
}

fn results(first: u32, outputs: &[&'static str]) -> ScenarioAct {
    take_results(results_of(first, outputs, None))
}

fn expired() -> ScenarioAct {
    ScenarioAct::Take(RunInput::ClientWaitExpired)
}

fn waiting() -> ScenarioDriver {
    check(
        &[start(), offer(), begin(), text(1, "I look"), client_calls(1, &["weather", "clock"])],
        "RunStarted
         ClientToolsOffered 2 Auto
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 I look
         ModelMessage 1 text 4-4 2 calls, ClientToolsCalled 1 weather clock",
    )
}

#[test]
fn the_run_waits_for_its_client_and_goes_on_with_the_results() {
    let run = waiting();
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::ClientTool));
    let run = check_from(
        run,
        &[results(1, &["rain", "noon"]), client_calls(2, &["clock"]), results(3, &["one"]), answer(3)],
        "ClientToolsAnswered 1 2 results, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text 1 calls, ClientToolsCalled 3 clock
         ClientToolsAnswered 3 1 results, ModelRequested 3 turn 3 > ask 3
         ModelMessage 3 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.end().tool_calls, 0, "what the client does is no call of ours");
}

#[test]
fn results_that_are_not_awaited_are_refused() {
    check_from(
        waiting(),
        &[
            results(1, &["rain"]),
            results(2, &["rain", "noon"]),
            results(1, &["rain", "noon", "x"]),
            input(),
            results(1, &["rain", "noon"]),
            results(1, &["rain", "noon"]),
        ],
        "refused: NotWaiting
         refused: NotWaiting
         refused: NotWaiting
         refused: NotWaiting
         ClientToolsAnswered 1 2 results, ModelRequested 2 turn 2 > ask 2
         refused: NotWaiting",
    );
    let run = waiting();
    let mut partial = results_of(1, &["rain", "noon"], None);
    partial.outputs.pop();
    assert_eq!(
        run.machine.decide(&RunInput::ClientToolsAnswered(Box::new(partial)), run.now),
        Err(RunError::NotWaiting)
    );
}

#[test]
fn repeated_results_change_nothing() {
    let keyed = || take_results(results_of(1, &["rain", "noon"], Some(7)));
    check_from(
        waiting(),
        &[keyed(), keyed(), restart(), keyed()],
        "ClientToolsAnswered 1 2 results, ModelRequested 2 turn 2 > ask 2
         nothing
         Abandoned 2 0-0 Restart, ModelRequested 3 turn 2 > ask 3
         nothing",
    );
}

#[test]
fn a_restart_leaves_the_run_waiting() {
    let run = check_from(waiting(), &[restart(), restart()], "nothing\nnothing");
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::ClientTool));
    check_from(
        run,
        &[results(1, &["rain", "noon"])],
        "ClientToolsAnswered 1 2 results, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn words_that_come_meanwhile_wait_for_the_results() {
    let run = check_from(
        waiting(),
        &[steer(), results(1, &["rain", "noon"])],
        "InputReceived Steer
         ClientToolsAnswered 1 2 results, ModelRequested 2 turn 2 > ask 2",
    );
    let mut transcript = Transcript::new(RunId::from_parts(1, 1));
    run.tape.iter().for_each(|(event, _)| transcript.push(event, Timestamp(0)));
    let messages = transcript.messages(&TimeZone::UTC);
    assert!(matches!(messages.last(), Some(ChatMessage::User { .. })), "{messages:?}");
}

#[test]
fn a_waiting_run_is_cancelled_at_once() {
    check_from(
        waiting(),
        &[cancel(), results(1, &["rain", "noon"])],
        "CancelRequested User, RunFinished Cancelled Cancelled > end
         refused: Finished",
    );
}

#[test]
fn results_that_do_not_come_in_time_end_the_run() {
    let run = check_from(
        waiting(),
        &[wait(599), expired(), wait(1), expired(), expired()],
        "refused: NotWaiting
         CancelRequested ClientToolExpired, RunFinished Cancelled Cancelled > end
         refused: Finished",
    );
    assert_eq!(run.end().reason, TerminationReason::Cancelled);
    assert!(run.end().message.expose().contains("in time"));
    let reason = run.tape.iter().rev().find_map(|(event, _)| match event {
        TapeEvent::Run(RunEvent::CancelRequested { reason, .. }) => Some(*reason),
        _ => None,
    });
    assert_eq!(reason, Some(CancelReason::ClientToolExpired));
}

#[test]
fn functions_are_offered_before_the_run_begins_or_with_results() {
    check(
        &[start(), offer(), offer(), begin(), offer()],
        "RunStarted
         ClientToolsOffered 2 Auto
         refused: OutOfPlace
         ModelRequested 1 turn 1 > ask 1
         refused: OutOfPlace",
    );
    let next = Some(offer_of(&["clock"], ClientToolChoice::None));
    check_from(
        waiting(),
        &[take_results(ClientResults { offer: next, ..results_of(1, &["rain", "noon"], None) })],
        "ClientToolsOffered 1 None, ClientToolsAnswered 1 2 results, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn judged_calls_have_no_place_in_such_a_run_and_its_calls_none_in_others() {
    let run = check(
        &[start(), offer(), begin(), calls(1, &[read("a")])],
        "RunStarted
         ClientToolsOffered 2 Auto
         ModelRequested 1 turn 1 > ask 1
         refused: OutOfPlace",
    );
    assert!(run.machine.client_tools().awaited().is_none());
    check(
        &[start(), begin(), client_calls(1, &["weather"])],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         refused: OutOfPlace",
    );
}

#[test]
fn what_the_client_returns_taints_the_run() {
    let run = waiting();
    assert_eq!(run.machine.taints(), Taints::NONE);
    let run = check_from(
        run,
        &[results(1, &["rain", "noon"])],
        "ClientToolsAnswered 1 2 results, ModelRequested 2 turn 2 > ask 2",
    );
    assert_eq!(run.machine.taints(), Taints::TOOL);
}

#[test]
fn each_call_is_paired_with_its_result_also_without_content() {
    let mut run = waiting();
    run.must(&RunInput::ClientToolsAnswered(Box::new(results_of(1, &["rain", "noon"], None))));
    let own = RunId::from_parts(1, 1);
    let mut transcript = Transcript::new(own);
    run.tape.iter().for_each(|(event, _)| transcript.push(event, Timestamp(0)));
    let outputs: Vec<(String, String)> = transcript
        .messages(&TimeZone::UTC)
        .into_iter()
        .filter_map(|message| match message {
            ChatMessage::ToolResult { call, text, .. } => Some((call.0, text.expose().clone())),
            _ => None,
        })
        .collect();
    let id = |number| ClientCallId { run: own, number }.to_string();
    assert_eq!(outputs, [(id(1), "rain".to_owned()), (id(2), "noon".to_owned())]);
    let mut erased = Transcript::new(own);
    for (event, _) in &run.tape {
        let mut event = palyra_types::event::JournalEvent::Tape(event.clone());
        event.erase_content();
        if let palyra_types::event::JournalEvent::Tape(event) = event {
            erased.push(&event, Timestamp(0));
        }
    }
    assert_eq!(erased.messages(&TimeZone::UTC).len(), 1, "the input that was erased");
}

/// Moves that know nothing of where the run is.
fn any_act() -> impl Strategy<Value = ScenarioAct> {
    prop_oneof![
        (1..6_u32).prop_map(|attempt| client_calls(attempt, &["weather", "clock"])),
        (1..6_u32).prop_map(answer),
        (1..6_u32, 1..3_usize).prop_map(|(first, count)| results(first, &["rain", "noon"][..count])),
        (1..3_u8).prop_map(|key| take_results(results_of(1, &["rain", "noon"], Some(key)))),
        Just(steer()),
        Just(input()),
        Just(cancel()),
        Just(expired()),
        Just(restart()),
        (1..900_u64).prop_map(wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_inputs_make_no_grant_and_answer_each_call_once(acts in prop::collection::vec(any_act(), 0..40)) {
        let mut run = ScenarioDriver::new();
        let mut awaited = None;
        for act in [start(), offer(), begin()].iter().chain(&acts) {
            let Some(Ok(commit)) = run.act(act) else { continue };
            let grants = commit.effects.iter().any(|effect| matches!(effect, Effect::Execute(_) | Effect::Prepare(_)));
            prop_assert!(!grants, "a grant for what the client performs");
            for event in &commit.events {
                match event {
                    TapeEvent::Run(RunEvent::ClientToolsCalled(called)) => {
                        prop_assert_eq!(awaited.replace(called.span), None);
                    }
                    TapeEvent::Run(RunEvent::ClientToolsAnswered(answered)) => {
                        prop_assert_eq!(awaited.take(), Some(answered.span));
                    }
                    TapeEvent::Model(palyra_types::event::ModelEvent::Requested(_)) => {
                        prop_assert_eq!(awaited, None, "the model is asked while results are awaited");
                    }
                    TapeEvent::Tool(_) => prop_assert!(false, "an effect of what the client performs"),
                    _ => {}
                }
            }
        }
        for length in 0..=run.tape.len() {
            let mut part = run.clone();
            part.tape.truncate(length);
            part.machine = replay(&part.tape);
            if length > 0 && !part.machine.state().is_terminal() {
                part.restart().unwrap();
            }
        }
    }
}
