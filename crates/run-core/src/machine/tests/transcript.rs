//! What a model reads of a run, whatever is missing from its tape.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the cases that it is about")]

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use palyra_types::approval::ApprovalState;
use palyra_types::client_tool::ClientCallId;
use palyra_types::effect::EffectResolution;
use palyra_types::event::{
    AbandonCause, ApprovalEvent, CallAttestation, ContentDigest, DecidedBy, ModelEvent, RunEvent, TapeEvent,
    ToolDecided, ToolEvent, ToolFinished, ToolProposed, UnknownOutcomeCause,
};
use palyra_types::model::{ChatMessage, ModelFailureClass, ToolResultStatus};
use palyra_types::run::{RunLimits, UserInput};
use palyra_types::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Isolation, Parallelism, Taints, ToolConduct,
    ToolExecutor, ToolVerdict,
};
use palyra_types::{Attempt, EffectId, ErrorCode, Redacted, RunId, TapeSeq, Timestamp};
use proptest::prelude::*;

use crate::scenario::asks::{
    PolicyNow, approve, asking, cannot, deny, edit, expire, question, ready, settle,
};
use crate::scenario::world::{ScenarioWorld, moves};
use crate::scenario::{
    ScenarioAct, ScenarioDriver, answer, begin, calls, cancel, denied, done_with, due, fails, fails_with,
    input, lost, read, restart, shell, start, steer, text, wait,
};
use palyra_context::transcript::Transcript;

fn run_id(number: u128) -> RunId {
    RunId::from_parts(1, number)
}

fn render(run: RunId, events: &[TapeEvent]) -> Vec<ChatMessage> {
    let mut transcript = Transcript::new(run);
    for event in events {
        transcript.push(event, Timestamp(0));
    }
    transcript.messages(&TimeZone::UTC)
}

/// Plays the acts on a machine and renders the tape: one line per message.
#[track_caller]
fn check(acts: &[ScenarioAct], expected: &str) {
    let mut driver = ScenarioDriver::new();
    for act in acts {
        if let Some(outcome) = driver.act(act) {
            outcome.expect("taken");
        }
    }
    let events: Vec<TapeEvent> = driver.tape.iter().map(|(event, _)| event.clone()).collect();
    check_events(&events, expected);
}

#[track_caller]
fn check_events(events: &[TapeEvent], expected: &str) {
    let messages = render(run_id(1), events);
    assert_paired(&messages);
    let lines: Vec<String> = messages.iter().map(|message| line(message).trim_end().to_owned()).collect();
    let wanted: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.join("\n"), wanted.join("\n"));
}

fn line(message: &ChatMessage) -> String {
    match message {
        ChatMessage::User { text, .. } => format!("user: {}", text.expose()),
        ChatMessage::Assistant { text, calls, .. } => {
            let calls: Vec<String> =
                calls.iter().map(|call| format!("{} {}", call.tool, call.arguments.expose())).collect();
            format!("assistant: {} [{}]", text.expose(), calls.join("; "))
        }
        ChatMessage::ToolResult { tool, text, status, .. } => format!("{tool} {status:?}: {}", text.expose()),
    }
}

/// Each call is answered exactly once, in order, right after its message; ids are unique; arguments are
/// objects.
fn assert_paired(messages: &[ChatMessage]) {
    let mut ids = BTreeSet::new();
    let mut open = std::collections::VecDeque::new();
    for message in messages {
        match message {
            ChatMessage::User { .. } => assert!(open.is_empty(), "a call without result"),
            ChatMessage::Assistant { text, calls, .. } => {
                assert!(open.is_empty(), "a call without result");
                assert!(!text.expose().is_empty() || !calls.is_empty(), "an empty message");
                for call in calls {
                    assert!(ids.insert(call.call.clone()), "{} twice", call.call.0);
                    let arguments: serde_json::Value =
                        serde_json::from_str(call.arguments.expose()).expect("arguments are JSON");
                    assert!(arguments.is_object(), "arguments are an object");
                    assert!(!call.tool.as_str().is_empty(), "a call has a name");
                    open.push_back(call.clone());
                }
            }
            ChatMessage::ToolResult { call, tool, .. } => {
                let asked = open.pop_front().expect("a result without call");
                assert_eq!((&asked.call, &asked.tool), (call, tool));
            }
        }
    }
    assert!(open.is_empty(), "a call without result");
}

#[test]
fn a_text_run_is_a_question_and_an_answer() {
    check(
        &[start(), begin(), text(1, "He"), text(1, "llo"), answer(1)],
        "user: do it
         assistant: Hello []",
    );
}

#[test]
fn a_round_of_tools_follows_the_message_that_made_it_in_the_models_order() {
    let both = [read("a"), denied("rm"), read("b")];
    check(
        &[
            start(),
            begin(),
            text(1, "Look."),
            calls(1, &both),
            fails_with(3, "no such file"),
            done_with(1, "A"),
            text(2, "So."),
            answer(2),
        ],
        r#"user: do it
         assistant: Look. [read {"path":"a"}; rm {"path":"."}; read {"path":"b"}]
         read Succeeded: A
         rm Failed: NoRulePermits
         read Failed: no such file
         assistant: So. []"#,
    );
}

#[test]
fn text_of_an_abandoned_attempt_does_not_appear() {
    check(
        &[start(), begin(), text(1, "half a"), restart(), text(2, "whole"), answer(2)],
        "user: do it
         assistant: whole []",
    );
    check(&[start(), begin(), text(1, "half a"), cancel()], "user: do it");
}

#[test]
fn what_was_said_during_an_answer_comes_after_it() {
    check(
        &[start(), begin(), steer(), text(1, "whole"), answer(1), answer(2)],
        "user: do it
         assistant: whole []
         user: rather so",
    );
}

#[test]
fn what_was_said_around_a_broken_answer_keeps_its_order() {
    check(
        &[
            start(),
            begin(),
            steer(),
            fails(1, ModelFailureClass::Network),
            input_in_a_pause(),
            due(1),
            answer(2),
        ],
        "user: do it
         user: rather so
         user: in the pause",
    );
}

fn input_in_a_pause() -> ScenarioAct {
    ScenarioAct::Take(crate::RunInput::Steer {
        input: UserInput::text("in the pause".into()),
        idempotency: None,
    })
}

#[test]
fn text_of_an_open_attempt_does_not_appear_yet() {
    check(&[start(), begin(), text(1, "half a")], "user: do it");
}

#[test]
fn a_call_without_outcome_is_answered_as_not_recorded() {
    check(
        &[start(), begin(), calls(1, &[read("a"), read("b")]), done_with(2, "B")],
        r#"user: do it
         assistant:  [read {"path":"a"}; read {"path":"b"}]
         read Failed: no outcome was recorded for this call; it may not have run
         read Succeeded: B"#,
    );
}

#[test]
fn an_unknown_outcome_is_told_as_such_and_the_persons_word_comes_after_the_results() {
    check(
        &[
            start(),
            begin(),
            calls(1, &[shell(), read("a")]),
            lost(1, UnknownOutcomeCause::ExecutorLost),
            input(),
            done_with(2, "A"),
        ],
        r#"user: do it
         assistant:  [shell {"path":"."}; read {"path":"a"}]
         shell Failed: it is not known whether this call took effect; do not repeat it by yourself
         read Succeeded: A
         user: go on"#,
    );
}

#[test]
fn malformed_arguments_are_shown_as_an_empty_object() {
    for malformed in ["", "{", "[1]", "null", "\"a\"", "{\"a\":1} x", "not json"] {
        let proposed = proposal(1, "read", malformed);
        check_events(
            &[proposed, verdict(1, ToolVerdict::Deny, "the arguments are not JSON")],
            "assistant:  [read {}]
             read Failed: the arguments are not JSON",
        );
    }
    check_events(
        &[proposal(1, "read", " {\"a\": {}} ")],
        r#"assistant:  [read {"a": {}}]
         read Failed: no outcome was recorded for this call; it may not have run"#,
    );
}

#[test]
fn arguments_nested_beyond_measure_are_shown_as_an_empty_object() {
    let deep = format!("{}{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    let messages = render(run_id(1), &[proposal(1, "read", &deep)]);
    assert!(
        matches!(&messages[0], ChatMessage::Assistant { calls, .. } if calls[0].arguments.expose() == "{}")
    );
}

#[test]
fn erased_content_leaves_a_conversation_that_a_provider_takes() {
    let erased = [
        TapeEvent::Run(RunEvent::InputReceived {
            input: UserInput::text(Redacted::default()),
            delivery: palyra_types::run::InputDelivery::Queue,
            idempotency: None,
        }),
        TapeEvent::Model(ModelEvent::Text { attempt: Attempt(1), text: Redacted::default() }),
        proposal(1, "", ""),
        verdict(1, ToolVerdict::Allow, ""),
        finished(1, None, ""),
        TapeEvent::Run(RunEvent::InputReceived {
            input: UserInput::text(Redacted::default()),
            delivery: palyra_types::run::InputDelivery::Queue,
            idempotency: None,
        }),
    ];
    check_events(
        &erased,
        "user: (this message was erased)
         assistant:  [erased_tool {}]
         erased_tool Succeeded:
         user: (this message was erased)",
    );
}

#[test]
fn a_call_that_was_to_be_asked_about_and_never_was_is_told_as_not_run() {
    check_events(
        &[proposal(1, "write", "{}"), verdict(1, ToolVerdict::Ask, "needs an approval")],
        "assistant:  [write {}]
         write Failed: no outcome was recorded for this call; it may not have run",
    );
}

#[test]
fn what_a_person_said_to_a_call_is_told_with_its_result() {
    check(
        &[start(), begin(), calls(1, &[asking("write")]), deny(11).note("not today").act()],
        "user: do it
         assistant:  [write {\"path\":\".\"}]
         write DeniedByPerson: a person denied this call: not today",
    );
    check(
        &[start(), begin(), calls(1, &[asking("write").for_secs(60)]), wait(60), expire(11)],
        "user: do it
         assistant:  [write {\"path\":\".\"}]
         write Failed: no person answered the approval of this call in time",
    );
    check(
        &[start(), begin(), calls(1, &[asking("write")]), approve(11).policy(PolicyNow::OtherVersion).act()],
        "user: do it
         assistant:  [write {\"path\":\".\"}]
         write Failed: the tool changed after it was asked; the call may be proposed again",
    );
    check(
        &[start(), begin(), calls(1, &[asking("write")]), cancel()],
        "user: do it
         assistant:  [write {\"path\":\".\"}]
         write Failed: this call did not run: the question whether it may was withdrawn",
    );
}

#[test]
fn changed_arguments_are_told_and_a_question_asked_again_is_open() {
    let edited = approve(11).edited("{\"path\":\"b\"}").act();
    check(
        &[start(), begin(), calls(1, &[edit("a")]), ready(1), edited, done_with(1, "done")],
        "user: do it
         assistant:  [edit {\"path\":\"a\"}]
         edit Succeeded: a person changed the arguments of this call before it ran, to {\"path\":\"b\"}
         done",
    );
    let drifted = approve(11).found("other").fresh(77).act();
    check(
        &[start(), begin(), calls(1, &[edit("a")]), ready(1), drifted],
        "user: do it
         assistant:  [edit {\"path\":\"a\"}]
         edit Failed: no outcome was recorded for this call; it may not have run",
    );
    check(
        &[start(), begin(), calls(1, &[edit("a")]), cannot(1)],
        "user: do it
         assistant:  [edit {\"path\":\"a\"}]
         edit Failed: it cannot work",
    );
}

#[test]
fn an_answered_question_and_a_settled_doubt_are_told() {
    check(
        &[start(), begin(), calls(1, &[question()]), input()],
        "user: do it
         assistant:  [question {\"path\":\".\"}]
         question Succeeded: the person answered; their words follow
         user: go on",
    );
    for (resolution, told) in [
        (
            EffectResolution::Happened,
            "Succeeded: a person looked: this call took effect; its output is lost: I looked",
        ),
        (EffectResolution::DidNotHappen, "Failed: a person looked: this call did not take effect: I looked"),
        (
            EffectResolution::Retry,
            "Failed: a person looked: this call did not take effect; they want it to be made again, as a new call: I looked",
        ),
    ] {
        let doubt = lost(1, UnknownOutcomeCause::Deadline);
        check(
            &[start(), begin(), calls(1, &[shell()]), doubt, settle(1, resolution)],
            &format!("user: do it\nassistant:  [shell {{\"path\":\".\"}}]\nshell {told}"),
        );
    }
}

#[test]
fn calls_of_another_gateway_keep_its_ids_once_and_never_as_one_of_ours() {
    let of_gateway = |run: u128, number| ClientCallId { run: run_id(run), number }.to_string();
    let given = [of_gateway(7, 1), of_gateway(7, 2), of_gateway(7, 1), of_gateway(1, 1), "call_x".to_owned()];
    let proposals: Vec<TapeEvent> = (1..)
        .zip(&given)
        .map(|(effect, id)| match proposal(effect, "read", "{}") {
            TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
                let model_call_id = Redacted::cleaned(id.clone());
                TapeEvent::Tool(ToolEvent::Proposed(ToolProposed { model_call_id, ..proposed }))
            }
            other => other,
        })
        .collect();
    let messages = render(run_id(1), &proposals);
    assert_paired(&messages);
    let answered: Vec<&str> = messages
        .iter()
        .filter_map(|message| match message {
            ChatMessage::ToolResult { call, .. } => Some(call.0.as_str()),
            _ => None,
        })
        .collect();
    let ours = |effect: u32| format!("call_{}_{effect}", run_id(1));
    assert_eq!(answered, [given[0].clone(), given[1].clone(), ours(3), ours(4), ours(5)]);
}

#[test]
fn a_result_without_its_call_is_left_out() {
    check_events(&[finished(1, None, "orphan")], "");
    check_events(
        &[TapeEvent::Tool(ToolEvent::OutcomeUnknown {
            effect: EffectId(1),
            cause: UnknownOutcomeCause::Restart,
        })],
        "",
    );
    let superseded = TapeEvent::Model(ModelEvent::AttemptAbandoned {
        attempt: Attempt(9),
        text_from: TapeSeq(1),
        text_to: TapeSeq(2),
        cause: AbandonCause::Restart,
        next: palyra_types::event::NextAttempt::None,
        retry_at: None,
        detail: Redacted::default(),
    });
    check_events(&[superseded], "");
}

fn proposal(effect: u32, tool: &str, arguments: &str) -> TapeEvent {
    TapeEvent::Tool(ToolEvent::Proposed(ToolProposed {
        effect: EffectId(effect),
        attempt: Attempt(1),
        call_digest: ContentDigest::default(),
        tool: Redacted::cleaned(tool.to_owned()),
        arguments: Redacted::cleaned(arguments.to_owned()),
        model_call_id: Redacted::default(),
    }))
}

fn verdict(effect: u32, verdict: ToolVerdict, explanation: &str) -> TapeEvent {
    TapeEvent::Tool(ToolEvent::Decided(ToolDecided {
        effect: EffectId(effect),
        verdict,
        reason: DecisionReason::Permitted,
        decided_by: DecidedBy::Policy,
        policy_digest: [0; 32],
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        deadline: std::time::Duration::ZERO,
        output_bytes_max: 0,
        conduct: ToolConduct::Direct,
        tool_version: 1,
        risk: ApprovalRiskLevel::Low,
        taints: Taints::NONE,
        ask: None,
        request: Redacted::default(),
        explanation: Redacted::cleaned(explanation.to_owned()),
    }))
}

fn finished(effect: u32, failure: Option<ErrorCode>, output: &str) -> TapeEvent {
    TapeEvent::Tool(ToolEvent::Finished(ToolFinished {
        effect: EffectId(effect),
        attested: CallAttestation::default(),
        failure,
        output_digest: ContentDigest::default(),
        output_bytes_total: 0,
        duration: std::time::Duration::ZERO,
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
        taints: Taints::NONE,
        output: Redacted::cleaned(output.to_owned()),
    }))
}

fn random_tape(moves: &[crate::scenario::world::RandomMove]) -> Vec<TapeEvent> {
    let mut world = ScenarioWorld::new(RunLimits::default());
    for a_move in moves {
        world.make(a_move);
    }
    world.driver.tape.into_iter().map(|(event, _)| event).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_prefix_of_any_tape_pairs(moves in moves(60)) {
        let tape = random_tape(&moves);
        for length in 0..=tape.len() {
            assert_paired(&render(run_id(1), &tape[..length]));
        }
    }

    #[test]
    fn any_remains_of_any_tape_pair(moves in moves(60), kept in proptest::collection::vec(any::<bool>(), 200)) {
        let tape = random_tape(&moves);
        for first in 0..tape.len() {
            assert_paired(&render(run_id(1), &tape[first..]));
        }
        let remains: Vec<TapeEvent> =
            tape.iter().zip(kept.iter().cycle()).filter(|(_, kept)| **kept).map(|(event, _)| event.clone()).collect();
        assert_paired(&render(run_id(1), &remains));
    }

    #[test]
    fn several_runs_after_each_other_pair(first in moves(40), second in moves(40), cut in any::<prop::sample::Index>()) {
        let (first, second) = (random_tape(&first), random_tape(&second));
        let mut messages = render(run_id(1), &first[..=cut.index(first.len())]);
        messages.extend(render(run_id(2), &second));
        messages.extend(render(run_id(3), &first));
        assert_paired(&messages);
    }

    #[test]
    fn every_outcome_that_is_on_the_tape_is_shown(moves in moves(60)) {
        let tape = random_tape(&moves);
        let mut told = BTreeSet::new();
        for event in &tape {
            match event {
                TapeEvent::Tool(ToolEvent::Finished(finished)) => told.insert(finished.effect),
                TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => told.insert(*effect),
                TapeEvent::Tool(ToolEvent::Decided(decided)) if decided.verdict == ToolVerdict::Deny => told.insert(decided.effect),
                TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) if resolved.state == ApprovalState::Withdrawn => {
                    told.insert(resolved.effect)
                }
                TapeEvent::Approval(ApprovalEvent::Requested(asked)) => told.remove(&asked.effect),
                _ => false,
            };
        }
        let shown = render(run_id(1), &tape).into_iter().filter(|message| match message {
            ChatMessage::ToolResult { text, status, .. } => {
                *status == ToolResultStatus::Succeeded || !text.expose().contains("no outcome was recorded")
            }
            _ => false,
        });
        prop_assert_eq!(told.len(), shown.count());
    }
}
