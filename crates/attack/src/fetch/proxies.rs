//! Requests to the proxy that name two hosts, or none, or are no requests (42, 48).

use std::io;

use super::addresses::came;
use super::careless::{self, TrustedPart};
use super::listeners::ServerStep;
use super::world::{FetchWorld, world};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// What a program says to the proxy, whom a careless proxy would believe, and where that leads.
struct ProxyRequest {
    case: u8,
    variant: &'static str,
    said: &'static str,
    believes: TrustedPart,
    canary: ProxyCanary,
}

/// What must not be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProxyCanary {
    /// A canary of this machine.
    Here,
    /// A public server that was not granted.
    Other,
    /// What the granted server hears.
    Words(&'static str),
}

const fn here(variant: &'static str, said: &'static str, believes: TrustedPart) -> ProxyRequest {
    ProxyRequest { case: 42, variant, said, believes, canary: ProxyCanary::Here }
}

const fn other(variant: &'static str, said: &'static str, believes: TrustedPart) -> ProxyRequest {
    ProxyRequest { case: 42, variant, said, believes, canary: ProxyCanary::Other }
}

const fn words(variant: &'static str, said: &'static str, words: &'static str) -> ProxyRequest {
    ProxyRequest {
        case: 42,
        variant,
        said,
        believes: TrustedPart::StartLine,
        canary: ProxyCanary::Words(words),
    }
}

const ALL: &[ProxyRequest] = &[
    here(
        "CONNECT to one, Host of another",
        "CONNECT public.example:8001 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n",
        TrustedPart::LastHost,
    ),
    here(
        "CONNECT to another, Host of the granted",
        "CONNECT 127.0.0.1:8000 HTTP/1.1\r\nHost: public.example:8001\r\n\r\n",
        TrustedPart::StartLine,
    ),
    here(
        "GET of one, Host of another",
        "GET http://public.example:8001/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n",
        TrustedPart::LastHost,
    ),
    here(
        "GET of another, Host of the granted",
        "GET http://127.0.0.1:8000/ HTTP/1.1\r\nHost: public.example:8001\r\n\r\n",
        TrustedPart::StartLine,
    ),
    here(
        "two Hosts, the last of another",
        "GET http://public.example:8001/ HTTP/1.1\r\nHost: public.example:8001\r\nHost: 127.0.0.1:8000\r\n\r\n",
        TrustedPart::LastHost,
    ),
    here(
        "two Hosts, the first of another",
        "GET http://public.example:8001/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nHost: public.example:8001\r\n\r\n",
        TrustedPart::FirstHost,
    ),
    here(
        "no host in the start line",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n",
        TrustedPart::LastHost,
    ),
    here(
        "a user in front, CONNECT",
        "CONNECT public.example:8001@127.0.0.1:8000 HTTP/1.1\r\nHost: public.example:8001\r\n\r\n",
        TrustedPart::StartLine,
    ),
    here(
        "a user in front, GET",
        "GET http://public.example:8001@127.0.0.1:8000/ HTTP/1.1\r\nHost: public.example:8001\r\n\r\n",
        TrustedPart::StartLine,
    ),
    here("another version of HTTP", "GET http://127.0.0.1:8000/ HTTP/1.0\r\n\r\n", TrustedPart::StartLine),
    here(
        "another method",
        "POST http://127.0.0.1:8000/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Length: 0\r\n\r\n",
        TrustedPart::StartLine,
    ),
    here(
        "another scheme",
        "GET ws://127.0.0.1:8000/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nUpgrade: websocket\r\n\r\n",
        TrustedPart::StartLine,
    ),
    other(
        "another port of the granted host, CONNECT",
        "CONNECT public.example:8002 HTTP/1.1\r\nHost: public.example:8002\r\n\r\n",
        TrustedPart::StartLine,
    ),
    other(
        "another port of the granted host, GET",
        "GET http://public.example:8002/ HTTP/1.1\r\nHost: public.example:8002\r\n\r\n",
        TrustedPart::StartLine,
    ),
    other(
        "the granted host by its address",
        "GET http://9.9.9.9:8002/ HTTP/1.1\r\nHost: 9.9.9.9:8002\r\n\r\n",
        TrustedPart::StartLine,
    ),
    words(
        "a tunnel for something that is not TLS",
        "CONNECT public.example:8001 HTTP/1.1\r\nHost: public.example:8001\r\n\r\nSSH-2.0-canary\r\n\r\n",
        "SSH-2.0-canary",
    ),
    words(
        "a tunnel for HTTP to a host behind it",
        "CONNECT public.example:8001 HTTP/1.1\r\nHost: public.example:8001\r\n\r\nGET / HTTP/1.1\r\nHost: canary\r\n\r\n",
        "Host: canary",
    ),
    words(
        "a second request behind the first, for another",
        "GET http://public.example:8001/ HTTP/1.1\r\nHost: public.example:8001\r\n\r\nGET http://other.example/ HTTP/1.1\r\nHost: canary\r\n\r\n",
        "Host: canary",
    ),
    words(
        "what is between two proxies only",
        "GET http://public.example:8001/ HTTP/1.1\r\nHost: public.example:8001\r\nProxy-Authorization: Basic canary\r\n\r\n",
        "Basic canary",
    ),
    words(
        "a connection that is upgraded",
        "GET http://public.example:8001/ HTTP/1.1\r\nHost: public.example:8001\r\nConnection: Upgrade\r\nUpgrade: canary\r\n\r\n",
        "pgrade: canary",
    ),
    words(
        "two lengths",
        "POST http://public.example:8001/ HTTP/1.1\r\nHost: public.example:8001\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ncanary\r\n0\r\n\r\n",
        "Content-Length: 0\r\nTransfer-Encoding: chunked",
    ),
];

/// What SOCKS programs say: a name that is granted as a whole, and this machine up to its NUL.
const SOCKS: &[(&str, &[u8])] = &[
    (
        "version 5, a name with a NUL",
        b"\x05\x01\x00\x05\x01\x00\x03\x1d127.0.0.1\0.public.example\x1f\x40\r\n\r\n",
    ),
    (
        "version 4a, a name with a NUL",
        b"\x04\x01\x1f\x40\x00\x00\x00\x01\x00127.0.0.1\x00.public.example\0\r\n\r\n",
    ),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let said = ALL.iter().map(|said| {
        let pair = CasePair::new(said.case, said.variant, "the reading of the proxy");
        AttackTrial::new(vec![pair], move |place, pairs| carry_out(said, place, pairs)).alone()
    });
    let socks = SOCKS.iter().map(|&(variant, bytes)| {
        let pair = CasePair::new(48, variant, "the reading of the proxy");
        AttackTrial::new(vec![pair], move |place, pairs| by_socks(bytes, place, pairs)).alone()
    });
    let tls = CasePair::new(42, "a tunnel for TLS with another name", "the reading of the proxy");
    said.chain(socks).chain([AttackTrial::new(vec![tls], another_name).alone()]).collect()
}

const GRANTED: [(&str, u16); 1] = [("public.example", 8001)];

async fn carry_out(
    said: &'static ProxyRequest,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        let before = look(world, said.canary).await;
        world.proxied(said.said.as_bytes(), &GRANTED).await?;
        let touched = compare(said.canary, before, look(world, said.canary).await);
        let before = look(world, said.canary).await;
        careless::proxied(said.said.as_bytes(), said.believes).await?;
        Ok(Some((touched, compare(said.canary, before, look(world, said.canary).await))))
    })
    .await
}

/// Counts what would grow, and lets the public server hear anew.
async fn look(world: &FetchWorld, canary: ProxyCanary) -> usize {
    let here = world.touches().await;
    match canary {
        ProxyCanary::Here => here,
        ProxyCanary::Other => world.other.touches(),
        ProxyCanary::Words(words) => {
            let heard = world.public.received().to_lowercase().matches(&words.to_lowercase()).count();
            world.public.answers(vec![ServerStep::from(
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
            )]);
            heard
        }
    }
}

fn compare(canary: ProxyCanary, before: usize, after: usize) -> Vec<String> {
    match canary {
        ProxyCanary::Here | ProxyCanary::Other => came(before, after),
        // Heard anew since the last look.
        ProxyCanary::Words(words) if after > 0 => vec![format!("the server heard {words:?}")],
        ProxyCanary::Words(_) => Vec::new(),
    }
}

async fn by_socks(bytes: &'static [u8], place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        let before = world.touches().await;
        world.proxied(bytes, &[(".public.example", 8000), ("public.example", 8000)]).await?;
        let touched = came(before, world.touches().await);
        let before = world.touches().await;
        careless::socks(bytes).await?;
        Ok(Some((touched, came(before, world.touches().await))))
    })
    .await
}

/// A tunnel to the granted server in which another one's name is asked for, as fronting does it.
async fn another_name(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let asked_for_other = |world: &FetchWorld| {
        let asked = world.public.received().contains("canary.example");
        if asked { vec!["the server was asked for another name".to_owned()] } else { Vec::new() }
    };
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        let mut said = b"CONNECT public.example:8001 HTTP/1.1\r\nHost: public.example:8001\r\n\r\n".to_vec();
        said.extend(client_hello("canary.example"));
        look(world, ProxyCanary::Words("")).await;
        world.proxied(&said, &GRANTED).await?;
        let touched = asked_for_other(world);
        look(world, ProxyCanary::Words("")).await;
        careless::proxied(&said, TrustedPart::StartLine).await?;
        if asked_for_other(world).is_empty() {
            return Err(io::Error::other("the control carries no tunnel"));
        }
        Ok(Some((touched, asked_for_other(world))))
    })
    .await
}

/// Returns the first bytes of TLS 1.2 (RFC 5246, RFC 6066) that ask for a name.
fn client_hello(name: &str) -> Vec<u8> {
    let two = |length: usize| u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
    let entry = [&[0][..], &two(name.len()), name.as_bytes()].concat();
    let list = [&two(entry.len())[..], &entry].concat();
    let extension = [&[0, 0][..], &two(list.len()), &list].concat();
    let extensions = [&two(extension.len())[..], &extension].concat();
    let body = [&[3, 3][..], &[7; 32], &[0], &[0, 2, 0xc0, 0x2f], &[1, 0], &extensions].concat();
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes();
    let handshake = [&[1][..], &length[1..], &body].concat();
    [&[22, 3, 1][..], &two(handshake.len()), &handshake].concat()
}
