//! Line breaks and headers that steer a connection (44).

use palyra_ports::FetchRequest;

use super::careless;
use super::listeners::ServerStep;
use super::world::{FetchWorld, PUBLIC_PORT, world};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// A header's name and value, or a path, and what must not be heard of it.
const ALL: &[(&str, &str, &str, &str, &str)] = &[
    ("CR LF in a value", "x", "a\r\nX-Canary: sung", "", "\r\nX-Canary: sung"),
    ("LF in a value", "x", "a\nX-Canary: sung", "", "\nX-Canary: sung"),
    ("CR in a value", "x", "a\rX-Canary: sung", "", "\rX-Canary: sung"),
    ("NUL in a value", "x", "a\0sung", "", "a\0sung"),
    ("CR LF in a name", "x\r\nX-Canary", "sung", "", "\r\nX-Canary: sung"),
    ("a blank in a name", "X-Canary ", "sung", "", "X-Canary : sung"),
    ("a folded line", "x", "a\r\n sung", "", "a\r\n sung"),
    ("a whole request behind", "x", "a\r\n\r\nGET /canary HTTP/1.1\r\nHost: b", "", "\r\n\r\nGET /canary"),
    ("another Host", "Host", "canary.example", "", "host: canary.example"),
    ("a length of its own", "Content-Length", "5", "", "content-length: 5"),
    ("a coding of its own", "Transfer-Encoding", "chunked", "", "transfer-encoding: chunked"),
    ("a connection of its own", "Connection", "canary", "", "connection: canary"),
    ("an upgrade", "Upgrade", "canary", "", "upgrade: canary"),
    ("a trailer", "TE", "canary", "", "te: canary"),
    ("an answer to a proxy", "Proxy-Authorization", "canary", "", "proxy-authorization: canary"),
    ("an expectation", "Expect", "100-continue", "", "expect: 100-continue"),
    ("CR LF in a path", "x", "y", "%0D%0AX-Canary: sung", "\r\nX-Canary: sung"),
    ("a raw CR LF in a path", "x", "y", "a\r\nX-Canary: sung", "X-Canary: sung"),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trials = ALL.iter().map(|&(variant, name, value, path, canary)| {
        let pair = CasePair::new(44, variant, "the headers of the fetcher");
        let attack = HeaderAttack { name, value, path, canary };
        AttackTrial::new(vec![pair], move |place, pairs| carry_out(attack, place, pairs)).alone()
    });
    trials.collect()
}

/// A request that steers a connection, and what must not be heard of it.
#[derive(Clone, Copy)]
struct HeaderAttack {
    name: &'static str,
    value: &'static str,
    path: &'static str,
    canary: &'static str,
}

async fn carry_out(attack: HeaderAttack, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let HeaderAttack { name, value, path, canary } = attack;
    run_attempts(pairs, place.half, |_| async move {
        let world = world().await?;
        let url = format!("http://public.example:{PUBLIC_PORT}/{path}");
        anew(world);
        let mut request = FetchRequest::get(url.as_str());
        request.headers = vec![(name.to_owned(), value.to_owned().into())];
        let _ = world.fetch(request).await;
        let touched = received(world, canary);
        anew(world);
        // A raw break in a path falls away where a careless client reads it, so that it is written as it should be.
        let url = url.replace("\r\n", "%0D%0A");
        careless::fetch(&url, &format!("{name}: {value}\r\n"), 1).await?;
        Ok(Some((touched, received(world, canary))))
    })
    .await
}

fn anew(world: &FetchWorld) {
    world.public.answers(vec![ServerStep::from(
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
    )]);
}

/// Escapes are not what is looked for: what is on the wire, is.
fn received(world: &FetchWorld, canary: &str) -> Vec<String> {
    let heard = world.public.received().to_lowercase().replace("%20", " ");
    if heard.contains(&canary.to_lowercase()) { vec!["the server heard it".to_owned()] } else { Vec::new() }
}
