//! Names of operations, and bodies that are refused before a daemon is asked.

use super::*;
use crate::exit::Exit;

#[test]
fn a_name_is_found_whatever_its_case_and_an_unknown_one_is_a_typed_error() {
    assert_eq!(named("listruns").unwrap().name, "ListRuns");
    for (name, near) in [
        ("list-runs", "did you mean `ListRuns`?"),
        ("Secret", "did you mean `"),
        ("xyz", "`palyra api` lists"),
    ] {
        let failure = named(name).unwrap_err();
        let message = failure.lines().join("\n");
        assert!(message.contains("PLY-1004") && message.contains(near), "{message}");
        assert_eq!(failure.exit(), Exit::Usage);
    }
    assert!(named("RunStream").unwrap_err().lines()[0].contains("takes a stream of requests"));
}

#[test]
fn a_body_that_does_not_fit_names_its_place() {
    let operation = named("ResolveApproval").unwrap();
    let error = from_json(operation.input, r#"{"decision": "perhaps"}"#).unwrap_err();
    let failure = invalid_body(operation, &error);
    assert_eq!(failure.exit(), Exit::Usage);
    assert_eq!(
        failure.lines()[0],
        "error[PLY-1004]: the body of ResolveApproval is not valid: `decision`: not a value of `ApprovalDecision`, which has approve, deny"
    );
}

#[test]
fn every_operation_with_one_request_is_listed() {
    assert_eq!(callable().count(), OPERATIONS.len() - 1);
    assert!(callable().is_sorted_by_key(|operation| operation.name));
}
