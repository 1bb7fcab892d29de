//! What the recordings say, and answers that are none.

use palyra_types::model::{FinishReason, ModelFailureClass};

use super::*;
use crate::recorded::{Recordings, show};
use crate::wire_format::answer_reader::{ANSWER_BYTES_MAX, AnswerReader, EVENT_BYTES_MAX, PieceQueue};

macro_rules! recorded {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../tests/recorded/openai_chat/", $name)))
    };
}

const RECORDED: Recordings<ChatAssembly> = Recordings {
    assembly: ChatAssembly::default,
    streams: &[
        recorded!("openai_text.sse"),
        recorded!("openai_parallel_calls.sse"),
        recorded!("one_index_for_all_calls.sse"),
        recorded!("no_ids_and_no_done.sse"),
        recorded!("error_in_the_stream.sse"),
        recorded!("length_in_one_chunk.sse"),
        recorded!("reasoning_then_text.sse"),
        recorded!("openrouter_reasoning.sse"),
        recorded!("content_filter.sse"),
        recorded!("refusal.sse"),
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
        "openai_text.sse",
        r#"text "Grün"
text " 😀 is\n\ndata: green"
Stop by gpt-4o-mini-2024-07-18 "chatcmpl-A1" [19, 8, 10, 2]"#,
    );
}

#[test]
fn fragments_of_parallel_calls_find_their_call() {
    RECORDED.check(
        "openai_parallel_calls.sse",
        r#"ToolCalls by gpt-4o "chatcmpl-B2" [80, 0, 40, 0]
  call_1 read_file {"path":"a.md"}
  call_2 list_dir {}"#,
    );
}

#[test]
fn calls_under_one_index_are_told_apart_and_stop_beside_calls_means_calls() {
    RECORDED.check(
        "one_index_for_all_calls.sse",
        r#"ToolCalls by qwen3 "chatcmpl-7" no usage
  call_a read_file {"path":"a.md"}
  call_b read_file {"path":"b.md"}"#,
    );
}

#[test]
fn missing_ids_indexes_and_the_final_mark_are_no_matter() {
    RECORDED.check(
        "no_ids_and_no_done.sse",
        r#"text "Let me look."
ToolCalls by local "" no usage
  call-1 search {"pattern":"x"}
  call-2 list_dir {}"#,
    );
}

#[test]
fn an_error_in_the_stream_is_a_failure() {
    RECORDED.check(
        "error_in_the_stream.sse",
        "reasoning \"Hmm\"\ntext \"Half an ans\"\nTransient: Provider disconnected",
    );
}

#[test]
fn a_whole_message_in_one_chunk_or_document_is_read() {
    RECORDED.check(
        "length_in_one_chunk.sse",
        "reasoning \"secret thoughts\"\ntext \"All at once\"\nLength by m \"c\" [3, 0, 2, 0]",
    );
    RECORDED.check(
        "not_streamed.json",
        r#"text "Whole."
ToolCalls by m "cmpl-9" [5, 0, 6, 0]
  c1 glob {"pattern":"*.md"}"#,
    );
}

#[test]
fn reasoning_is_kept_apart_by_whichever_name() {
    RECORDED.check(
        "reasoning_then_text.sse",
        r#"reasoning "Okay, 2+2"
reasoning " is 4."
text "4"
Stop by deepseek-reasoner "0d7c" [12, 4, 20, 17]"#,
    );
    RECORDED.check(
        "openrouter_reasoning.sse",
        r#"reasoning "Let me see."
text "Seen."
Stop by x/y "gen-9" [7, 0, 9, 5]"#,
    );
}

#[test]
fn a_filtered_answer_proposes_nothing_and_a_refusal_is_text() {
    RECORDED.check(
        "content_filter.sse",
        "text \"First, take\"\nContentFilter by gpt-4o \"chatcmpl-F6\" no usage",
    );
    RECORDED.check(
        "refusal.sse",
        "text \"I'm sorry, I\"\ntext \" can't help with that.\"\n\
         Stop by gpt-4o-2024-08-06 \"chatcmpl-R4\" no usage",
    );
}

#[test]
fn bad_answers_fail() {
    let check = |input: &str, class: ModelFailureClass, detail: &str| {
        let pieces = RECORDED.read(&[input.as_bytes()]);
        let Some(Err(failure)) = pieces.last() else { panic!("{input}: {}", show(&pieces)) };
        assert_eq!((failure.class, failure.detail.expose().as_str()), (class, detail), "{input}");
    };
    use ModelFailureClass::{Malformed, RateLimit};
    check("", Malformed, "the reply is neither an event stream nor JSON");
    check("<html>no</html>", Malformed, "the reply is neither an event stream nor JSON");
    check("data: [DONE]\n\n", Malformed, "the reply is neither an event stream nor JSON");
    check(
        "data: {\"choices\":[]}\n\ndata: [DONE]\n\n",
        Malformed,
        "the answer ended without a finish reason",
    );
    check("data: {\"choices\":\n\n", Malformed, "an event of the answer is not JSON");
    check("{\"choices\":[", Malformed, "the answer is not complete JSON");
    check(
        "{\"choices\":[{\"message\":{\"content\":\"a\"}}]}",
        Malformed,
        "the answer ended without a finish reason",
    );
    check("data: 7\n\ndata: []\n\ndata: null\n\n", Malformed, "the answer ended without a finish reason");
    check("event: error\ndata: {\"message\":\"m\",\"type\":\"rate_limit\"}\n\n", RateLimit, "m (rate_limit)");
    let nameless = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":"stop"}]}"#;
    check(nameless, Malformed, "a tool call has no name");
    let call = |index: usize| format!(r#"{{"index":{index},"function":{{"name":"t"}}}}"#);
    let many: Vec<String> = (0..200).map(call).collect();
    let many = format!(r#"data: {{"choices":[{{"delta":{{"tool_calls":[{}]}}}}]}}"#, many.join(","));
    check(&many, Malformed, "the answer holds too many tool calls");
    let twice = RECORDED.stream("openai_text.sse").replace("data: [DONE]\n\n", "").repeat(2);
    check(&twice, Malformed, "the answer went on after its end");
}

#[test]
fn nothing_follows_the_end() {
    let twice = RECORDED.stream("openai_text.sse").repeat(2);
    assert_eq!(
        RECORDED.read(&[twice.as_bytes()]),
        RECORDED.read(&[RECORDED.stream("openai_text.sse").as_bytes()])
    );
    let event = format!("data: {}\n\n", "x".repeat(EVENT_BYTES_MAX));
    let pieces = RECORDED.read(&[event.as_bytes()]);
    assert!(matches!(&pieces[..], [Err(failure)] if failure.class == ModelFailureClass::Malformed));
    let answer = RECORDED
        .read(&[b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"weird\"}]}\n\n"]);
    assert!(matches!(&answer[1], Ok(ModelPiece::Answer(answer)) if answer.finish == FinishReason::Other));
}

#[test]
fn an_endless_answer_is_cut_off() {
    let mut reader = AnswerReader::new(ChatAssembly::default());
    let mut out = PieceQueue::new();
    let noise = ": noise\n".repeat(8_192);
    let needed = ANSWER_BYTES_MAX / noise.len() + 1;
    (0..needed).for_each(|_| reader.feed(noise.as_bytes(), &mut out));
    assert!(reader.has_ended() && matches!(out.pop_front(), Some(Err(_))));
}

/// What an event comes to, read as a tree and by the short way where that takes it.
fn both_ways(event: &str) -> [Option<(Vec<ModelPiece>, String, String)>; 2] {
    let (mut tree, mut short) = (ChatAssembly::default(), ChatAssembly::default());
    let (mut pieces, mut quick) = (Vec::new(), PieceQueue::new());
    let value: Value = serde_json::from_str(event).unwrap();
    let taken = answer_reader::AnswerAssembly::take_event(&mut tree, "", &value, &mut pieces);
    let tree = taken.ok().map(|_| (pieces, tree.response_id, tree.answered_by));
    let taken = answer_reader::AnswerAssembly::take_usual(&mut short, "", event, &mut quick);
    let quick = quick.into_iter().map(|piece| piece.unwrap()).collect();
    [tree, (taken == EventTaken::Yes).then_some((quick, short.response_id, short.answered_by))]
}

#[test]
fn a_usual_event_says_the_same_without_a_tree() {
    let event = |choice: &str, rest: &str| {
        format!(
            r#"{{"id":"i","object":"chat.completion.chunk","created":1,"model":"m"{rest},"choices":[{choice}]}}"#
        )
    };
    let usual = [
        event(r#"{"index":0,"delta":{"content":"a\nb \u00fc"},"finish_reason":null}"#, ""),
        event(
            r#"{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}"#,
            r#","service_tier":"default","system_fingerprint":null,"usage":null"#,
        ),
    ];
    for event in usual {
        let [tree, short] = both_ways(&event);
        assert!(short.is_some() && short == tree, "{event}: {tree:?}, {short:?}");
    }
    let others = [
        event(r#"{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}"#, ""),
        event(r#"{"index":0,"delta":{"content":"a"}}"#, r#","usage":{"prompt_tokens":1}"#),
        event(r#"{"index":0,"delta":{"content":"a"}}"#, r#","error":{"message":"no"}"#),
        event(r#"{"index":1,"delta":{"content":"a"}}"#, ""),
        event(r#"{"index":0,"delta":{"content":"a","refusal":"b"}}"#, ""),
        event(r#"{"index":0,"delta":{"content":"a","reasoning":"b"}}"#, ""),
        event(r#"{"index":0,"delta":{"content":"a","tool_calls":[]}}"#, ""),
        event(r#"{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}"#, ""),
    ];
    for event in others {
        assert_eq!(both_ways(&event)[1], None, "{event}");
    }
}
