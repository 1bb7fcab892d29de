//! Addresses of this machine in every spelling: the canary must not be touched, and is by a careless client.

use palyra_ports::{FetchFailure, FetchReach, FetchRequest, HostRule, HostScope};
use palyra_testkit::LOOPBACK_SPELLINGS;

use super::bench::{careless, fetch};
use super::canary::Canary;
use super::scripted_resolver::ScriptedResolver;

/// Spellings that hide it in another address, a user, or beside an open one.
const MORE_SPELLINGS: &[&str] =
    &["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "user@127.0.0.1", "good.example:x@127.0.0.1", "mixed.example"];

#[tokio::test]
async fn no_spelling_of_this_machine_is_reached() {
    let resolver = ScriptedResolver::answering("pointing.example", &[&["127.0.0.1"]]);
    resolver.learn("mixed.example", &[&["127.0.0.1", "8.8.8.8"]]);
    // At 0.0.0.0, so that every address of this machine leads to it.
    let canary = Canary::start_at("0.0.0.0").await;
    for (index, spelling) in LOOPBACK_SPELLINGS.iter().chain(MORE_SPELLINGS).enumerate() {
        let url = match spelling.split_once('@') {
            Some(_) => format!("http://{spelling}:{}/", canary.port()),
            None => format!("http://{spelling}:{}/", canary.port()),
        };
        let error = fetch(&resolver, &[], FetchRequest::get(url.as_str())).await.unwrap_err();
        assert!(
            matches!(error.failure, FetchFailure::Url { .. } | FetchFailure::Address { .. }),
            "{spelling}: {error}"
        );
        assert_eq!((error.reached, canary.touches()), (FetchReach::Nobody, index), "{spelling}");
        // The control.
        careless(&resolver, &url, "").await.unwrap_or_else(|error| panic!("{spelling}: {error}"));
        canary.touched(index + 1).await;
    }
}

#[tokio::test]
async fn a_host_outside_of_the_grant_is_not_even_resolved() {
    let canary = Canary::start().await;
    let resolver = ScriptedResolver::answering("other.example", &[&["127.0.0.1"]]);
    let lifted = [format!("other.example:{}", canary.port())];
    let url = format!("http://other.example:{}/", canary.port());
    let mut request = FetchRequest::get(url);
    request.hosts = HostScope::Only(vec![HostRule::exact("granted.example").at(canary.port())]);
    let error = fetch(&resolver, &lifted, request.clone()).await.unwrap_err();
    assert!(matches!(error.failure, FetchFailure::HostNotGranted { .. }), "{error}");
    assert_eq!((resolver.questions().len(), canary.touches()), (0, 0));

    request.hosts = HostScope::Only(vec![HostRule::exact("other.example").at(canary.port())]);
    let answer = fetch(&resolver, &lifted, request).await.unwrap();
    assert_eq!(answer.body.expose(), b"canary");
    canary.touched(1).await;
}

#[tokio::test]
async fn line_breaks_in_headers_and_paths_make_no_second_request() {
    let canary = Canary::start().await;
    let resolver = ScriptedResolver::answering("open.example", &[&["127.0.0.1"]]);
    let lifted = [format!("open.example:{}", canary.port())];
    let url = format!("http://open.example:{}/", canary.port());
    for (name, value) in [
        ("x", "a\r\nX-Smuggled: canary"),
        ("x", "a\nX-Smuggled: canary"),
        ("x\r\nX-Smuggled", "canary"),
        ("transfer-encoding", "chunked"),
        ("host", "smuggled.example"),
    ] {
        let mut request = FetchRequest::get(url.as_str());
        request.headers = vec![(name.to_owned(), value.into())];
        let error = fetch(&resolver, &lifted, request).await.unwrap_err();
        assert!(matches!(error.failure, FetchFailure::Request { .. }), "{error}");
    }
    for path in ["a\r\nX-Smuggled: canary", "a\tb", "a b"] {
        let error = fetch(&resolver, &lifted, FetchRequest::get(format!("{url}{path}"))).await.unwrap_err();
        assert!(matches!(error.failure, FetchFailure::Url { .. }), "{error}");
    }
    assert_eq!(canary.touches(), 0);
    careless(&resolver, &url, "x: a\r\nX-Smuggled: canary\r\n").await.unwrap();
    assert!(canary.seen_requests().contains("\r\nX-Smuggled: canary\r\n"));
}
