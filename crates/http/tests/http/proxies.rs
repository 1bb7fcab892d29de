//! Headers in which a proxy says who calls and from where: none counts, with named proxies and without.

use std::time::Duration;

use palyra_admin::access::TokenRequest;
use palyra_http::ListenerReach;
use palyra_types::Seq;
use palyra_types::access::{AccessScope, ScopeSet};
use palyra_types::surface::Surface;
use serde_json::{Value, json};

use crate::calls::start;
use crate::daemon::{DaemonOptions, TestDaemon};
use crate::talk::{Answer, Call};

/// In place of the token of another principal.
const TOKEN: &str = "TOKEN";

/// What proxies and gateways add, as a forger would fill it in: the owner, this machine, another request.
const CLAIMS: [(&str, &str); 59] = [
    ("forwarded", "for=127.0.0.1;by=127.0.0.1;host=localhost;proto=https"),
    ("via", "1.1 localhost"),
    ("x-forwarded-for", "127.0.0.1"),
    ("x-forwarded-for", "127.0.0.1, 10.0.0.7"),
    ("x-forwarded-host", "localhost"),
    ("x-forwarded-proto", "https"),
    ("x-forwarded-port", "443"),
    ("x-forwarded-prefix", "/api/v1"),
    ("x-forwarded-uri", "/healthz"),
    ("x-forwarded-method", "GET"),
    ("x-original-forwarded-for", "127.0.0.1"),
    ("x-original-url", "/healthz"),
    ("x-rewrite-url", "/healthz"),
    ("x-http-method-override", "GET"),
    ("x-real-ip", "127.0.0.1"),
    ("x-client-ip", "127.0.0.1"),
    ("x-cluster-client-ip", "127.0.0.1"),
    ("x-remote-addr", "127.0.0.1"),
    ("client-ip", "127.0.0.1"),
    ("true-client-ip", "127.0.0.1"),
    ("fastly-client-ip", "127.0.0.1"),
    ("cf-connecting-ip", "127.0.0.1"),
    ("cf-connecting-ipv6", "::1"),
    ("cf-access-authenticated-user-email", "user:local"),
    ("cf-access-jwt-assertion", TOKEN),
    ("cf-access-token", TOKEN),
    ("remote-user", "user:local"),
    ("remote-name", "user:local"),
    ("remote-groups", "owner"),
    ("x-remote-user", "user:local"),
    ("x-remote-group", "owner"),
    ("x-forwarded-user", "user:local"),
    ("x-forwarded-email", "user:local"),
    ("x-forwarded-preferred-username", "user:local"),
    ("x-forwarded-groups", "owner"),
    ("x-forwarded-access-token", TOKEN),
    ("x-forwarded-client-cert", "Subject=\"CN=user:local\""),
    ("x-auth-request-user", "user:local"),
    ("x-auth-request-access-token", TOKEN),
    ("x-authenticated-user", "user:local"),
    ("x-authentik-username", "user:local"),
    ("x-webauth-user", "user:local"),
    ("x-user", "user:local"),
    ("x-pomerium-jwt-assertion", TOKEN),
    ("x-vouch-user", "user:local"),
    ("x-goog-authenticated-user-email", "user:local"),
    ("x-goog-iap-jwt-assertion", TOKEN),
    ("x-ms-client-principal-name", "user:local"),
    ("x-amzn-oidc-identity", "user:local"),
    ("x-amzn-oidc-data", TOKEN),
    ("tailscale-user-login", "user:local"),
    ("x-ssl-client-verify", "SUCCESS"),
    ("x-ssl-client-s-dn", "CN=user:local"),
    ("x-original-authorization", "Bearer TOKEN"),
    ("x-api-key", TOKEN),
    ("api-key", TOKEN),
    ("x-auth-token", TOKEN),
    ("proxy-authorization", "Bearer TOKEN"),
    ("cookie", "palyra_session=TOKEN; token=TOKEN; authorization=Bearer%20TOKEN"),
];

/// A call with a claim in it; `theirs` is a token that works.
fn claiming<'a>(call: Call<'a>, (name, value): (&str, &str), theirs: &str) -> Call<'a> {
    call.with(name, &value.replace(TOKEN, theirs))
}

fn shown(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.body.as_str())
}

/// Calls with each claim in turn; the answers are those without it.
async fn check_claims(daemon: &TestDaemon) {
    let owner = daemon.token_of(every_scope()).await;
    let alice = daemon.token("user:alice").await;
    let run = start(daemon, &alice, "good day").await;
    let bob = daemon.token("user:bob").await;
    let bob_token = daemon.state.admin.access.known().tokens.last().unwrap().clone();
    let from = daemon.state.journal.entries(Seq(0), 1_000).await.unwrap().len();

    let path = format!("/api/v1/runs/{run}");
    let nobody = || Call::open("/api/v1/runs");
    let of_alice = || Call::get(&path, &bob);
    let of_the_owner = || Call::post("/api/v1/people", &bob, json!({ "name": "user:eve" }));
    let unclaimed =
        [nobody().send(daemon).await, of_alice().send(daemon).await, of_the_owner().send(daemon).await];
    assert_eq!(unclaimed.each_ref().map(|answer| answer.status), [401, 404, 403]);
    for claim in CLAIMS {
        for (call, unclaimed) in [nobody(), of_alice(), of_the_owner()].into_iter().zip(&unclaimed) {
            let answer = claiming(call, claim, &owner).send(daemon).await;
            assert_eq!(shown(&answer), shown(unclaimed), "{claim:?}");
        }
        // The place of a call is its socket: what is answered at the daemon's own stays there.
        let stop = claiming(Call::post("/api/v1/shutdown", &owner, "{}"), claim, &owner);
        stop.send(daemon).await.refused(403, "PLY-1202");
        let own = claiming(Call::get(&path, &alice), claim, &owner).send(daemon).await;
        assert_eq!(own.status, 200, "the control, {claim:?}: {own:?}");
    }
    assert!(!daemon.stop_requested.is_cancelled());

    let every = CLAIMS
        .into_iter()
        .fold(Call::post("/api/v1/runs", &bob, json!({ "input": "hello" })), |call, claim| {
            claiming(call, claim, &owner)
        });
    let begun = every.send(daemon).await;
    assert_eq!(begun.status, 200, "{begun:?}");
    let listed = Call::get("/api/v1/runs", &bob).send(daemon).await.json();
    let ids: Vec<&Value> = listed["runs"].as_array().unwrap().iter().map(|run| &run["run_id"]).collect();
    assert_eq!(ids, [&begun.json()["opened"]["run_id"]], "it is the token's");
    let entries = daemon.state.journal.entries(Seq(0), 1_000).await.unwrap();
    let actors: Vec<_> = entries[from..].iter().filter_map(|entry| entry.actor).collect();
    let by_bob: Vec<_> = actors.iter().filter(|actor| actor.credential == Some(bob_token.id)).collect();
    assert!(by_bob.len() > 1 && by_bob.iter().all(|actor| actor.principal == bob_token.principal));
    assert!(actors.iter().all(|actor| actor.surface == Surface::Http), "{actors:?}");
}

/// A token of the owner with every scope that a program may have.
fn every_scope() -> TokenRequest {
    let request = TokenRequest::program("user:local", "owner", Duration::from_secs(3_600));
    TokenRequest { scopes: Some(ScopeSet::ALL.without(AccessScope::Approve)), ..request }
}

#[tokio::test]
async fn what_a_proxy_says_of_the_caller_counts_for_nothing_where_everyone_connects() {
    check_claims(&TestDaemon::start().await).await;
}

#[tokio::test]
async fn what_a_named_proxy_says_of_the_caller_counts_for_nothing_either() {
    let reach = ListenerReach::Proxies(vec!["127.0.0.1".parse().unwrap(), "10.0.0.7".parse().unwrap()]);
    check_claims(&TestDaemon::start_with(DaemonOptions { reach: Some(reach), ..Default::default() }).await)
        .await;
}

#[tokio::test]
async fn a_forwarded_name_is_not_the_name_of_a_request() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    for name in ["x-forwarded-host", "x-host", "x-original-host"] {
        let call = Call::get("/api/v1/runs", &token).with("host", "evil.example").with(name, "localhost");
        call.send(&daemon).await.refused(421, "PLY-1211");
        let call = Call::get("/api/v1/runs", &token).with(name, "evil.example");
        assert_eq!(call.send(&daemon).await.status, 200, "the control");
    }
}
