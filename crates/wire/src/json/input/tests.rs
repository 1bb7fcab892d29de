//! What JSON becomes a message, and which fault names which place.

use prost::{Message, Name};

use super::*;
use crate::json::{JSON_BYTES_MAX, JSON_DEPTH_MAX};
use crate::v1;

fn read<M: Message + Name + Default>(text: &str) -> Result<M, String> {
    let bytes = from_json(&M::full_name(), text).map_err(|error| error.to_string())?;
    Ok(M::decode(bytes.as_slice()).unwrap())
}

fn fault<M: Message + Name + Default + std::fmt::Debug>(text: &str) -> String {
    read::<M>(text).unwrap_err()
}

#[test]
fn members_have_the_names_of_the_schemas_or_those_of_proto_json() {
    let message: v1::SendInputRequest =
        read(r#"{"run_id": "R", "input": {"text": "hi", "delivery": "steer"}, "thisRunOnly": true}"#)
            .unwrap();
    assert_eq!((message.run_id.as_str(), message.this_run_only), ("R", true));
    assert_eq!(message.input.unwrap().delivery(), v1::InputDelivery::Steer);
    assert_eq!(read::<v1::GetRunRequest>("{}").unwrap(), v1::GetRunRequest::default());
    assert_eq!(read::<v1::GetRunRequest>(r#"{"run_id": null}"#).unwrap(), v1::GetRunRequest::default());
}

#[test]
fn an_enumeration_takes_short_name_full_name_and_number() {
    for value in [r#""deny""#, r#""APPROVAL_DECISION_DENY""#, "2"] {
        let message: v1::ResolveApprovalRequest = read(&format!(r#"{{"decision": {value}}}"#)).unwrap();
        assert_eq!(message.decision(), v1::ApprovalDecision::Deny, "{value}");
    }
    let expected = "`decision`: not a value of `ApprovalDecision`, which has approve, deny";
    for value in [r#""Deny""#, r#""maybe""#, "7"] {
        assert_eq!(fault::<v1::ResolveApprovalRequest>(&format!(r#"{{"decision": {value}}}"#)), expected);
    }
}

#[test]
fn numbers_times_and_bytes_are_read_in_their_forms() {
    let message: v1::ReadSessionTapeRequest =
        read(r#"{"after_seq": "9007199254740993", "limit": 5}"#).unwrap();
    assert_eq!((message.after_seq, message.limit), (Some(9_007_199_254_740_993), 5));
    let message: v1::DiffPolicyRequest = read(r#"{"since": "2026-01-31T12:00:00Z"}"#).unwrap();
    assert_eq!(message.since.unwrap().seconds, 1_769_860_800);
    let attachment: v1::Attachment = read(r#"{"content": "aGk="}"#).unwrap();
    assert_eq!(attachment.content, b"hi");
    assert_eq!(read::<v1::Attachment>(r#"{"content": "aGk"}"#).unwrap().content, b"hi");
}

#[test]
fn each_fault_names_its_place() {
    let cases: &[(&str, &str)] = &[
        (r#"{"inptu": {}}"#, "`inptu`: `SendInputRequest` has no such member"),
        (r#"{"run-id": ""}"#, "`run-id`: `SendInputRequest` has no such member; did you mean `run_id`?"),
        (r#"{"run_id": 7}"#, "`run_id`: must be a string, not this number"),
        (r#"{"input": []}"#, "`input`: must be an object, not a list"),
        (
            r#"{"input": {"attachments": [{}, {"bytes": -1}]}}"#,
            "`input.attachments[1].bytes`: must be a 64-bit number from 0, and the number is outside of that range",
        ),
        (
            r#"{"input": {"attachments": [{"content": "a"}]}}"#,
            "`input.attachments[0].content`: must be a base64 string, not this string",
        ),
        (r#"{"input": {"attachments": {}}}"#, "`input.attachments`: must be a list, not an object"),
        (
            r#"{"input": {"text": "", "text": ""}}"#,
            "`input.text`: this member occurs twice; keep one of them",
        ),
        (
            r#"{"run_id": "", "runId": "x", "run_id": ""}"#,
            "`run_id`: this member occurs twice; keep one of them",
        ),
        ("[]", "the JSON text: must be an object, not a list"),
        ("{} {}", "the JSON text: not valid JSON, trailing characters at line 1 column 4"),
    ];
    for (text, expected) in cases {
        assert_eq!(fault::<v1::SendInputRequest>(text), *expected, "{text}");
    }
    let two = fault::<v1::EraseContentRequest>(r#"{"run_id": "a", "session_id": "b"}"#);
    assert_eq!(two, "`session_id`: cannot be combined with `run_id`; give one of them");
    let spelled_twice = fault::<v1::GetRunRequest>(r#"{"run_id": "a", "runId": "b"}"#);
    assert_eq!(spelled_twice, "`runId`: this member occurs twice; keep one of them");
    let fraction = fault::<v1::ReadTapeRequest>(r#"{"limit": 1.5}"#);
    assert_eq!(fraction, "`limit`: must be a whole number, not this number");
}

/// The control is a text one level, or one byte, below the limit.
#[test]
fn depth_and_size_have_limits() {
    let nested = |levels: usize| format!(r#"{{"x": {}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    assert!(fault::<v1::GetRunRequest>(&nested(JSON_DEPTH_MAX - 2)).contains("has no such member"));
    assert!(fault::<v1::GetRunRequest>(&nested(JSON_DEPTH_MAX + 1)).contains("nested more than 32 levels"));
    assert!(fault::<v1::GetRunRequest>(&nested(100_000)).contains("nested more than 32 levels"));
    let sized = |bytes: usize| format!(r#"{{"run_id": "{}"}}"#, "a".repeat(bytes - 14));
    assert_eq!(sized(JSON_BYTES_MAX).len(), JSON_BYTES_MAX);
    assert!(read::<v1::GetRunRequest>(&sized(JSON_BYTES_MAX)).is_ok());
    assert!(fault::<v1::GetRunRequest>(&sized(JSON_BYTES_MAX + 1)).contains("at most 4194304 are allowed"));
}

#[test]
fn what_is_shown_can_be_given_back() {
    let message = v1::GetRunResponse {
        run: Some(v1::Run { run_id: "R".into(), state: v1::RunState::Done.into(), ..Default::default() }),
    };
    for shown in [crate::json::to_json(&message), crate::json::to_json_with_defaults(&message)] {
        assert_eq!(read::<v1::GetRunResponse>(&shown.to_string()).unwrap(), message);
    }
}
