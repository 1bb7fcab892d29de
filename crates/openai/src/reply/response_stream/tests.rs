//! Events as clients accumulate them.

use std::collections::BTreeMap;

use palyra_types::ErrorCode;
use palyra_types::model::FinishReason;
use palyra_types::run::TerminationReason;
use palyra_types::tape::OrchestratorTapeRecord;
use proptest::prelude::*;

use super::*;
use crate::identifiers::{ResponseId, ResponseRetention};
use crate::reply::answer_reader::AnswerReader;
use crate::reply::answer_reader::tests::{any_moves, tape_of};
use crate::reply::response_object::RequestEcho;
use crate::reply::server_event::EventData;
use crate::tape_fixture::{TapeBuilder, run_id};

fn stream(retention: ResponseRetention, part: u32) -> ResponseStream {
    let id = ResponseId { run: run_id(), part, retention };
    let facts = ResponseFacts { id, model: "palyra".to_owned(), created: 0, echo: RequestEcho::default() };
    ResponseStream::new(facts)
}

fn events_of(tape: &[OrchestratorTapeRecord], retention: ResponseRetention, part: u32) -> Vec<Value> {
    let (mut reader, mut stream) = (AnswerReader::new(part), stream(retention, part));
    let mut events = Vec::new();
    for entry in tape {
        for step in reader.read(entry) {
            for event in stream.events(&step) {
                let EventData::Object(data) = &event.data else { panic!("no [DONE] in a response") };
                assert_eq!(event.name, data["type"].as_str());
                assert_eq!(sequence_number(&event), data["sequence_number"].as_u64());
                events.push(data.clone());
            }
        }
    }
    events
}

fn events(tape: &[OrchestratorTapeRecord]) -> Vec<Value> {
    events_of(tape, ResponseRetention::Stored, 0)
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// What the Python SDK checks while it gathers a stream, and that everything added is done.
fn check(events: &[Value]) {
    let numbers: Vec<u64> = events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>(), "dense from 0");
    assert_eq!(events[0]["type"], "response.created");
    let id = &events[0]["response"]["id"];
    let mut texts: BTreeMap<u64, String> = BTreeMap::new();
    let mut done: BTreeMap<u64, Value> = BTreeMap::new();
    for event in events {
        if let Some(response) = event.get("response") {
            assert_eq!(&response["id"], id);
        }
        let index = event["output_index"].as_u64();
        match event["type"].as_str().unwrap() {
            "response.output_item.added" => {
                assert!(texts.insert(index.unwrap(), String::new()).is_none(), "added once");
                if event["item"]["type"] == "message" {
                    assert_eq!(event["item"]["content"], json!([]));
                } else {
                    assert_eq!(event["item"]["arguments"], "");
                }
            }
            "response.output_text.delta" => {
                assert_eq!((&event["content_index"], &event["logprobs"]), (&json!(0), &json!([])));
                texts.get_mut(&index.unwrap()).unwrap().push_str(event["delta"].as_str().unwrap());
            }
            "response.function_call_arguments.delta" => {
                texts.get_mut(&index.unwrap()).unwrap().push_str(event["delta"].as_str().unwrap());
            }
            "response.function_call_arguments.done" => assert_eq!(event["arguments"], texts[&index.unwrap()]),
            "response.output_text.done" => assert_eq!(event["text"], texts[&index.unwrap()]),
            "response.output_item.done" => {
                if event["item"]["type"] == "message" {
                    assert_eq!(event["item"]["content"][0]["text"], texts[&index.unwrap()]);
                    assert_eq!(event["item"]["content"][0]["annotations"], json!([]));
                } else {
                    assert_eq!(event["item"]["arguments"], texts[&index.unwrap()]);
                }
                done.insert(index.unwrap(), event["item"].clone());
            }
            _ => {}
        }
    }
    let last = events.last().unwrap();
    let terminal = ["response.completed", "response.failed", "response.incomplete"];
    let ends = events.iter().filter(|event| terminal.contains(&event["type"].as_str().unwrap()));
    assert_eq!(ends.count(), 1);
    assert!(terminal.contains(&last["type"].as_str().unwrap()));
    assert_eq!(texts.len(), done.len(), "every added item is done");
    let output: Vec<Value> = done.into_values().collect();
    assert_eq!(last["response"]["output"], json!(output));
}

#[test]
fn the_events_of_a_message_come_in_order() {
    let events = events(&TapeBuilder::new().asked().text("Hel").text("lo").done());
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(names(&events), expected);
    check(&events);
}

#[test]
fn a_call_has_the_events_of_an_item_and_the_response_is_complete() {
    let tape = TapeBuilder::new().asked().called(&["f", "g"]).brought(&["1", "2"]).asked().text("x").done();
    let first = events(&tape);
    let of_a_call = [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
    ];
    let expected =
        [&["response.created", "response.in_progress"][..], &of_a_call, &of_a_call, &["response.completed"]]
            .concat();
    assert_eq!(names(&first), expected);
    check(&first);
    let response = &first.last().unwrap()["response"];
    let (run, call) = (run_id(), &response["output"][1]);
    assert_eq!((&response["status"], &response["id"]), (&json!("completed"), &json!(format!("resp_s{run}"))));
    assert_eq!(
        call,
        &json!({ "id": format!("fc_{run}_c2"), "type": "function_call", "status": "completed",
            "call_id": format!("call_{run}_c2"), "name": "g", "arguments": "{\"x\":1}" })
    );
    let second = events_of(&tape, ResponseRetention::Stored, 1);
    check(&second);
    assert_eq!(second.last().unwrap()["response"]["id"], format!("resp_s{run}-1"));
    assert_eq!(second.last().unwrap()["response"]["output"][0]["id"], format!("msg_{run}-1_0"));
}

#[test]
fn a_response_in_the_background_is_queued_first() {
    let tape = TapeBuilder::new().asked().text("x").done();
    let events = events_of(&tape, ResponseRetention::Background, 0);
    assert_eq!(names(&events)[..3], ["response.created", "response.queued", "response.in_progress"]);
    assert_eq!(events[1]["response"]["status"], "queued");
    assert_eq!(events[1]["response"]["background"], true);
    check(&events);
}

#[test]
fn a_response_has_all_members_that_are_required() {
    let events = events(&TapeBuilder::new().asked().text("x").done());
    let response = &events.last().unwrap()["response"];
    for member in [
        "id",
        "created_at",
        "model",
        "object",
        "output",
        "parallel_tool_calls",
        "tool_choice",
        "tools",
        "status",
        "error",
        "incomplete_details",
        "instructions",
        "metadata",
        "previous_response_id",
        "reasoning",
        "temperature",
        "text",
        "top_p",
        "truncation",
        "usage",
        "background",
        "max_output_tokens",
        "store",
    ] {
        assert!(response.get(member).is_some(), "{member}");
    }
    assert_eq!((&response["object"], &response["status"]), (&json!("response"), &json!("completed")));
    assert_eq!(response["usage"]["total_tokens"], 14);
}

#[test]
fn a_failure_is_response_failed_with_a_code_that_clients_know() {
    let tape = TapeBuilder::new().asked().text("x").abandoned();
    let tape =
        tape.finished(TerminationReason::ContextExhausted, Some(ErrorCode::ContextExhausted)).entries();
    let events = events(&tape);
    check(&events);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.failed");
    assert_eq!(last["response"]["error"]["code"], "context_length_exceeded");
    assert_eq!(last["response"]["status"], "failed");
    let bytes = json!(events).to_string();
    assert!(!bytes.contains("secret_"), "{bytes}");
}

#[test]
fn an_answer_that_was_cut_off_is_incomplete_with_its_reason() {
    let incomplete = |finish, reason| {
        let tape = TapeBuilder::new().asked().text("x").answered(0, finish).finished(reason, None).entries();
        let last = events(&tape).pop().unwrap();
        assert_eq!(last["type"], "response.incomplete");
        last["response"]["incomplete_details"]["reason"].clone()
    };
    assert_eq!(incomplete(FinishReason::Length, TerminationReason::FinalAnswer), "max_output_tokens");
    let filtered = incomplete(FinishReason::ContentFilter, TerminationReason::ContentPolicy);
    assert_eq!(filtered, "content_filter");
}

#[test]
fn a_heartbeat_repeats_the_last_number() {
    let mut stream = stream(ResponseRetention::Stored, 0);
    let mut reader = AnswerReader::new(0);
    let tape = TapeBuilder::new().asked().entries();
    let count =
        tape.iter().flat_map(|entry| reader.read(entry)).flat_map(|step| stream.events(&step)).count();
    let number = sequence_number(&stream.heartbeat());
    assert_eq!(number, Some(count as u64 - 1));
    assert_eq!(sequence_number(&stream.heartbeat()), number);
}

proptest! {
    #[test]
    fn the_events_of_any_tape_are_what_a_client_gathers(moves in any_moves(), structured: bool) {
        check(&events(&tape_of(&moves, structured)));
    }

    #[test]
    fn a_cut_tape_gives_the_first_events_of_the_whole(moves in any_moves(), cut in 0_usize..60) {
        let tape = tape_of(&moves, false);
        let (part, whole) = (events(&tape[..cut.min(tape.len())]), events(&tape));
        prop_assert!(whole.starts_with(&part));
    }
}
