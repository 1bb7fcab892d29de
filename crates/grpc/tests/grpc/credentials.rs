//! Every call with every kind of wrong credential, and with a good one: the calls come from the schemas, and whom they are for
//! from the table that is edited by hand.

use std::time::Duration;

use palyra_admin::access::TokenRequest;
use palyra_testkit::Script;
use palyra_types::ErrorCode;
use palyra_wire::operations::OperationSpec;
use tonic::Code;
use tonic::transport::Channel;

use crate::daemon::TestDaemon;
use crate::raw::{Answer, assert_refused, call, methods};

/// The table of who may call what; the same that the operations' own test compares with the schemas.
const TABLE: &str = include_str!("../../../api/tests/authorization.txt");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    Anyone,
    Identified,
}

/// Calls of services that come from elsewhere.
const FOREIGN_CALLS: &[(&str, For)] = &[
    ("/grpc.health.v1.Health/Check", For::Anyone),
    ("/grpc.health.v1.Health/Watch", For::Anyone),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", For::Identified),
    ("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", For::Identified),
];

/// Returns the path of every operation with its cell in a column of the table.
fn cells(column: &str) -> Vec<(&'static str, &'static str)> {
    let mut rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    let index = rows.next().unwrap().split_whitespace().position(|name| name == column).unwrap();
    let cells = rows.map(|row| {
        let name = row.split_whitespace().next().unwrap();
        let path = OperationSpec::by_name(name).unwrap_or_else(|| panic!("no such operation: {name}")).path;
        (path, row.split_whitespace().nth(index).unwrap())
    });
    cells.collect()
}

fn all_paths() -> Vec<&'static str> {
    let ours = cells("socket").into_iter().map(|(path, _)| path);
    ours.chain(FOREIGN_CALLS.iter().map(|(path, _)| *path)).collect()
}

#[test]
fn every_call_that_reflection_lists_is_in_the_table() {
    let mut listed: Vec<&str> = cells("socket").into_iter().map(|(path, _)| path).collect();
    listed.sort_unstable();
    assert_eq!(methods(), listed, "say in authorization.txt whom each call is for");
}

#[tokio::test]
async fn no_call_is_answered_on_a_wrong_credential() {
    let daemon = TestDaemon::start().await;
    let channel = daemon.remote().await;
    let wrong = wrong_credentials(&daemon).await;
    let mut words = None;
    for path in all_paths() {
        let open = FOREIGN_CALLS.contains(&(path, For::Anyone));
        for (what, values) in &wrong {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let answer = call(&channel, path, Vec::new(), &values).await;
            if open {
                answer.unwrap_or_else(|status| panic!("{path} with {what}: {status}"));
                continue;
            }
            let status = answer.err().unwrap_or_else(|| panic!("{path} with {what} was answered"));
            assert_refused(&status, Code::Unauthenticated, ErrorCode::Unauthenticated);
            // No reason is told apart from another.
            let answer = Answer::from(status);
            assert_eq!(words.get_or_insert_with(|| answer.clone()), &answer, "{path} with {what}");
        }
    }
    assert_eq!(daemon.provider.counts().begun, 0);
    assert!(!daemon.stop_request.is_cancelled());
}

/// Names and values of `authorization` headers that must not work.
async fn wrong_credentials(daemon: &TestDaemon) -> Vec<(&'static str, Vec<String>)> {
    let access = &daemon.state.admin.access;
    let minute = |label| TokenRequest::program("user:alice", label, Duration::from_secs(60));
    let expired = access.create_token(daemon.owner(), minute("expired")).await.unwrap();
    daemon.pass(Duration::from_secs(61));
    let revoked = access.create_token(daemon.owner(), minute("revoked")).await.unwrap();
    access.revoke_token(daemon.owner(), revoked.0.id).await.unwrap();
    let request = TokenRequest::program("user:disabled", "disabled", Duration::from_secs(3_600));
    let disabled = access.create_token(daemon.owner(), request).await.unwrap();
    access.disable_person(daemon.owner(), disabled.0.principal).await.unwrap();
    let good = daemon.token("user:alice").await;
    let one = |value: String| vec![value];
    let mut almost = good.clone();
    let last = if almost.pop() == Some('0') { '1' } else { '0' };
    almost.push(last);
    vec![
        ("no credential", Vec::new()),
        ("a blank credential", one(String::new())),
        ("a scheme alone", one("Bearer".to_owned())),
        ("a blank token", one("Bearer ".to_owned())),
        ("a prefix alone", one("Bearer palyra_".to_owned())),
        ("no scheme", one(good.clone())),
        ("another scheme", one(format!("Basic {good}"))),
        ("a token with a letter more", one(format!("Bearer {good}0"))),
        ("a token with another last letter", one(format!("Bearer {almost}"))),
        ("a token in capitals", one(format!("Bearer {}", good.to_uppercase()))),
        ("a token without its prefix", one(format!("Bearer {}", &good["palyra_".len()..]))),
        ("a token twice", vec![format!("Bearer {good}"), format!("Bearer {good}")]),
        ("an expired token", one(format!("Bearer {}", expired.1.expose()))),
        ("a revoked token", one(format!("Bearer {}", revoked.1.expose()))),
        ("a token of a disabled person", one(format!("Bearer {}", disabled.1.expose()))),
    ]
}

#[tokio::test]
async fn a_token_opens_what_the_table_says_and_nothing_else() {
    let daemon = TestDaemon::start().await;
    daemon.provider.otherwise(Script::new().text("ok"));
    let channel = daemon.remote().await;
    let bearer = format!("Bearer {}", daemon.token("user:alice").await);
    for (path, cell) in cells("old-token") {
        let answer = call(&channel, path, Vec::new(), &[&bearer]).await;
        match cell {
            "yes" => assert_let_in(path, answer.err()),
            "scope" => {
                let status = answer.err().unwrap_or_else(|| panic!("{path} was answered"));
                assert_refused(&status, Code::PermissionDenied, ErrorCode::ScopeMissing);
            }
            other => panic!("{path}: {other}"),
        }
    }
    for (path, _) in FOREIGN_CALLS {
        assert_let_in(path, call(&channel, path, Vec::new(), &[&bearer]).await.err());
    }
    let unlisted = call(&channel, "/palyra.v1.NewService/New", Vec::new(), &[&bearer]).await.unwrap_err();
    assert_refused(&unlisted, Code::PermissionDenied, ErrorCode::PermissionDenied);
    assert!(!daemon.stop_request.is_cancelled());
}

#[tokio::test]
async fn the_owner_of_the_socket_needs_no_token_and_none_makes_a_difference() {
    let daemon = TestDaemon::start().await;
    let channel: Channel = daemon.local().await;
    let alice = format!("Bearer {}", daemon.token("user:alice").await);
    for authorization in [&[][..], &["Bearer nonsense"], &[alice.as_str()]] {
        for path in all_paths().into_iter().filter(|path| !path.ends_with("/Shutdown")) {
            assert_let_in(path, call(&channel, path, Vec::new(), authorization).await.err());
        }
    }
    call(&channel, "/palyra.v1.AdminService/Shutdown", Vec::new(), &[]).await.unwrap();
    assert!(daemon.stop_request.is_cancelled());
}

/// An empty message may be refused for what it says, never for who sent it.
#[track_caller]
fn assert_let_in(path: &str, refused: Option<tonic::Status>) {
    let code = refused.map_or(Code::Ok, |status| status.code());
    assert!(!matches!(code, Code::Unauthenticated | Code::PermissionDenied), "{path}: {code:?}");
}
