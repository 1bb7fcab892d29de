//! What the recordings say, and answers that are none.

use super::*;
use crate::recorded::{Recordings, show};
use crate::wire_format::answer_reader::{ANSWER_BYTES_MAX, AnswerReader, PieceQueue};

macro_rules! recorded {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../tests/recorded/openai_responses/", $name)))
    };
}

const RECORDED: Recordings<ResponseAssembly> = Recordings {
    assembly: || ResponseAssembly::new(ModelRef::new("openai", "gpt")),
    streams: &[
        recorded!("text.sse"),
        recorded!("reasoning_and_calls.sse"),
        recorded!("refusal.sse"),
        recorded!("length.sse"),
        recorded!("content_filter.sse"),
        recorded!("failed.sse"),
        recorded!("error_event.sse"),
        recorded!("compatible_server.sse"),
        recorded!("only_the_end.sse"),
        recorded!("other_ids_in_each_event.sse"),
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
Stop by gpt-5.2-2025-12-11 "resp_01Text" [209, 188, 12, 0]"#,
    );
}

#[test]
fn reasoning_is_shown_and_kept_as_it_is_when_it_is_done() {
    let kept = [
        r#"{"encrypted_content":"gAAAAABpF3kQ9dWv-_x1Zc+/JmT0aA==","id":"rs_1","summary":[{"text":"**Which file?** \"a.md\" ✓","type":"summary_text"},{"text":"Then list.","type":"summary_text"}],"type":"reasoning"}"#,
        r#"{"bytes":8,"type":"text"}"#,
        r#"{"type":"tool_use"}"#,
        r#"{"encrypted_content":"gAAAAABpF3kR+/second==","id":"rs_4","summary":[],"type":"reasoning"}"#,
        r#"{"type":"tool_use"}"#,
    ];
    let expect = format!(
        r#"reasoning "**Which file?**"
reasoning " \"a.md\" ✓"
reasoning "\n\n"
reasoning "Then list."
text "Reading."
ToolCalls by gpt-5.2-2025-12-11 "resp_02Think" [1672, 1024, 120, 70]
  call_A read_file {{"path":"grün.md"}}
  call_B list_dir {{}}
  keeps [{}]"#,
        kept.join(",")
    );
    RECORDED.check("reasoning_and_calls.sse", &expect);
}

#[test]
fn every_end_has_its_meaning() {
    RECORDED.check(
        "refusal.sse",
        "text \"I'm sorry, I\"\ntext \" can't help with that.\"\n\
         Stop by gpt-5.2-2025-12-11 \"resp_03Refusal\" [30, 0, 9, 0]",
    );
    RECORDED.check(
        "length.sse",
        r#"text "Writing."
Length by gpt-5.2-2025-12-11 "resp_04Length" [80, 0, 32, 0]
  call_cut write_file {"path":"a.md","text":"On"#,
    );
    RECORDED.check(
        "content_filter.sse",
        "text \"First, take\"\nContentFilter by gpt-4o \"resp_05Filter\" no usage",
    );
}

#[test]
fn failures_inside_a_stream_have_their_class_and_words() {
    RECORDED.check(
        "failed.sse",
        "text \"Half an ans\"\n\
         RateLimit: Rate limit reached for gpt-5.2 on tokens per min (TPM) (rate_limit_exceeded)",
    );
    RECORDED.check(
        "error_event.sse",
        "text \"Half an ans\"\n\
         Transient: The server had an error while processing your request. (server_error)",
    );
}

#[test]
fn missing_names_ids_indexes_and_events_are_no_matter() {
    RECORDED.check(
        "compatible_server.sse",
        r#"reasoning "Look"
reasoning " first."
text "Let me"
text " look."
ToolCalls by gpt-oss-20b "" no usage
  call-1 search {"pattern":"x"}"#,
    );
    RECORDED.check(
        "only_the_end.sse",
        r#"reasoning "Hm.\n\nSo."
text "All at once."
ToolCalls by local "resp_09" [5, 0, 6, 2]
  c1 glob {"pattern":"*.md"}"#,
    );
    RECORDED.check(
        "not_streamed.json",
        r#"text "Whole."
ToolCalls by m "resp_10" [5, 0, 6, 0]
  c1 glob {"pattern":"*.md"}
  keeps [{"encrypted_content":"gAAAAABk+/==","id":"rs_0","summary":[],"type":"reasoning"},{"bytes":6,"type":"text"},{"type":"tool_use"}]"#,
    );
}

#[test]
fn other_ids_in_each_event_make_no_other_items() {
    let pieces = RECORDED.read(&[RECORDED.stream("other_ids_in_each_event.sse").as_bytes()]);
    let shown = show(&pieces);
    let expect = r#"text "One"
text " two."
ToolCalls by gpt-5-mini "r_00zQ" [12, 4, 20, 8]
  call_1 list_dir {}
  call_2 read_file {"path":"b"}
  keeps ["#;
    assert!(shown.starts_with(expect), "{shown}");
    assert_eq!(shown.matches("\"reasoning\"").count(), 1, "{shown}");
}

#[test]
fn items_of_one_index_are_told_apart_by_their_ids() {
    let event = |value: Value| format!("data: {value}\n\n");
    let added = |id: &str, name: &str| {
        let item = json!({"type": "function_call", "id": id, "call_id": format!("call_{id}"), "name": name});
        event(json!({"type": "response.output_item.added", "output_index": 0, "item": item}))
    };
    let delta = |id: &str, delta: &str| {
        event(
            json!({"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": id, "delta": delta}),
        )
    };
    let end = event(json!({"type": "response.completed", "response": {"status": "completed"}}));
    let stream =
        [added("a", "t"), added("b", "u"), delta("a", "{\"x\":"), delta("b", "{}"), delta("a", "1}"), end];
    let shown = show(&RECORDED.read(&[stream.concat().as_bytes()]));
    assert_eq!(shown, "ToolCalls by  \"\" no usage\n  call_a t {\"x\":1}\n  call_b u {}");
    let twice = [added("a", "t"), added("a", "t")].concat();
    assert_eq!(show(&RECORDED.read(&[twice.as_bytes()])), "Malformed: an item of the answer began twice");
}

#[test]
fn reasoning_that_is_not_encrypted_is_shown_and_not_kept() {
    let item = json!({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": null,
        "content": [{"type": "reasoning_text", "text": "Aloud."}]});
    let document = json!({"status": "completed", "model": "m", "output": [item]}).to_string();
    let shown = show(&RECORDED.read(&[document.as_bytes()]));
    assert_eq!(shown, "reasoning \"Aloud.\"\nStop by m \"\" no usage");
}

#[test]
fn a_done_mark_is_tolerated_and_ends_nothing_by_itself() {
    let text = RECORDED.stream("text.sse");
    let whole = RECORDED.read(&[text.as_bytes()]);
    let marked = format!("{text}data: [DONE]\n\n");
    assert_eq!(RECORDED.read(&[marked.as_bytes()]), whole);
    let begun = text.split("event: response.completed").next().expect("a beginning");
    let marked = format!("{begun}data: [DONE]\n\n");
    let shown = show(&RECORDED.read(&[marked.as_bytes()]));
    assert!(shown.ends_with("Malformed: the answer ended without a status that ends it"), "{shown}");
}

#[test]
fn bad_answers_fail() {
    let check = |input: &str, class: ModelFailureClass, detail: &str| {
        let pieces = RECORDED.read(&[input.as_bytes()]);
        let Some(Err(failure)) = pieces.last() else { panic!("{input}: {}", show(&pieces)) };
        assert_eq!((failure.class, failure.detail.expose().as_str()), (class, detail), "{input}");
    };
    use ModelFailureClass::{Auth, ContextExceeded, Malformed, Permanent, Quota, Transient};
    let no_end = "the answer ended without a status that ends it";
    check("", Malformed, "the reply is neither an event stream nor JSON");
    check("<html>no</html>", Malformed, "the reply is neither an event stream nor JSON");
    check("data: {\"type\":\n\n", Malformed, "an event of the answer is not JSON");
    check("data: 7\n\ndata: []\n\ndata: null\n\n", Malformed, no_end);
    check("{\"output\":[", Malformed, "the answer is not complete JSON");
    check("{\"choices\":[]}", Malformed, "the answer is not a response");
    check("{\"status\":\"in_progress\",\"output\":[]}", Malformed, no_end);
    check("{\"status\":\"cancelled\",\"output\":[]}", Transient, "the server cancelled the response");
    let failed = r#"{"status":"failed","error":{"code":"insufficient_quota","message":"pay"}}"#;
    check(failed, Quota, "pay (insufficient_quota)");
    check(r#"{"error":{"code":"invalid_api_key","message":"no"}}"#, Auth, "no (invalid_api_key)");
    let event = |event: &str| format!("data: {event}\n\n");
    let unnamed = "the server broke off with an error it does not name";
    check(&event(r#"{"type":"response.failed","response":{"error":null}}"#), Transient, unnamed);
    check(
        &event(r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#),
        Permanent,
        "no (invalid_request_error)",
    );
    check(
        &event(
            r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"big"}}}"#,
        ),
        ContextExceeded,
        "big (context_length_exceeded)",
    );
    check(
        "event: error\ndata: {\"message\":\"m\",\"code\":\"invalid_value\"}\n\n",
        Permanent,
        "m (invalid_value)",
    );
    check(&event(r#"{"type":"x","error":"out of memory"}"#), Transient, "out of memory");
    let begun = event(r#"{"type":"response.created","response":{}}"#);
    check(&begun.repeat(2), Malformed, "the response began twice");
    let done = event(
        r#"{"type":"response.completed","response":{"output":[{"type":"function_call","arguments":"{}"}]}}"#,
    );
    check(&done, Malformed, "a tool call has no name");
}

#[test]
fn calls_items_and_arguments_have_an_end() {
    let added = |kind: &str, number: usize| {
        let item = json!({"type": kind, "id": format!("i{number}"), "call_id": "c", "name": "t"});
        format!(
            "data: {}\n\n",
            json!({"type": "response.output_item.added", "output_index": number, "item": item})
        )
    };
    for (kind, limit, said) in [
        ("function_call", 65, "the answer holds too many tool calls"),
        ("message", 1_025, "the answer holds too many items"),
        ("hologram", 1_025, "the answer holds too many items"),
    ] {
        let stream: String = (0..limit).map(|number| added(kind, number)).collect();
        let shown = show(&RECORDED.read(&[stream.as_bytes()]));
        assert_eq!(shown, format!("Malformed: {said}"), "{kind}");
    }
    let delta = json!({"type": "response.function_call_arguments.delta", "delta": "9".repeat(1 << 20)});
    let stream = format!("data: {delta}\n\n").repeat(9);
    let shown = show(&RECORDED.read(&[stream.as_bytes()]));
    assert_eq!(shown, "Malformed: the arguments of the answer's calls are too large");
}

#[test]
fn an_endless_answer_is_cut_off() {
    let mut reader = AnswerReader::new((RECORDED.assembly)());
    let mut out = PieceQueue::new();
    let noise = "data: {\"type\":\"response.output_item.added\",\"item\":7}\n\n: noise\n".repeat(16);
    let needed = ANSWER_BYTES_MAX / noise.len() + 1;
    for _ in 0..needed {
        reader.feed(noise.as_bytes(), &mut out);
    }
    assert!(reader.has_ended() && matches!(out.pop_front(), Some(Err(_))));
}
