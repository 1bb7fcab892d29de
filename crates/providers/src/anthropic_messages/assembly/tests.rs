//! What the recordings say, and answers that are none.

use super::*;
use crate::recorded::{Recordings, show};

macro_rules! recorded {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../tests/recorded/anthropic_messages/", $name)))
    };
}

const RECORDED: Recordings<MessageAssembly> = Recordings {
    assembly: || MessageAssembly::new(ModelRef::new("anthropic", "claude")),
    streams: &[
        recorded!("text.sse"),
        recorded!("parallel_calls.sse"),
        recorded!("thinking_and_calls.sse"),
        recorded!("refusal.sse"),
        recorded!("length.sse"),
        recorded!("window_full.sse"),
        recorded!("overloaded_in_the_stream.sse"),
        recorded!("compatible_server.sse"),
        recorded!("server_tool_blocks.sse"),
        recorded!("not_streamed.json"),
    ],
};

#[test]
fn recordings_stand_every_cut_end_and_damage() {
    RECORDED.stands_everything();
}

#[test]
fn text_streams_with_usage() {
    RECORDED.check(
        "text.sse",
        r#"text "Grün"
text " 😀 is\n\ndata: green"
Stop by claude-opus-4-6 "msg_01Text" [209, 188, 12, 0]"#,
    );
}

#[test]
fn parallel_calls_are_proposed_in_their_order() {
    RECORDED.check(
        "parallel_calls.sse",
        r#"text "I'll read both."
ToolCalls by claude-sonnet-4-6 "msg_01Calls" [1672, 0, 89, 0]
  toolu_01A read_file {"path": "grün.md"}
  toolu_01B list_dir {}"#,
    );
}

#[test]
fn reasoning_is_shown_and_kept_with_its_signatures_and_places() {
    let kept = [
        r#"{"signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk+/=","thinking":"Which file? \"a.md\" ✓","type":"thinking"}"#,
        r#"{"data":"EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpPkNRj2YfWXGmKDxH4mPnZ5sQ7vB9URj2pLmN3kF8/dW5h","type":"redacted_thinking"}"#,
        r#"{"bytes":8,"type":"text"}"#,
        r#"{"type":"tool_use"}"#,
        r#"{"signature":"EsUBCkYIBx","thinking":"","type":"thinking"}"#,
        r#"{"type":"tool_use"}"#,
    ];
    let expect = format!(
        r#"reasoning "Which file?"
reasoning " \"a.md\" ✓"
text "Reading."
ToolCalls by claude-opus-4-6 "msg_01Think" [60, 0, 120, 70]
  toolu_02A read_file {{"path":"a.md"}}
  toolu_02B glob {{"pattern":"*.md"}}
  keeps [{}]"#,
        kept.join(",")
    );
    RECORDED.check("thinking_and_calls.sse", &expect);
}

#[test]
fn every_reason_to_stop_has_its_meaning() {
    RECORDED.check(
        "refusal.sse",
        "text \"First, take\"\nContentFilter by claude-opus-4-6 \"msg_01Refuse\" [17, 0, 9, 0]",
    );
    RECORDED.check(
        "length.sse",
        "text \"Once upon a\"\nLength by claude-haiku-4-5 \"msg_01Length\" [9, 0, 8, 0]\n  toolu_04 write_file {\"path\": \"ta",
    );
    RECORDED.check(
        "window_full.sse",
        "text \"Well\"\nContextExceeded: the answer was cut off where the model's window was full",
    );
    RECORDED.check(
        "server_tool_blocks.sse",
        "text \"They wade.\"\nOther by claude-opus-4-6 \"msg_01Srv\" [30, 0, 11, 0]",
    );
    RECORDED.check(
        "overloaded_in_the_stream.sse",
        "text \"Half an ans\"\nTransient: Overloaded (overloaded_error)",
    );
}

#[test]
fn servers_that_are_only_compatible_are_understood() {
    RECORDED.check(
        "compatible_server.sse",
        r#"reasoning "Let me"
reasoning " see."
text "Here"
text " it is."
ToolCalls by glm "0196a" [31, 0, 7, 0]
  call-1 search {"pattern":"x"}
  keeps [{"signature":"","thinking":"Let me see.","type":"thinking"},{"bytes":11,"type":"text"},{"type":"tool_use"}]"#,
    );
    RECORDED.check(
        "not_streamed.json",
        r#"reasoning "Short."
text "Whole."
ToolCalls by claude-haiku-4-5 "msg_01Whole" [5, 0, 6, 0]
  toolu_05 glob {"pattern":"*.md"}
  keeps [{"signature":"Eq==","thinking":"Short.","type":"thinking"},{"bytes":6,"type":"text"},{"type":"tool_use"}]"#,
    );
}

/// Reads events, each given by its object.
fn read(events: &[Value]) -> String {
    let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    show(&RECORDED.read(&[stream.as_bytes()]))
}

fn begin(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}})
}

#[test]
fn bad_order_is_malformed() {
    let check = |events: &[Value], expect: &str| {
        assert_eq!(read(events), format!("Malformed: {expect}"), "{events:?}");
    };
    let start = json!({"type": "message_start", "message": {}});
    let text = json!({"type": "text", "text": ""});
    let call = json!({"type": "tool_use", "id": "c", "name": "t", "input": {}});
    let said = json!({"type": "text_delta", "text": "a"});
    check(&[], "the reply is neither an event stream nor JSON");
    check(std::slice::from_ref(&start), "the answer ended without a stop reason");
    check(&[start.clone(), json!({"type": "message_stop"})], "the answer ended without a stop reason");
    check(&[start.clone(), start.clone()], "the message began twice");
    check(&[begin(0, &text), begin(0, &text)], "a block of the answer began twice");
    let no_block = "a piece of the answer belongs to no open block";
    check(&[delta(0, &said)], no_block);
    check(&[begin(1, &text), delta(0, &said)], no_block);
    let closed = json!({"type": "content_block_stop", "index": 0});
    check(&[begin(0, &text), closed.clone(), delta(0, &said)], no_block);
    check(&[begin(0, &text), closed.clone(), closed.clone()], no_block);
    let other_kind = "a piece of the answer is of another kind than its block";
    check(&[begin(0, &call), delta(0, &said)], other_kind);
    let went_on = "the answer went on after its end";
    check(&[begin(0, &text), stop("end_turn"), delta(0, &said)], went_on);
    check(&[stop("end_turn"), begin(0, &text)], went_on);
    check(&[begin(0, &call), stop("tool_use")], "a tool call never ended");
    let nameless = begin(0, &json!({"type": "tool_use", "id": "c"}));
    check(&[nameless, closed, stop("tool_use")], "a tool call has no name");
    let many: Vec<Value> = (0..100).map(|index| begin(index, &call)).collect();
    check(&many, "the answer holds too many tool calls");
    let many: Vec<Value> = (0..2_000).map(|index| begin(index, &json!({"type": "new"}))).collect();
    check(&many, "the answer holds too many blocks");
}

#[test]
fn what_is_new_is_passed_over() {
    let thought = json!({"type": "thinking", "thinking": ""});
    let events = [
        begin(7, &thought),
        delta(7, &json!({"type": "mood_delta", "mood": "good"})),
        json!({"type": "weather", "index": 7}),
        begin(8, &json!({"type": "song"})),
        delta(8, &json!({"type": "text_delta", "text": "la"})),
        stop("sung"),
        json!({"type": "message_stop"}),
        json!({"type": "message_start"}),
    ];
    let kept = r#"[{"signature":"","thinking":"","type":"thinking"}]"#;
    assert_eq!(read(&events), format!("Other by  \"\" no usage\n  keeps {kept}"));
}
