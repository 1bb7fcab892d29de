//! Redirects to places that would not be fetched, and what they must not carry along.

use palyra_ports::{
    BoundCredential, CancelFlag, CredentialHandle, FetchFailure, FetchHttp, FetchMethod, FetchReach,
    FetchRequest,
};

use super::bench::{careless, fetch, fetch_open, fetcher};
use super::canary::Canary;
use super::hostile_server::{HostileServer, Identity};
use super::scripted_resolver::ScriptedResolver;
use crate::Tls;

fn to(status: u16, location: &str) -> String {
    format!(
        "HTTP/1.1 {status} Elsewhere\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

fn open_names() -> ScriptedResolver {
    let resolver = ScriptedResolver::answering("open.example", &[&["127.0.0.1"]]);
    resolver.learn("pointing.example", &[&["127.0.0.1"]]);
    resolver
}

#[tokio::test]
async fn no_redirect_leads_to_this_machine() {
    let canary = Canary::start().await;
    let canary_port = canary.port();
    let mut touched = 0;
    for status in [301, 302, 303, 307, 308] {
        for host in
            ["127.0.0.1", "127.1", "localhost", "2130706433", "pointing.example", "[::ffff:127.0.0.1]"]
        {
            let location = format!("http://{host}:{canary_port}/");
            let server = HostileServer::start(move |_| vec![to(status, &location).as_str().into()]).await;
            let url = format!("http://open.example:{}/", server.port());
            let lifted = [format!("open.example:{}", server.port())];
            let error = fetch(&open_names(), &lifted, FetchRequest::get(url.as_str())).await.unwrap_err();
            assert_eq!(
                (canary.touches(), error.reached),
                (touched, FetchReach::OnlyAsked),
                "{status} {host}"
            );
            careless(&open_names(), &url, "").await.unwrap();
            touched += 1;
            canary.touched(touched).await;
        }
    }
}

#[tokio::test]
async fn other_schemes_and_odd_references_are_not_followed() {
    for location in [
        "file:///etc/passwd",
        "ftp://open.example/",
        "gopher://open.example/",
        "javascript:alert(1)",
        "data:text/plain,x",
        "http://a@open.example/",
        "//127.1/",
        "\\\\open.example\\",
        "http:/\\open.example/",
    ] {
        let server = HostileServer::start(move |_| vec![to(302, location).as_str().into()]).await;
        let url = format!("http://open.example:{}/", server.port());
        let failure = fetch_open(server.port(), FetchRequest::get(url)).await.unwrap_err();
        assert!(
            matches!(failure, FetchFailure::Redirect { .. } | FetchFailure::Unresolved { .. }),
            "{location}: {failure}"
        );
        assert_eq!(server.seen_requests().len(), 1, "{location}");
    }
}

#[tokio::test]
async fn a_loop_ends_after_as_many_redirects_as_are_allowed() {
    let server = HostileServer::start(|_| vec![to(307, "/again").as_str().into()]).await;
    let mut request = FetchRequest::get(format!("http://open.example:{}/", server.port()));
    request.limits.redirects_max = 3;
    let failure = fetch_open(server.port(), request).await.unwrap_err();
    assert!(matches!(failure, FetchFailure::Redirect { .. }), "{failure}");
    assert_eq!(server.seen_requests().len(), 4);
}

#[tokio::test]
async fn an_answer_that_names_two_ways_is_not_followed() {
    let two = "HTTP/1.1 302 Found\r\nlocation: /a\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n";
    let server = HostileServer::start(move |_| vec![two.into()]).await;
    let failure =
        fetch_open(server.port(), FetchRequest::get(format!("http://open.example:{}/", server.port())))
            .await
            .unwrap_err();
    assert!(matches!(failure, FetchFailure::Redirect { .. }), "{failure}");
}

#[tokio::test]
async fn what_tells_who_asks_stays_with_its_origin() {
    let canary = Canary::start().await;
    let location = format!("http://pointing.example:{}/", canary.port());
    let server = HostileServer::start(move |_| vec![to(302, &location).as_str().into()]).await;
    let lifted = [format!("open.example:{}", server.port()), format!("pointing.example:{}", canary.port())];
    let url = format!("http://open.example:{}/", server.port());
    let mut request = FetchRequest::get(url.as_str());
    request.headers = vec![
        ("Authorization".to_owned(), "Bearer the-canary-key".into()),
        ("X-Api-Key".to_owned(), "the-canary-key".into()),
        ("Cookie".to_owned(), "the-canary-key".into()),
    ];
    let answer = fetch(&open_names(), &lifted, request).await.unwrap();
    assert_eq!((answer.status, answer.hops.len()), (200, 1));
    assert_eq!(server.seen_requests()[0].matches("the-canary-key").count(), 3);
    assert!(!canary.seen_requests().contains("the-canary-key"), "{}", canary.seen_requests());
    // The control.
    careless(&open_names(), &url, "Authorization: Bearer the-canary-key\r\n").await.unwrap();
    assert!(canary.seen_requests().contains("the-canary-key"));
}

/// A TLS server at `open.example` that sends everybody on.
async fn sending_on(identity: &Identity, location: String) -> HostileServer {
    HostileServer::start_tls(identity, move |head| {
        let answer = if head.starts_with("GET /end") {
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_owned()
        } else {
            to(302, &location)
        };
        vec![answer.as_str().into()]
    })
    .await
}

#[tokio::test]
async fn a_bound_credential_goes_to_its_host_over_tls_only() {
    let identity = Identity::of(&["open.example", "pointing.example"]);
    let end = sending_on(&identity, "/end".to_owned()).await;
    let start = sending_on(&identity, format!("https://pointing.example:{}/end", end.port())).await;
    let plain = HostileServer::start(|_| vec!["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".into()]).await;
    let lifted = [
        format!("open.example:{}", start.port()),
        format!("pointing.example:{}", end.port()),
        format!("open.example:{}", plain.port()),
    ];
    let fetcher = fetcher(&open_names(), &lifted, Tls::trusting([identity.authority.clone()]).unwrap());
    let bound = |port| BoundCredential {
        host: "open.example".to_owned(),
        port,
        handle: CredentialHandle("canary".to_owned()),
        used_by: None,
    };
    let mut request = FetchRequest::get(format!("https://open.example:{}/", start.port()));
    request.credentials = vec![bound(start.port())];
    let answer = fetcher.fetch(request, CancelFlag::default()).await.unwrap();
    assert_eq!(answer.body.expose(), b"ok");
    assert!(
        start.seen_requests()[0].contains("authorization: Bearer secret-canary"),
        "{:?}",
        start.seen_requests()
    );
    assert!(!end.seen_requests()[0].contains("secret-canary"), "{:?}", end.seen_requests());

    let mut request = FetchRequest::get(format!("http://open.example:{}/", plain.port()));
    request.credentials = vec![bound(plain.port())];
    fetcher.fetch(request, CancelFlag::default()).await.unwrap();
    assert!(!plain.seen_requests()[0].contains("secret-canary"), "{:?}", plain.seen_requests());
}

#[tokio::test]
async fn a_credential_does_not_come_back_by_another_servers_word() {
    let identity = Identity::of(&["open.example", "pointing.example"]);
    let listener = |port| std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let (own, other) = (listener(0), listener(0));
    let port_of = |listener: &std::net::TcpListener| listener.local_addr().unwrap().port();
    let (own_port, other_port) = (port_of(&own), port_of(&other));
    let serve = |listener: std::net::TcpListener, location: String| {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        HostileServer::listen(listener, Some(identity.acceptor.clone()), move |head| {
            let answer = if head.starts_with("GET /chosen") {
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_owned()
            } else {
                to(302, &location)
            };
            vec![answer.as_str().into()]
        })
    };
    let own = serve(own, format!("https://pointing.example:{other_port}/"));
    let _other = serve(other, format!("https://open.example:{own_port}/chosen"));
    let lifted = [format!("open.example:{own_port}"), format!("pointing.example:{other_port}")];
    let fetcher = fetcher(&open_names(), &lifted, Tls::trusting([identity.authority.clone()]).unwrap());
    let mut request = FetchRequest::get(format!("https://open.example:{own_port}/"));
    request.credentials = vec![BoundCredential {
        host: "open.example".to_owned(),
        port: own_port,
        handle: CredentialHandle("canary".to_owned()),
        used_by: None,
    }];
    let mut direct = request.clone();
    direct.url = format!("https://open.example:{own_port}/chosen").into();
    let answer = fetcher.fetch(request, CancelFlag::default()).await.unwrap();
    assert_eq!((answer.body.expose().as_slice(), answer.hops.len()), (&b"ok"[..], 2));
    fetcher.fetch(direct, CancelFlag::default()).await.unwrap();
    let shown: Vec<bool> = own.seen_requests().iter().map(|head| head.contains("secret-canary")).collect();
    assert_eq!(shown, [true, false, true], "{:?}", own.seen_requests());
}

#[tokio::test]
async fn nothing_leads_away_from_tls() {
    let identity = Identity::of(&["open.example"]);
    let canary = Canary::start().await;
    let server = sending_on(&identity, format!("http://open.example:{}/", canary.port())).await;
    let lifted = [format!("open.example:{}", server.port()), format!("open.example:{}", canary.port())];
    let fetcher = fetcher(&open_names(), &lifted, Tls::trusting([identity.authority.clone()]).unwrap());
    let url = format!("https://open.example:{}/", server.port());
    let error = fetcher.fetch(FetchRequest::get(url), CancelFlag::default()).await.unwrap_err();
    assert!(matches!(error.failure, FetchFailure::Redirect { .. }), "{error}");
    assert_eq!(canary.touches(), 0);
    let direct = FetchRequest::get(format!("http://open.example:{}/", canary.port()));
    fetcher.fetch(direct, CancelFlag::default()).await.unwrap();
    canary.touched(1).await;
}

#[tokio::test]
async fn a_server_that_does_not_prove_its_name_hears_nothing() {
    let identity = Identity::of(&["other.example"]);
    let stranger = Identity::of(&["open.example"]);
    let tls = || Tls::trusting([identity.authority.clone()]).unwrap();
    for server in [
        HostileServer::start_tls(&identity, |_| Vec::new()).await,
        HostileServer::start_tls(&stranger, |_| Vec::new()).await,
    ] {
        let fetcher = fetcher(&open_names(), &[format!("open.example:{}", server.port())], tls());
        let request = FetchRequest::get(format!("https://open.example:{}/", server.port()));
        let error = fetcher.fetch(request, CancelFlag::default()).await.unwrap_err();
        assert!(matches!(error.failure, FetchFailure::Tls { .. }), "{error}");
        assert_eq!((error.reached, server.seen_requests().len()), (FetchReach::Nobody, 0));
    }
}

#[tokio::test]
async fn a_change_that_nobody_answers_may_have_been_made() {
    let server = HostileServer::start(|_| Vec::new()).await;
    let mut request = FetchRequest::get(format!("http://open.example:{}/", server.port()));
    request.method = FetchMethod::Post;
    let lifted = [format!("open.example:{}", server.port())];
    let error = fetch(&open_names(), &lifted, request).await.unwrap_err();
    assert_eq!(error.reached, FetchReach::PerhapsDone, "{error}");
}

#[tokio::test]
async fn a_change_keeps_its_method_where_it_is_sent_on() {
    for (method, status, expect) in [
        (FetchMethod::Put, 301, "PUT"),
        (FetchMethod::Delete, 302, "DELETE"),
        (FetchMethod::Patch, 308, "PATCH"),
        (FetchMethod::Put, 303, "GET"),
        (FetchMethod::Post, 302, "GET"),
    ] {
        let server = HostileServer::start(move |head| {
            let end = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            vec![if head.contains(" /end ") { end.into() } else { to(status, "/end").as_str().into() }]
        })
        .await;
        let mut request = FetchRequest::get(format!("http://open.example:{}/", server.port()));
        request.method = method;
        let answer = fetch_open(server.port(), request).await.unwrap();
        assert_eq!(answer.hops[0].next.as_str(), expect, "{method:?} {status}");
        assert!(
            server.seen_requests()[1].starts_with(&format!("{expect} /end ")),
            "{:?}",
            server.seen_requests()
        );
    }
}

#[tokio::test]
async fn a_change_that_was_answered_is_known_whatever_fails_after() {
    let broken = "HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\nshort";
    for (answer, status) in [(broken.to_owned(), 201), (to(303, "/lost"), 303), (to(307, "ftp://a/"), 307)] {
        let server = HostileServer::start(move |head| {
            if head.contains(" /lost ") { Vec::new() } else { vec![answer.as_str().into()] }
        })
        .await;
        let mut request = FetchRequest::get(format!("http://open.example:{}/", server.port()));
        request.method = FetchMethod::Post;
        let lifted = [format!("open.example:{}", server.port())];
        let error = fetch(&open_names(), &lifted, request).await.unwrap_err();
        assert_eq!(error.reached, FetchReach::Answered { status }, "{error}");
    }
}
