//! Transcripts in the shapes that servers send, read whole, cut at every byte, torn, and mixed with noise.

use palyra_types::model::{FinishReason, ModelFailureClass, UsageSource};
use proptest::prelude::*;

use super::*;

const TRANSCRIPTS: &[(&str, &str)] = &[
    ("openai_text", include_str!("transcripts/openai_text.sse")),
    ("openai_parallel_calls", include_str!("transcripts/openai_parallel_calls.sse")),
    ("one_index_for_all_calls", include_str!("transcripts/one_index_for_all_calls.sse")),
    ("no_ids_and_no_done", include_str!("transcripts/no_ids_and_no_done.sse")),
    ("error_in_the_stream", include_str!("transcripts/error_in_the_stream.sse")),
    ("length_in_one_chunk", include_str!("transcripts/length_in_one_chunk.sse")),
    ("not_streamed", include_str!("transcripts/not_streamed.json")),
];

fn transcript(name: &str) -> &'static str {
    TRANSCRIPTS.iter().find(|(known, _)| *known == name).expect("a transcript").1
}

fn read(chunks: &[&[u8]]) -> Vec<Result<ModelPiece, ModelFailure>> {
    let mut reader = AnswerReader::new();
    let mut out = Pieces::new();
    for chunk in chunks {
        reader.feed(chunk, &mut out);
    }
    reader.end(&mut out);
    assert!(reader.has_ended());
    out.into()
}

/// Shows the pieces of an answer, one a line.
fn show(pieces: &[Result<ModelPiece, ModelFailure>]) -> String {
    let line = |piece: &Result<ModelPiece, ModelFailure>| match piece {
        Ok(ModelPiece::Reasoning(text)) => format!("reasoning {:?}", text.expose()),
        Ok(ModelPiece::Text(text)) => format!("text {:?}", text.expose()),
        Ok(ModelPiece::Answer(answer)) => {
            let usage = answer.usage.map_or("no usage".to_owned(), |usage| {
                assert_eq!(usage.source, UsageSource::Reported);
                let counts = [
                    usage.input_tokens,
                    usage.cached_input_tokens,
                    usage.output_tokens,
                    usage.reasoning_tokens,
                ];
                format!("{counts:?}")
            });
            let calls = answer.proposals.iter().map(|call| {
                format!("\n  {} {} {}", call.model_call_id.expose(), call.tool, call.arguments.expose())
            });
            let calls: String = calls.collect();
            format!(
                "{:?} by {} {:?} {usage}{calls}",
                answer.finish,
                answer.answered_by,
                answer.response_id.expose()
            )
        }
        Err(failure) => format!("{:?}: {}", failure.class, failure.detail.expose()),
    };
    pieces.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn check(name: &str, expect: &str) {
    assert_eq!(show(&read(&[transcript(name).as_bytes()])), expect, "{name}");
}

#[test]
fn text_streams_with_usage() {
    check(
        "openai_text",
        r#"text "Grün"
text " 😀 is\n\ndata: green"
Stop by gpt-4o-mini-2024-07-18 "chatcmpl-A1" [19, 8, 10, 2]"#,
    );
}

#[test]
fn fragments_of_parallel_calls_find_their_call() {
    check(
        "openai_parallel_calls",
        r#"ToolCalls by gpt-4o "chatcmpl-B2" [80, 0, 40, 0]
  call_1 read_file {"path":"a.md"}
  call_2 list_dir {}"#,
    );
}

#[test]
fn calls_under_one_index_are_told_apart_and_stop_beside_calls_means_calls() {
    check(
        "one_index_for_all_calls",
        r#"ToolCalls by qwen3 "chatcmpl-7" no usage
  call_a read_file {"path":"a.md"}
  call_b read_file {"path":"b.md"}"#,
    );
}

#[test]
fn missing_ids_indexes_and_the_final_mark_are_no_matter() {
    check(
        "no_ids_and_no_done",
        r#"text "Let me look."
ToolCalls by local "" no usage
  call-1 search {"pattern":"x"}
  call-2 list_dir {}"#,
    );
}

#[test]
fn an_error_in_the_stream_is_a_failure() {
    check("error_in_the_stream", "text \"Half an ans\"\nTransient: Provider disconnected");
}

#[test]
fn a_whole_message_in_one_chunk_or_document_is_read() {
    check("length_in_one_chunk", "text \"All at once\"\nLength by m \"c\" [3, 0, 2, 0]");
    check(
        "not_streamed",
        r#"text "Whole."
ToolCalls by m "cmpl-9" [5, 0, 6, 0]
  c1 glob {"pattern":"*.md"}"#,
    );
}

#[test]
fn every_cut_gives_the_same_pieces() {
    for (name, transcript) in TRANSCRIPTS {
        let bytes = transcript.as_bytes();
        let whole = read(&[bytes]);
        for cut in 0..=bytes.len() {
            assert_eq!(read(&[&bytes[..cut], &bytes[cut..]]), whole, "{name} cut at {cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single), whole, "{name}");
    }
}

#[test]
fn a_torn_answer_is_a_prefix_and_a_failure_or_was_complete() {
    for (name, transcript) in TRANSCRIPTS {
        let bytes = transcript.as_bytes();
        let whole = read(&[bytes]);
        let (end, texts) = whole.split_last().expect("an end");
        for cut in 0..bytes.len() {
            let torn = read(&[&bytes[..cut]]);
            let (torn_end, torn_texts) = torn.split_last().expect("an end");
            assert!(texts.starts_with(torn_texts), "{name} torn at {cut}");
            match (torn_end, end) {
                (Err(_), _) => {}
                (Ok(ModelPiece::Answer(torn)), Ok(ModelPiece::Answer(answer))) => {
                    assert_eq!(torn_texts, texts, "{name} torn at {cut}");
                    assert_eq!((&torn.proposals, torn.finish), (&answer.proposals, answer.finish));
                }
                _ => panic!("{name} torn at {cut}: {}", show(&torn)),
            }
        }
    }
}

#[test]
fn bad_answers_fail() {
    let check = |input: &str, class: ModelFailureClass, detail: &str| {
        let pieces = read(&[input.as_bytes()]);
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
    let twice = transcript("openai_text").replace("data: [DONE]\n\n", "").repeat(2);
    check(&twice, Malformed, "the answer went on after its end");
}

#[test]
fn nothing_follows_the_end() {
    let twice = transcript("openai_text").repeat(2);
    assert_eq!(read(&[twice.as_bytes()]), read(&[transcript("openai_text").as_bytes()]));
    let event = format!("data: {}\n\n", "x".repeat(EVENT_BYTES_MAX));
    let pieces = read(&[event.as_bytes()]);
    assert!(matches!(&pieces[..], [Err(failure)] if failure.class == ModelFailureClass::Malformed));
    let answer =
        read(&[b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"weird\"}]}\n\n"]);
    assert!(matches!(&answer[1], Ok(ModelPiece::Answer(answer)) if answer.finish == FinishReason::Other));
}

#[test]
fn an_endless_answer_is_cut_off() {
    let mut reader = AnswerReader::new();
    let mut out = Pieces::new();
    let noise = ": noise\n".repeat(8_192);
    let needed = ANSWER_BYTES_MAX / noise.len() + 1;
    (0..needed).for_each(|_| reader.feed(noise.as_bytes(), &mut out));
    assert!(reader.has_ended() && matches!(out.pop_front(), Some(Err(_))));
}

proptest! {
    #[test]
    fn any_split_gives_the_same_pieces(
        which in 0..TRANSCRIPTS.len(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let bytes = TRANSCRIPTS[which].1.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(read(&chunks), read(&[bytes]));
    }

    #[test]
    fn damaged_bytes_never_panic_and_always_end(
        which in 0..TRANSCRIPTS.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = TRANSCRIPTS[which].1.as_bytes().to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let pieces = read(&[&bytes]);
        let ends = pieces.iter().filter(|piece| !matches!(piece, Ok(ModelPiece::Text(_)))).count();
        prop_assert_eq!(ends, 1);
        prop_assert!(!matches!(pieces.last(), Some(Ok(ModelPiece::Text(_)))));
    }
}
