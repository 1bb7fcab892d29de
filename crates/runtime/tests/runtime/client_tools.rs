//! Functions that the caller performs: the run waits as a row, goes on with the results, and ends where they do not come.

use std::time::Duration;

use palyra_runtime::RequestError;
use palyra_runtime::session::{ClientResultsRequest, SubmitRequest};
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script};
use palyra_types::client_tool::{ClientCallSpan, ClientTool, ClientToolChoice, ClientToolOffer};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::model::ChatMessage;
use palyra_types::run::{RunLifecycleState, RunPhase, TerminationReason, WaitReason};
use palyra_types::{Content, RunId};

use crate::rig::{Rig, SECRET, by_key, request, settle, soon};
use crate::shapes::shape;

fn offer(names: &[&str]) -> ClientToolOffer<Content<String>> {
    let tool = |name: &&str| ClientTool {
        name: (*name).into(),
        description: "it says something".into(),
        parameters: "{\"type\":\"object\"}".into(),
        strict: None,
    };
    ClientToolOffer {
        tools: names.iter().map(tool).collect(),
        choice: ClientToolChoice::Auto,
        answer_tokens_max: Some(77),
        answer_within: Duration::from_secs(600),
    }
}

fn results(first: u32, outputs: &[&str], key: &str) -> ClientResultsRequest {
    ClientResultsRequest {
        span: ClientCallSpan { first, count: u32::try_from(outputs.len()).unwrap() },
        outputs: outputs.iter().map(|output| (*output).into()).collect(),
        offer: offer(&["weather", "clock"]),
        idempotency_key: Some(key.into()),
    }
}

async fn parked(rig: &Rig) -> RunId {
    rig.model.push(Script::new().call("weather", "{}").call("clock", "{}"));
    let submit =
        SubmitRequest { client_tools: Some(offer(&["weather", "clock"])), ..request(by_key("k"), "go") };
    let run = rig.gateway.sessions.submit(rig.me(), submit).await.unwrap().run;
    let called = |event: &TapeEvent| matches!(event, TapeEvent::Run(RunEvent::ClientToolsCalled(_)));
    rig.until(run, "the calls", called).await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::ClientTool));
    run
}

#[tokio::test]
async fn a_run_offers_the_functions_alone_and_goes_on_with_their_results_after_a_restart() {
    let rig = Rig::start().await;
    let run = parked(&rig).await;
    let rig = rig.restarted().await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::ClientTool));
    rig.gateway.runs.answer_client_tools(rig.me(), run, results(1, &["rain", "noon"], "a")).await.unwrap();
    let record = rig.finished(run).await;
    assert_eq!((record.state, record.tool_calls), (RunLifecycleState::Done, 0));
    let asked = rig.model.requests().last().cloned().unwrap();
    assert!(
        asked.tools.is_empty() && asked.client_tools.as_ref().is_some_and(|offer| offer.tools.len() == 2)
    );
    assert_eq!(asked.output_tokens_max, Some(77));
    let outputs: Vec<&str> = asked
        .messages
        .iter()
        .filter_map(|message| match message {
            ChatMessage::ToolResult { text, .. } => Some(text.expose().as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(outputs, ["rain", "noon"]);
    let offers = shape(&rig.tape(run).await).iter().filter(|word| word.starts_with("client offers")).count();
    assert_eq!(offers, 1, "what is offered again is recorded once");
}

#[tokio::test]
async fn results_are_taken_once_and_others_are_refused() {
    let rig = Rig::start().await;
    let run = parked(&rig).await;
    let answer = async |request| rig.gateway.runs.answer_client_tools(rig.me(), run, request).await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    assert!(matches!(answer(results(1, &["rain"], "a")).await, Err(RequestError::RunNotWaiting)));
    assert!(matches!(answer(results(2, &["x", "y"], "a")).await, Err(RequestError::RunNotWaiting)));
    let (one, two) = futures::future::join(
        answer(results(1, &["rain", "noon"], "a")),
        answer(results(1, &["rain", "noon"], "a")),
    )
    .await;
    assert!(one.is_ok() && two.is_ok(), "the same request, twice at once");
    assert!(matches!(answer(results(1, &["rain", "noon"], "b")).await, Err(RequestError::RunNotWaiting)));
    gate.open();
    rig.finished(run).await;
    assert!(matches!(answer(results(1, &["rain", "noon"], "a")).await, Err(RequestError::RunFinished)));
    let stranger =
        rig.gateway.runs.answer_client_tools(rig.stranger(), run, results(1, &["x", "y"], "a")).await;
    assert!(matches!(stranger, Err(RequestError::RunNotFound)));
    let answered =
        shape(&rig.tape(run).await).iter().filter(|word| word.starts_with("client answered")).count();
    assert_eq!(answered, 1);
    assert_eq!(rig.gateway.runs.of_key(rig.me(), &"a".into()).await.unwrap(), Some(run));
}

#[tokio::test]
async fn a_run_whose_client_does_not_come_back_is_cancelled_in_time_also_after_a_restart() {
    let rig = Rig::start().await;
    let run = parked(&rig).await;
    rig.clock.advance(Duration::from_secs(300));
    settle().await;
    let rig = rig.restarted().await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::ClientTool));
    rig.clock.advance(Duration::from_secs(600));
    let record = rig.finished(run).await;
    assert_eq!(
        (record.state, record.reason),
        (RunLifecycleState::Cancelled, Some(TerminationReason::Cancelled))
    );
    assert!(rig.tape(run).await.iter().all(|entry| !matches!(entry.event, TapeEvent::Tool(_))));
}

#[tokio::test]
async fn what_waits_for_its_turn_keeps_its_functions() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("first"));
    let first = rig.submit("k", "first").await.run;
    soon("the first request", rig.model.wait_until(|counts| counts.begun == 1)).await;
    let submit = SubmitRequest { client_tools: Some(offer(&["weather"])), ..request(by_key("k"), "second") };
    let second = rig.gateway.sessions.submit(rig.me(), submit).await.unwrap().run;
    assert_eq!(shape(&rig.tape(second).await), ["started second", "client offers 1"]);
    rig.model.push(Script::new().call(LOOK, "{}"));
    gate.open();
    rig.finished(first).await;
    let called = |event: &TapeEvent| matches!(event, TapeEvent::Run(RunEvent::ClientToolsCalled(_)));
    rig.until(second, "a call, whatever its name", called).await;
    rig.cancel(second).await.unwrap();
    assert_eq!(rig.finished(second).await.state, RunLifecycleState::Cancelled);
}

#[tokio::test]
async fn a_secret_is_replaced_in_what_is_said_of_a_function() {
    let rig = Rig::start().await;
    let mut offered = offer(&["weather"]);
    offered.tools[0].description = format!("it knows {SECRET}").into();
    let submit = SubmitRequest { client_tools: Some(offered), ..request(by_key("k"), "go") };
    let run = rig.gateway.sessions.submit(rig.me(), submit).await.unwrap().run;
    rig.finished(run).await;
    let asked = rig.model.requests().last().cloned().unwrap();
    let description = asked.client_tools.as_ref().unwrap().tools[0].description.expose();
    assert!(description.starts_with("it knows ") && !description.contains(SECRET), "{description}");
}
