//! Chunks as clients accumulate them.

use palyra_types::ErrorCode;
use palyra_types::model::FinishReason;
use palyra_types::run::TerminationReason;
use palyra_types::tape::OrchestratorTapeRecord;
use serde_json::json;

use super::*;
use crate::reply::answer_reader::AnswerReader;
use crate::reply::server_event::EventData;
use crate::tape_fixture::{TapeBuilder, run_id};

fn events(tape: &[OrchestratorTapeRecord], usage: UsageReport) -> Vec<StreamEvent> {
    let (mut reader, mut stream) = (AnswerReader::new(0), ChatStream::new(run_id(), 0, "palyra", usage));
    let steps = tape.iter().flat_map(|entry| reader.read(entry)).collect::<Vec<_>>();
    steps.iter().flat_map(|step| stream.events(step)).collect()
}

fn objects(events: &[StreamEvent]) -> Vec<Value> {
    let object = |event: &StreamEvent| match &event.data {
        EventData::Object(data) => Some(data.clone()),
        EventData::Done => None,
    };
    events.iter().filter_map(object).collect()
}

fn two_turns() -> Vec<OrchestratorTapeRecord> {
    let tape = TapeBuilder::new().asked().text("Look").text("ing.").answered(1, FinishReason::ToolCalls);
    tape.asked().text("Done.").done()
}

#[test]
fn calls_come_one_after_the_other_with_their_names_once() {
    let tape = TapeBuilder::new().asked().called(&["f", "g"]).entries();
    let events = events(&tape, UsageReport::Included);
    let chunks = objects(&events);
    let mut gathered: Vec<Value> = Vec::new();
    for chunk in &chunks {
        let Some(calls) = chunk["choices"][0]["delta"]["tool_calls"].as_array() else { continue };
        for call in calls {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            assert!(index == gathered.len() || index + 1 == gathered.len(), "one after the other");
            if index == gathered.len() {
                assert!(call["id"].as_str().is_some_and(|id| !id.is_empty()));
                assert_eq!((&call["type"], call["function"]["name"].is_string()), (&json!("function"), true));
                gathered.push(call.clone());
            } else {
                let members: Vec<&String> = call.as_object().unwrap().keys().collect();
                assert_eq!(members, ["index", "function"], "id, type and name come once");
                gathered[index]["function"]["arguments"] = call["function"]["arguments"].clone();
            }
        }
    }
    let found: Vec<_> = gathered.iter().map(|call| (&call["function"]["name"], &call["id"])).collect();
    assert_eq!(found[0], (&json!("f"), &json!(format!("call_{}_c1", run_id()))));
    assert_eq!((gathered.len(), &gathered[1]["function"]["arguments"]), (2, &json!("{\"x\":1}")));
    let last = &chunks[chunks.len() - 2]["choices"][0];
    assert_eq!((&last["finish_reason"], &last["delta"]), (&json!("tool_calls"), &json!({})));
    assert_eq!(events.last(), Some(&StreamEvent::done()));
}

#[test]
fn a_whole_answer_with_calls_has_no_content() {
    let (mut reader, mut whole) = (AnswerReader::new(0), ChatCompletion::new(run_id(), 0, "palyra"));
    let tape = TapeBuilder::new().asked().called(&["f"]).entries();
    let steps = tape.iter().flat_map(|entry| reader.read(entry)).collect::<Vec<_>>();
    let answer = steps.iter().find_map(|step| whole.take(step)).unwrap().unwrap();
    let choice = &answer["choices"][0];
    assert_eq!(
        (&choice["finish_reason"], &choice["message"]["content"]),
        (&json!("tool_calls"), &Value::Null)
    );
    let call = json!({ "id": format!("call_{}_c1", run_id()), "type": "function",
        "function": { "name": "f", "arguments": "{\"x\":1}" } });
    assert_eq!(choice["message"]["tool_calls"], json!([call]));
}

#[test]
fn the_role_is_in_the_first_delta_only_and_the_id_in_all() {
    let events = events(&two_turns(), UsageReport::Omitted);
    let chunks = objects(&events);
    let roles: Vec<bool> =
        chunks.iter().map(|chunk| chunk["choices"][0]["delta"].get("role").is_some()).collect();
    assert_eq!(roles.iter().filter(|role| **role).count(), 1);
    assert!(roles[0]);
    let id = format!("chatcmpl-{}", run_id());
    for chunk in &chunks {
        assert_eq!(chunk["id"], id);
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!((chunk["created"].as_u64(), &chunk["model"]), (Some(1_700_000_000), &json!("palyra")));
        assert!(chunk.get("usage").is_none());
    }
    assert_eq!(events.last(), Some(&StreamEvent::done()));
}

#[test]
fn the_finish_reason_is_null_until_the_last_choice_and_the_text_is_whole() {
    let chunks = objects(&events(&two_turns(), UsageReport::Omitted));
    let reasons: Vec<&Value> = chunks.iter().map(|chunk| &chunk["choices"][0]["finish_reason"]).collect();
    let (last, before) = reasons.split_last().unwrap();
    assert_eq!(**last, json!("stop"));
    assert!(before.iter().all(|reason| reason.is_null()));
    let text: String =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, "Looking.\n\nDone.");
}

#[test]
fn with_usage_every_chunk_has_the_member_and_the_last_has_no_choice() {
    let chunks = objects(&events(&two_turns(), UsageReport::Included));
    let (last, before) = chunks.split_last().unwrap();
    assert!(before.iter().all(|chunk| chunk["usage"].is_null() && chunk.get("usage").is_some()));
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"]["total_tokens"], 14);
    let silent = ChatStream::new(run_id(), 0, "palyra", UsageReport::Included).heartbeat();
    let silent = objects(&[silent]).pop().unwrap();
    assert!(silent["usage"].is_null() && silent.get("usage").is_some(), "in silence too");
}

#[test]
fn an_error_in_the_stream_is_the_last_event() {
    let tape = TapeBuilder::new().asked().text("Hal").abandoned();
    let tape = tape.finished(TerminationReason::ProviderError, Some(ErrorCode::ModelQuota)).entries();
    let events = events(&tape, UsageReport::Included);
    let last = objects(&events).pop().unwrap();
    assert_eq!(last["error"]["code"], "insufficient_quota");
    assert!(!events.contains(&StreamEvent::done()));
    assert_eq!(objects(&events).len(), events.len());
}

#[test]
fn an_answer_that_was_cut_off_says_so() {
    let reason = |finish, reason| {
        let tape = TapeBuilder::new().asked().text("x").answered(0, finish).finished(reason, None).entries();
        objects(&events(&tape, UsageReport::Omitted)).pop().unwrap()["choices"][0]["finish_reason"].clone()
    };
    assert_eq!(reason(FinishReason::Length, TerminationReason::FinalAnswer), "length");
    assert_eq!(reason(FinishReason::ContentFilter, TerminationReason::ContentPolicy), "content_filter");
}

#[test]
fn a_whole_answer_has_the_text_of_the_stream() {
    let (mut reader, mut whole) = (AnswerReader::new(0), ChatCompletion::new(run_id(), 0, "palyra"));
    let tape = two_turns();
    let steps = tape.iter().flat_map(|entry| reader.read(entry)).collect::<Vec<_>>();
    let answer = steps.iter().find_map(|step| whole.take(step)).unwrap().unwrap();
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["choices"][0]["message"]["content"], "Looking.\n\nDone.");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["usage"]["prompt_tokens"], 11);
}

#[test]
fn nothing_of_the_inside_is_in_a_chunk() {
    let tape = TapeBuilder::new().asked().text("x").abandoned().asked().text("y").abandoned();
    let tape = tape.finished(TerminationReason::ProviderError, Some(ErrorCode::ModelAuth)).entries();
    let bytes: String = events(&tape, UsageReport::Included).iter().map(StreamEvent::encode).collect();
    assert!(!bytes.contains("secret_") && bytes.contains("\"error\""), "{bytes}");
}
