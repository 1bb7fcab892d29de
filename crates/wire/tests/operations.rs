//! What the methods declare: each has its audience, and every path is one that a router can serve.

use std::collections::{BTreeMap, BTreeSet};

use palyra_wire::FILE_DESCRIPTOR_SET;
use palyra_wire::operations::{OPERATIONS, OperationAudience, OperationKind, OperationScope, OperationSpec};

/// What changes what others may do stays with the owner; what cannot be taken back stays on the socket.
#[test]
fn every_method_has_a_scope_and_only_changes_need_more_than_it() {
    assert_eq!(OPERATIONS.len(), 137);
    for operation in OPERATIONS {
        if operation.audience != OperationAudience::Principals {
            assert_eq!(operation.scope, OperationScope::Admin, "{}", operation.path);
        }
        if operation.scope == OperationScope::RunsRead && operation.name != "RunStream" {
            assert!(
                operation.kind == OperationKind::Read || operation.name == "GetCheckpoint",
                "{}",
                operation.path
            );
        }
    }
    let on_the_socket = OPERATIONS.iter().filter(|one| one.audience == OperationAudience::OwnerSocket);
    let names: Vec<&str> = on_the_socket.map(|operation| operation.name).collect();
    let expected = [
        "CreateConfirmation",
        "CreateConsoleLink",
        "EndConsoleSessions",
        "Shutdown",
        "CreateBackup",
        "EraseContent",
        "ScrubJournal",
    ];
    assert_eq!(names, expected);
    let deciding = OPERATIONS.iter().filter(|operation| operation.scope == OperationScope::Approve);
    assert_eq!(
        deciding.map(|operation| operation.name).collect::<Vec<_>>(),
        ["ResolveApproval", "AcceptProjectRules"]
    );
}

#[test]
fn names_are_unique_and_an_operation_is_found_by_name_and_path() {
    let names: BTreeSet<String> = OPERATIONS.iter().map(|operation| operation.name.to_lowercase()).collect();
    assert_eq!(names.len(), OPERATIONS.len());
    let found = OperationSpec::by_name("getrun").unwrap();
    assert_eq!(OperationSpec::by_path("/palyra.v1.GatewayService/GetRun"), Some(found));
    assert_eq!((found.kind, found.http), (OperationKind::Read, "GET /api/v1/runs/{run_id}"));
    assert_eq!(OperationSpec::by_name("GetNothing"), None);
}

/// A router takes one name for a place below one prefix, and no two equal paths.
#[test]
fn a_place_in_a_path_has_one_name() {
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    for operation in OPERATIONS.iter().filter(|operation| !operation.http.is_empty()) {
        let (_, path) = operation.http.split_once(' ').unwrap();
        let mut prefix = String::new();
        for part in path.split('/') {
            let named = part.starts_with('{');
            if named {
                let known = *names.entry(prefix.clone()).or_insert(part);
                assert_eq!(known, part, "{}", operation.path);
            }
            prefix.push('/');
            prefix.push_str(if named { "{}" } else { part });
        }
        assert!(
            operation.kind == OperationKind::Read || operation.http.starts_with("POST"),
            "{}",
            operation.path
        );
    }
}

/// The set that reflection serves names every file it needs, and holds no comments.
#[test]
fn the_embedded_set_has_the_options_and_stays_small() {
    let contains = |text: &str| FILE_DESCRIPTOR_SET.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(contains("palyra/options/v1/operation.proto"));
    assert!(contains("google/protobuf/descriptor.proto"));
    assert!(contains("Show the daemon and its checks"), "the options of methods are in the set");
    assert!(!contains("the run's last entry with StreamEnd"), "comments are not");
    assert!(FILE_DESCRIPTOR_SET.len() < 160_000, "{}", FILE_DESCRIPTOR_SET.len());
}
