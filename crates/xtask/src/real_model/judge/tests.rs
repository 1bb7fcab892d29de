//! Each judgement, on tapes of a few lines.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::real_model::tape::{Tape, TapeLine};

/// Numbers the entries and lets them arrive 10 ms apart.
fn tape(start: Instant, entries: &[Value]) -> Tape {
    let lines = (1_u32..).zip(entries).map(|(number, entry)| {
        let mut entry = entry.clone();
        entry["tape_seq"] = json!(number);
        TapeLine { at: start + Duration::from_millis(10) * number, entry }
    });
    Tape(lines.collect())
}

fn text(text: &str) -> Value {
    json!({"model_text": {"attempt": 1, "text": text}})
}

fn message(usage: &Value) -> Value {
    json!({"model_message": {"attempt": 1, "usage": usage}})
}

fn finished(state: &str) -> Value {
    json!({"run_finished": {"state": format!("RUN_STATE_{state}"), "reason": "r", "error_code": "PLY-3010"}})
}

#[test]
fn a_stream_has_two_pieces_and_begins_before_its_last_byte() {
    let start = Instant::now();
    let whole = tape(start, &[text("a"), text("b"), message(&json!({})), finished("DONE")]);
    let at = |millis| start + Duration::from_millis(millis);
    let seen = streamed(&whole, start, at(25)).expect("it streams");
    assert_eq!(
        seen,
        "2 pieces, 2 characters; the first after 10 ms, 15 ms before the last byte of the server"
    );
    assert!(streamed(&whole, start, at(10)).is_err(), "not before the last byte");
    let at_once = tape(start, &[text("ab"), message(&json!({})), text("c"), finished("DONE")]);
    assert!(streamed(&at_once, start, at(25)).is_err(), "one piece before the message");
}

#[test]
fn usage_is_the_servers_own() {
    let start = Instant::now();
    let events = [
        json!({"choices": [], "usage": null}),
        json!({"usage": {"prompt_tokens": 9, "completion_tokens": 4,
                         "prompt_tokens_details": {"cached_tokens": 5}}}),
        json!({"choices": []}),
    ];
    let check = |kept: Value| usage(&tape(start, &[message(&kept)]), &events);
    assert!(check(json!({"input_tokens": 9, "cached_input_tokens": 5, "output_tokens": 4})).is_ok());
    assert!(check(json!({"input_tokens": 9, "output_tokens": 4})).is_err());
    let estimate =
        json!({"input_tokens": 9, "cached_input_tokens": 5, "output_tokens": 4, "estimated": true});
    assert!(check(estimate).is_err());
    assert!(usage(&tape(start, &[message(&json!({}))]), &[]).is_err());
}

#[test]
fn a_cancelled_run_ends_as_such_after_some_text() {
    let start = Instant::now();
    let abandoned = json!({"model_attempt_abandoned": {"attempt": 1, "cause": "cancelled"}});
    let good = tape(start, &[text("a"), abandoned, finished("CANCELLED")]);
    assert!(cancelled(&good, 130).is_ok());
    assert!(cancelled(&good, 0).is_err());
    assert!(cancelled(&tape(start, &[finished("CANCELLED")]), 130).is_err());
    assert!(cancelled(&tape(start, &[text("a"), finished("DONE")]), 130).is_err());
    assert!(cancelled(&tape(start, &[text("a")]), 130).is_err());
}

#[test]
fn a_lost_server_is_a_typed_failure_that_keeps_what_was_shown() {
    let start = Instant::now();
    let before = tape(start, &[text("a")]);
    let after = tape(start, &[text("a"), text("b"), finished("FAILED")]);
    assert!(server_lost(&before, &after, 1).is_ok());
    assert!(server_lost(&before, &after, 0).is_err());
    assert!(server_lost(&before, &tape(start, &[text("b"), finished("FAILED")]), 1).is_err());
    assert!(server_lost(&before, &tape(start, &[text("a"), finished("DONE")]), 1).is_err());
    let untyped = json!({"run_finished": {"state": "RUN_STATE_FAILED"}});
    assert!(server_lost(&before, &tape(start, &[text("a"), untyped]), 1).is_err());
}

#[test]
fn an_input_that_is_too_long_is_told_as_that() {
    let start = Instant::now();
    let end = |reason: &str, code: &str| json!({"run_finished": {"state": "RUN_STATE_FAILED", "reason": reason, "error_code": code}});
    let asked = json!({"model_requested": {"messages_kept": 1}});
    let refused = |reason: &str, code: &str| too_long(&tape(start, &[asked.clone(), end(reason, code)]));
    assert!(refused("context_exhausted", "PLY-3007").is_ok());
    assert!(refused("context_exhausted", "PLY-5005").is_err(), "sent all the same");
    assert!(refused("provider_error", "PLY-3007").is_err());
    assert!(too_long(&tape(start, &[end("context_exhausted", "PLY-5005")])).is_ok(), "not sent");
    assert!(too_long(&tape(start, &[finished("DONE")])).is_err());
}

#[test]
fn a_session_that_was_shortened_is_answered_all_the_same() {
    let start = Instant::now();
    let asked = |kept: u32| json!({"model_requested": {"messages_kept": kept}});
    let refused =
        json!({"model_attempt_abandoned": {"cause": "context_exceeded", "next": "shorter_context"}});
    let fits = tape(start, &[asked(1), finished("DONE")]);
    let cut = tape(start, &[asked(5), refused.clone(), asked(3), finished("DONE")]);
    let seen = shortened(&[fits.clone(), cut.clone()]).expect("answered");
    let both =
        "2 runs answered; the last one after 1 refusals, with [5, 3] messages sent and [0, 0] left out";
    assert_eq!(seen, both);
    let left_out = json!({"model_requested": {"messages_kept": 3, "messages_dropped": 2}});
    let known = tape(start, &[left_out, finished("DONE")]);
    let seen = shortened(&[fits.clone(), known]).expect("answered");
    assert!(seen.ends_with("after 0 refusals, with [3] messages sent and [2] left out"), "{seen}");
    assert!(shortened(&[cut, fits]).is_err(), "the last one fitted");
    assert!(shortened(&[tape(start, &[asked(5), refused, finished("FAILED")])]).is_err());
    assert!(shortened(&[]).is_err());
}

#[test]
fn a_tool_call_was_proposed_and_performed() {
    let start = Instant::now();
    let proposed = json!({"tool_proposed": {"tool": "read_file", "arguments": "{}"}});
    let result = |code: &str| json!({"tool_finished": {"output": "text", "error_code": code}});
    let check = |entries: &[Value]| tool_call(&tape(start, entries), "read_file");
    assert!(check(&[proposed.clone(), result(""), finished("DONE")]).is_ok());
    assert!(check(&[proposed.clone(), result("PLY-4009"), finished("DONE")]).is_err());
    assert!(check(&[proposed, finished("DONE")]).is_err());
    assert!(check(&[finished("DONE")]).is_err());
}

#[test]
fn an_answer_fits_with_exactly_its_fields() {
    let fields = [("name", FieldKind::Text), ("count", FieldKind::Integer), ("good", FieldKind::Boolean)];
    assert!(fits(r#"{"name": "a", "count": 1, "good": false}"#, &fields).is_ok());
    for misfit in [
        r#"{"name": "a", "count": 1}"#,
        r#"{"name": "a", "count": 1, "good": false, "more": 1}"#,
        r#"{"name": "a", "count": 1.5, "good": false}"#,
        r#"["name"]"#,
        "a story",
    ] {
        assert!(fits(misfit, &fields).is_err(), "{misfit}");
    }
}

#[test]
fn a_run_behind_a_summary_reads_the_one_that_was_made_and_streams() {
    let start = Instant::now();
    let made = json!({"compaction": 9, "runs": 2, "author": "fallback", "refused": "wrong_form"});
    let reads = |compaction: u64| json!({"run_started": {"compaction": compaction}});
    let whole = tape(start, &[reads(9), text("a"), text("b"), finished("DONE")]);
    assert!(reads_summary(&made, &whole).expect("it reads it").contains("refused: wrong_form"));
    assert!(reads_summary(&made, &tape(start, &[reads(8), text("a"), text("b"), finished("DONE")])).is_err());
    assert!(reads_summary(&made, &tape(start, &[reads(9), text("ab"), finished("DONE")])).is_err());
    assert!(reads_summary(&json!({}), &whole).is_err(), "none was made");
}
