//! Programs that try to get past the proxy, with servers of this machine as canaries.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use palyra_ports::{
    BoundCredential, CredentialHandle, EgressGrant, EgressLimits, EgressSession, EgressVerdict, GuardEgress,
    HostRule,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::FilteringProxy;
use crate::Tls;
use crate::attacks::bench::{Echo, lines};
use crate::attacks::canary::Canary;
use crate::attacks::hostile_server::{HostileServer, Identity, Step};
use crate::attacks::scripted_resolver::ScriptedResolver;

/// A proxy and where it listens.
struct Door {
    port: u16,
    session: Box<dyn EgressSession>,
    resolver: ScriptedResolver,
}

/// What a test lets through.
#[derive(Default)]
struct Setting {
    granted: Vec<HostRule>,
    credentials: Vec<BoundCredential>,
    lifted: Vec<String>,
    tls: Option<Tls>,
    limits: EgressLimits,
}

fn open(setting: Setting) -> Door {
    let resolver = ScriptedResolver::answering("open.example", &[&["127.0.0.1"]]);
    resolver.learn("other.example", &[&["127.0.0.1"]]);
    let tls = setting.tls.unwrap_or_else(|| Tls::trusting([]).unwrap());
    let proxy = FilteringProxy::new(lines(&resolver, &setting.lifted, tls), Arc::new(Echo));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let grant =
        EgressGrant { hosts: setting.granted, credentials: setting.credentials, limits: setting.limits };
    let session = proxy.serve(OwnedFd::from(listener), grant).unwrap();
    Door { port, session, resolver }
}

/// Lets one port of `open.example` through.
fn open_to(port: u16) -> Door {
    open(Setting {
        granted: vec![HostRule::exact("open.example").at(port)],
        lifted: vec![format!("open.example:{port}")],
        ..Setting::default()
    })
}

impl Door {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).await.unwrap()
    }

    /// Says something and returns all that comes back.
    async fn say(&self, words: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(words.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer).await);
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn get(&self, url: &str, host: &str) -> String {
        self.say(&format!("GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).await
    }
}

#[tokio::test]
async fn a_granted_host_is_reached_and_noted() {
    let canary = Canary::start().await;
    let port = canary.port();
    let door = open_to(port);
    let answer = door.get(&format!("http://open.example:{port}/"), &format!("open.example:{port}")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("canary"), "{answer}");
    let contacts = door.session.contacts();
    assert_eq!((contacts.reached.len(), contacts.others.len()), (1, 0));
    let (contact, address) = (&contacts.reached[0], [127, 0, 0, 1].into());
    assert_eq!((contact.port, &contact.verdict), (port, &EgressVerdict::Reached { address }));
}

#[tokio::test]
async fn no_number_of_refusals_hides_whom_a_program_reached() {
    let canary = Canary::start().await;
    let port = canary.port();
    let door = open_to(port);
    for number in 0..300 {
        let host = format!("n{number}.example");
        assert!(door.get(&format!("http://{host}/"), &host).await.starts_with("HTTP/1.1 403"));
    }
    for _ in 0..2 {
        door.get(&format!("http://open.example:{port}/"), &format!("open.example:{port}")).await;
    }
    let contacts = door.session.contacts();
    let reached: Vec<_> =
        contacts.reached.iter().map(|contact| (contact.host.as_str(), contact.port)).collect();
    assert_eq!(reached, [("open.example", port)]);
    assert_eq!((contacts.others.len(), contacts.others_unnoted, contacts.reached_unnoted), (256, 44, 0));
}

#[tokio::test]
async fn whoever_is_not_granted_is_neither_resolved_nor_reached() {
    let canary = Canary::start().await;
    let port = canary.port();
    let setting = |granted| Setting {
        granted,
        lifted: vec![format!("other.example:{port}"), format!("127.0.0.1:{port}")],
        ..Setting::default()
    };
    let asks = [
        format!("GET http://other.example:{port}/ HTTP/1.1\r\nHost: other.example:{port}\r\n\r\n"),
        format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
        format!("CONNECT other.example:{port} HTTP/1.1\r\nHost: other.example:{port}\r\n\r\n"),
        format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n"),
    ];
    let closed = open(setting(vec![HostRule::exact("open.example").at(port)]));
    for ask in &asks {
        let answer = closed.say(ask).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{ask}: {answer}");
    }
    assert_eq!((closed.resolver.questions().len(), canary.touches()), (0, 0));
    // The control: the same words, granted.
    let granted =
        open(setting(vec![HostRule::exact("other.example").at(port), HostRule::exact("127.0.0.1").at(port)]));
    for (index, ask) in asks.iter().enumerate() {
        let mut stream = granted.connect().await;
        stream.write_all(ask.as_bytes()).await.unwrap();
        canary.touched(index + 1).await;
    }
}

#[tokio::test]
async fn a_grant_lifts_no_private_address() {
    let canary = Canary::start().await;
    let port = canary.port();
    let granted = || vec![HostRule::exact("open.example").at(port), HostRule::exact("127.0.0.1").at(port)];
    let door = open(Setting { granted: granted(), ..Setting::default() });
    let words = |host: &str| {
        [
            format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"),
            format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"),
        ]
    };
    for host in ["open.example", "127.0.0.1"] {
        for ask in words(host) {
            let answer = door.say(&ask).await;
            assert!(answer.starts_with("HTTP/1.1 403"), "{ask}: {answer}");
        }
    }
    assert_eq!(canary.touches(), 0);
    let lifted = vec![format!("open.example:{port}"), format!("127.0.0.1:{port}")];
    let control = open(Setting { granted: granted(), lifted, ..Setting::default() });
    control.get(&format!("http://open.example:{port}/"), &format!("open.example:{port}")).await;
    canary.touched(1).await;
}

#[tokio::test]
async fn a_request_that_says_two_things_does_not_pass() {
    let canary = Canary::start().await;
    let port = canary.port();
    let door = open_to(port);
    let open = format!("open.example:{port}");
    for words in [
        format!("GET http://{open}/ HTTP/1.1\r\nHost: other.example\r\n\r\n"),
        format!("GET http://{open}/ HTTP/1.1\r\nHost: {open}\r\nHost: other.example\r\n\r\n"),
        format!("GET http://{open}/ HTTP/1.1\r\nHost: {open}\r\nHost: {open}\r\n\r\n"),
        format!("CONNECT {open} HTTP/1.1\r\nHost: other.example:{port}\r\n\r\n"),
        format!("CONNECT {open} HTTP/1.1\r\nHost: open.example:1\r\n\r\n"),
        format!("CONNECT user@{open} HTTP/1.1\r\n\r\n"),
        "CONNECT open.example HTTP/1.1\r\n\r\n".to_owned(),
        format!("CONNECT {open} HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
        format!("CONNECT {open}/path HTTP/1.1\r\n\r\n"),
        format!("GET http://a@{open}/ HTTP/1.1\r\n\r\n"),
        format!("GET http://open.example\\@{open}/ HTTP/1.1\r\n\r\n"),
        format!("GET http://open.example.:{port}/ HTTP/1.1\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: {open}\r\n\r\n"),
        format!("GET https://{open}/ HTTP/1.1\r\nHost: {open}\r\n\r\n"),
        format!("GET ftp://{open}/ HTTP/1.1\r\nHost: {open}\r\n\r\n"),
        "OPTIONS * HTTP/1.1\r\nHost: open.example\r\n\r\n".to_owned(),
        format!("TRACE http://{open}/ HTTP/1.1\r\nHost: {open}\r\n\r\n"),
        format!(
            "GET http://{open}/ HTTP/1.1\r\nHost: {open}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
        ),
        format!("GET http://{open}/ HTTP/1.1\r\nHost : {open}\r\n\r\n"),
        format!(
            "GET http://{open}/ HTTP/1.1\r\nHost: {open}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"
        ),
        format!("GET http://{open}/ HTTP/1.1\r\nHost: {open}\r\nTransfer-Encoding: xchunked\r\n\r\n"),
        format!(
            "GET http://{open}/ HTTP/1.1\r\nHost: {open}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"
        ),
        format!("GET http://{open}/ HTTP/1.1\r\nHost: {open}\r\n folded: x\r\n\r\n"),
        format!("GET http://{open}/\0 HTTP/1.1\r\nHost: {open}\r\n\r\n"),
        format!("GET http://{open}/ HTTP/2.0\r\nHost: {open}\r\n\r\n"),
        format!("GET http://{open}/ HTTP/1.1\r\nHost: {open}\r\nx: {}\r\n\r\n", "y".repeat(1 << 20)),
        // SOCKS 5 and SOCKS 4a, the latter with a NUL inside of the name.
        "\u{5}\u{1}\0\u{5}\u{1}\0\u{3}\u{c}open.example\0P".to_owned(),
        "\u{4}\u{1}\0P\0\0\0\u{1}\0open.example\0.other.example\0".to_owned(),
        "\u{16}\u{3}\u{1}\0\u{5}hello".to_owned(),
    ] {
        let mut stream = door.connect().await;
        drop(stream.write_all(words.as_bytes()).await);
        drop(stream.shutdown().await);
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer).await);
        let answer = String::from_utf8_lossy(&answer);
        let refused = answer.is_empty() || answer.starts_with("HTTP/1.1 4");
        assert!(refused, "{:?}: {answer}", &words[..words.len().min(120)]);
    }
    assert_eq!(canary.touches(), 0);
    door.get(&format!("http://{open}/"), &open).await;
    canary.touched(1).await;
}

#[tokio::test]
async fn what_steers_a_connection_is_not_passed_on() {
    let server = HostileServer::start(|_| {
        vec![
            "HTTP/1.1 200 OK\r\nconnection: x-secret-hop\r\nx-secret-hop: 1\r\nproxy-authenticate: Basic\r\n\
             keep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok"
                .into(),
        ]
    })
    .await;
    let open = format!("open.example:{}", server.port());
    let door = open_to(server.port());
    let answer = door
        .say(&format!(
            "GET http://{open}/a?b HTTP/1.1\r\nHost: {open}\r\nProxy-Authorization: Basic x\r\n\
             Proxy-Connection: keep-alive\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nX-Kept: 1\r\n\r\n"
        ))
        .await;
    assert!(answer.ends_with("\r\n\r\nok") && !answer.contains("x-secret-hop"), "{answer}");
    assert!(!answer.contains("proxy-authenticate") && !answer.contains("timeout=1"), "{answer}");
    let heard = server.seen_requests()[0].to_lowercase();
    assert!(heard.starts_with("get /a?b http/1.1") && heard.contains("x-kept: 1"), "{heard}");
    for gone in ["proxy-", "x-hop", "\r\nte:"] {
        assert!(!heard.contains(gone), "{heard}");
    }
}

/// Answers once the body is there.
fn after_the_body(head: &str) -> Vec<Step> {
    let ends = [("chunked", "0\r\n\r\n"), ("content-length: 5", "hello")];
    let end =
        ends.into_iter().find(|(said, _)| head.to_lowercase().contains(said)).map_or("", |(_, end)| end);
    vec![Step::Hear(end), "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".into()]
}

#[tokio::test]
async fn bodies_pass_both_ways_and_cannot_smuggle() {
    let server = HostileServer::start(after_the_body).await;
    let open = format!("open.example:{}", server.port());
    let door = open_to(server.port());
    // To one reader the body is empty and a second request follows; to the other it is all body.
    let smuggled = format!("0\r\n\r\nGET http://{open}/smuggled HTTP/1.1\r\nHost: {open}\r\n\r\n");
    let length = format!("Content-Length: {}\r\n", smuggled.len());
    let chunked = "Transfer-Encoding: chunked\r\n";
    let careless = HostileServer::start(after_the_body).await;
    for (number, lengths) in [format!("{length}{chunked}"), format!("{chunked}{length}")].iter().enumerate() {
        let head = format!("POST http://{open}/ HTTP/1.1\r\nHost: {open}\r\nConnection: close\r\n{lengths}");
        let words = format!("{head}\r\n{smuggled}");
        door.say(&words).await;
        // The control: the same words by a door that passes on what it does not read.
        let mut straight = TcpStream::connect(("127.0.0.1", careless.port())).await.unwrap();
        straight.write_all(words.as_bytes()).await.unwrap();
        straight.shutdown().await.unwrap();
        let received = careless.received(number + 1).await;
        assert!(received[number].contains("/smuggled"), "{received:?}");
    }
    let body = "Content-Length: 5\r\nConnection: close\r\n\r\nhello";
    let answer = door.say(&format!("POST http://{open}/ HTTP/1.1\r\nHost: {open}\r\n{body}")).await;
    assert!(answer.ends_with("ok"), "{answer}");
    let received = server.received(server.seen_requests().len()).await;
    let is_plain = |words: &String| {
        !words.contains("smuggled") && words.contains("chunked") != words.contains("content-length")
    };
    assert!(received.iter().all(is_plain), "{received:?}");
    assert!(received.last().unwrap().ends_with("\r\n\r\nhello"), "{received:?}");
}

#[tokio::test]
async fn a_body_in_chunks_is_heard_whatever_the_method() {
    let server = HostileServer::start(after_the_body).await;
    let open = format!("open.example:{}", server.port());
    let door = open_to(server.port());
    for (number, method) in ["GET", "HEAD", "DELETE", "OPTIONS", "POST", "QUERY"].into_iter().enumerate() {
        let chunks =
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n";
        let answer = door.say(&format!("{method} http://{open}/ HTTP/1.1\r\nHost: {open}\r\n{chunks}")).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{method}: {answer}");
        let received = server.received(number + 1).await.pop().unwrap();
        let (head, body) = received.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(method) && head.contains("transfer-encoding: chunked"), "{head}");
        assert_eq!(unchunked(body), "hello", "{method}: {body:?}");
    }
    // What has no body is not given one.
    door.get(&format!("http://{open}/"), &open).await;
    let received = server.received(7).await.pop().unwrap();
    assert!(received.ends_with("\r\n\r\n") && !received.contains("chunked"), "{received}");
}

/// Puts a body together that comes in chunks without extensions.
fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        whole.push_str(&rest[..length]);
        body = rest[length..].strip_prefix("\r\n").unwrap();
    }
    whole
}

/// What a client says first in TLS, asking for a name.
fn greeting(name: &str) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from(name.to_owned()).unwrap();
    let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut said = Vec::new();
    client.write_tls(&mut said).unwrap();
    said
}

/// Opens a tunnel and returns its stream once the proxy has agreed.
async fn tunnel(door: &Door, port: u16) -> TcpStream {
    let mut stream = door.connect().await;
    stream.write_all(format!("CONNECT open.example:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    stream
}

#[tokio::test]
async fn a_tunnel_speaks_tls_with_the_host_that_was_granted() {
    let canary = Canary::start().await;
    let door = open_to(canary.port());
    let sent_on = "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n".as_bytes().to_vec();
    let mut split = greeting("other.example");
    let rest = split.split_off(7);
    for words in
        [vec![greeting("other.example")], vec![greeting("127.0.0.1")], vec![sent_on], vec![split, rest]]
    {
        let mut stream = tunnel(&door, canary.port()).await;
        for part in words {
            stream.write_all(&part).await.unwrap();
        }
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer).await);
        assert!(answer.is_empty());
    }
    assert_eq!(canary.seen_requests(), "");
    // The control: the right name passes, piece by piece.
    let mut stream = tunnel(&door, canary.port()).await;
    let hello = greeting("open.example");
    let (first, rest) = hello.split_at(7);
    stream.write_all(first).await.unwrap();
    stream.write_all(rest).await.unwrap();
    stream.write_all(b"\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer).await);
    assert!(answer.ends_with(b"canary") && canary.seen_requests().contains("open.example"));
}

/// Speaks TLS with `open.example` in a tunnel.
async fn inside(identity: &Identity, stream: TcpStream) -> TlsStream<TcpStream> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(identity.authority.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from("open.example").unwrap();
    tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

#[tokio::test]
async fn tls_in_a_tunnel_is_between_the_program_and_its_host() {
    let identity = Identity::of(&["open.example"]);
    let server = HostileServer::start_tls(&identity, |_| {
        vec!["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".into()]
    })
    .await;
    let door = open_to(server.port());
    let mut inner = inside(&identity, tunnel(&door, server.port()).await).await;
    inner.write_all(b"GET /inside HTTP/1.1\r\nHost: open.example\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    drop(inner.read_to_end(&mut answer).await);
    assert!(answer.ends_with(b"\r\n\r\nok"));
    assert!(server.seen_requests()[0].starts_with("GET /inside"));
}

#[tokio::test]
async fn a_bound_credential_is_put_on_and_travels_under_tls() {
    let identity = Identity::of(&["open.example"]);
    let server = HostileServer::start_tls(&identity, |_| {
        vec!["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".into()]
    })
    .await;
    let plain = Canary::start().await;
    let port = server.port();
    let bound = |handle: &str| BoundCredential {
        host: "open.example".to_owned(),
        port,
        handle: CredentialHandle(handle.to_owned()),
        used_by: None,
    };
    let door = |handle: &str| {
        open(Setting {
            granted: vec![
                HostRule::exact("open.example").at(port),
                HostRule::exact("open.example").at(plain.port()),
                HostRule::exact("other.example").at(plain.port()),
            ],
            credentials: vec![bound(handle)],
            lifted: vec![
                format!("open.example:{port}"),
                format!("open.example:{}", plain.port()),
                format!("other.example:{}", plain.port()),
            ],
            tls: Some(Tls::trusting([identity.authority.clone()]).unwrap()),
            ..Setting::default()
        })
    };
    let canary_door = door("canary");
    for url in ["http://open.example/".to_owned(), format!("http://open.example:{port}/")] {
        let host = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let words =
            format!("GET {url} HTTP/1.1\r\nHost: {host}\r\nAuthorization: mine\r\nConnection: close\r\n\r\n");
        let answer = canary_door.say(&words).await;
        assert!(answer.ends_with("ok"), "{answer}");
        let heard = server.seen_requests().pop().unwrap();
        assert!(heard.contains("authorization: Bearer secret-canary") && !heard.contains("mine"), "{heard}");
        assert!(heard.contains(&format!("host: open.example:{port}")), "{heard}");
        assert!(!answer.contains("secret-canary"));
    }
    // Another port and another host hear nothing of it.
    for host in ["open.example", "other.example"] {
        let host = format!("{host}:{}", plain.port());
        canary_door.get(&format!("http://{host}/"), &host).await;
    }
    assert!(
        plain.seen_requests().contains("GET /") && !plain.seen_requests().contains("secret-canary"),
        "{}",
        plain.seen_requests()
    );
    // A handle that stands for nothing sends nothing.
    let before = server.seen_requests().len();
    let answer = door("missing").get("http://open.example/", "open.example").await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert_eq!(server.seen_requests().len(), before);
}

#[tokio::test]
async fn a_tunnel_to_a_host_with_a_credential_carries_none() {
    let identity = Identity::of(&["open.example"]);
    let answer = |_: &str| vec!["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".into()];
    let server = HostileServer::start_tls(&identity, answer).await;
    let port = server.port();
    let credential = BoundCredential {
        host: "open.example".to_owned(),
        port,
        handle: CredentialHandle("canary".to_owned()),
        used_by: None,
    };
    let door = open(Setting {
        granted: vec![HostRule::exact("open.example").at(port)],
        credentials: vec![credential],
        lifted: vec![format!("open.example:{port}")],
        tls: Some(Tls::trusting([identity.authority.clone()]).unwrap()),
        ..Setting::default()
    });
    let mut inner = inside(&identity, tunnel(&door, port).await).await;
    inner.write_all(b"GET /inside HTTP/1.1\r\nHost: open.example\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    drop(inner.read_to_end(&mut said).await);
    assert!(said.ends_with(b"\r\n\r\nok"));
    drop(inner);
    let received = server.received(1).await;
    assert!(received[0].starts_with("GET /inside") && !received[0].contains("secret-canary"), "{received:?}");
    // The control: asked in the clear, the proxy speaks TLS itself and puts it on.
    assert!(door.get("http://open.example/plain", "open.example").await.ends_with("ok"));
    let received = server.received(2).await;
    assert!(received[1].starts_with("GET /plain"), "{received:?}");
    assert!(received[1].contains("authorization: Bearer secret-canary"), "{received:?}");
}

#[tokio::test]
async fn a_call_moves_no_more_bytes_than_it_may() {
    let server = HostileServer::start(|_| {
        vec![
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".into(),
            Step::Repeat(format!("400\r\n{}\r\n", "x".repeat(0x400)).into_bytes(), Duration::ZERO),
        ]
    })
    .await;
    let port = server.port();
    let limits = EgressLimits { received_bytes_max: 100_000, ..EgressLimits::default() };
    let door = open(Setting {
        granted: vec![HostRule::exact("open.example").at(port)],
        lifted: vec![format!("open.example:{port}")],
        limits,
        ..Setting::default()
    });
    let answer = door.get(&format!("http://open.example:{port}/"), &format!("open.example:{port}")).await;
    assert!(answer.len() > 10_000 && answer.len() < 110_000, "{}", answer.len());
}

#[tokio::test]
async fn a_program_that_keeps_the_proxy_waiting_is_left() {
    let limits = EgressLimits {
        header_time_max: Duration::from_millis(50),
        idle_time_max: Duration::from_millis(100),
        ..EgressLimits::default()
    };
    let server = HostileServer::start(|_| vec![Step::Hang]).await;
    let port = server.port();
    let door = open(Setting {
        granted: vec![HostRule::exact("open.example").at(port)],
        lifted: vec![format!("open.example:{port}")],
        limits,
        ..Setting::default()
    });
    let open = format!("open.example:{port}");
    // Nothing at all, half a head, a request that nobody answers, a tunnel in which nobody speaks.
    for words in [
        String::new(),
        "GET http://op".to_owned(),
        format!("GET http://{open}/ HTTP/1.1\r\nHost: {open}\r\n\r\n"),
        format!("CONNECT {open} HTTP/1.1\r\n\r\n"),
    ] {
        door.say(&words).await;
    }
}

#[tokio::test]
async fn further_connections_wait_for_their_turn() {
    let canary = Canary::start().await;
    let port = canary.port();
    let limits = EgressLimits { connections_max: 1, ..EgressLimits::default() };
    let door = open(Setting {
        granted: vec![HostRule::exact("open.example").at(port)],
        lifted: vec![format!("open.example:{port}")],
        limits,
        ..Setting::default()
    });
    let first = tunnel(&door, port).await;
    let host = format!("open.example:{port}");
    let url = format!("http://{host}/");
    let mut second = std::pin::pin!(door.get(&url, &host));
    let waited = tokio::time::timeout(Duration::from_millis(100), &mut second).await;
    assert!(waited.is_err() && canary.touches() == 1);
    drop(first);
    assert!(second.await.ends_with("canary"));
}

#[tokio::test]
async fn nothing_is_left_of_a_session_that_ended() {
    let server = HostileServer::start(|_| vec![Step::Hang]).await;
    let mut door = open_to(server.port());
    let mut waiting = tunnel(&door, server.port()).await;
    waiting.write_all(&greeting("open.example")).await.unwrap();
    door.session.stop().await;
    let mut rest = Vec::new();
    drop(waiting.read_to_end(&mut rest).await);
    assert!(TcpStream::connect(("127.0.0.1", door.port)).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_carried_requests_is_gone_when_a_session_has_ended() {
    use std::io::Read;
    for _ in 0..50 {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let (tell, told) = tokio::sync::oneshot::channel();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let length = stream.read(&mut [0; 64]).unwrap();
            tell.send((stream, length)).unwrap();
        });
        let mut door = open_to(port);
        let mut client = door.connect().await;
        let asked = format!("GET http://open.example:{port}/ HTTP/1.1\r\nHost: open.example:{port}\r\n\r\n");
        client.write_all(asked.as_bytes()).await.unwrap();
        let (mut stream, length) = told.await.unwrap();
        serving.join().unwrap();
        stream.set_nonblocking(true).unwrap();
        assert!(length > 0);
        door.session.stop().await;
        // Whoever is still connected would have it wait for more.
        let rest = stream.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
        assert!(matches!(rest, Ok(_) | Err(std::io::ErrorKind::ConnectionReset)), "{rest:?}");
    }
}

#[tokio::test]
async fn a_listener_that_is_none_any_more_is_given_up_and_what_runs_goes_on() {
    let canary = Canary::start().await;
    let port = canary.port();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = OwnedFd::from(listener.try_clone().unwrap());
    let own_port = listener.local_addr().unwrap().port();
    let resolver = ScriptedResolver::answering("open.example", &[&["127.0.0.1"]]);
    let host = format!("open.example:{port}");
    let lifted = lines(&resolver, std::slice::from_ref(&host), Tls::trusting([]).unwrap());
    let proxy = FilteringProxy::new(lifted, Arc::new(Echo));
    let grant = EgressGrant {
        hosts: vec![HostRule::exact("open.example").at(port)],
        credentials: Vec::new(),
        limits: EgressLimits::default(),
    };
    let session = proxy.serve(OwnedFd::from(listener.try_clone().unwrap()), grant).unwrap();
    let mut door = Door { port: own_port, session, resolver };
    let waiting = tunnel(&door, port).await;
    std::net::TcpStream::from(dead).shutdown(std::net::Shutdown::Both).unwrap();
    let error = listener.accept().unwrap_err();
    assert_eq!(super::AcceptState::after(&error), super::AcceptState::No, "{error}");
    let full = std::io::Error::from_raw_os_error(24);
    assert_eq!(super::AcceptState::after(&full), super::AcceptState::Soon);
    let mut waiting = waiting;
    waiting.write_all(&greeting("open.example")).await.unwrap();
    canary.touched(1).await;
    door.session.stop().await;
}

#[tokio::test]
async fn a_descriptor_that_is_no_listener_is_refused() {
    let file = std::fs::File::open("/dev/null").unwrap();
    let resolver = ScriptedResolver::default();
    let proxy = FilteringProxy::new(lines(&resolver, &[], Tls::trusting([]).unwrap()), Arc::new(Echo));
    let grant = EgressGrant { hosts: Vec::new(), credentials: Vec::new(), limits: EgressLimits::default() };
    assert!(proxy.serve(OwnedFd::from(file), grant).is_err());
}
