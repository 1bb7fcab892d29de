//! A secret that a server says in its answer, and calls that would have one part of it after the other.

use std::path::Path;
use std::sync::Arc;

use palyra_ports::{
    BoundCredential, CredentialHeader, CredentialUnavailable, Redactor, Supervision, ToolRuntime,
};
use palyra_redaction::SecretScanner;
use palyra_testkit::GrantRequest;
use palyra_testkit::PassThrough;
use palyra_types::ErrorCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::*;

/// No four of its letters follow one another anywhere else.
const VALUE: &str = "KQZJVWXYGHPLRNMBTDFC-qjxzkwvy";
/// What the tool is granted.
const OUTPUT_BYTES_MAX: usize = 48 << 10;
/// What is left out of an answer begins here.
const BODY_BYTES_MAX: usize = 4 << 20;

/// A server whose answer is told by the path.
struct Server {
    place: String,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = listener.local_addr().unwrap().to_string();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (mut said, mut piece) = (Vec::new(), [0; 4096]);
                while !said.ends_with(b"\r\n\r\n") {
                    match stream.read(&mut piece).await {
                        Ok(length @ 1..) => said.extend_from_slice(&piece[..length]),
                        Ok(0) | Err(_) => break,
                    }
                }
                let head = String::from_utf8_lossy(&said).into_owned();
                let answer = answer(head.split(' ').nth(1).unwrap_or_default());
                drop(stream.write_all(answer.as_bytes()).await);
                drop(stream.shutdown().await);
            }
        });
        Self { place, _tasks: tasks }
    }
}

fn said(headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\n{headers}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

struct Nothing;

impl FillCredential for Nothing {
    fn fill(
        &self,
        credential: BoundCredential,
    ) -> futures::future::BoxFuture<'static, Result<CredentialHeader, CredentialUnavailable>> {
        let (code, why) = (ErrorCode::SecretNotFound, "there are none".to_owned());
        Box::pin(async move { Err(CredentialUnavailable { handle: credential.handle, code, why }) })
    }
}

fn tools(place: &str, redactor: Arc<dyn Redactor>) -> WebTools {
    let hosts = PrivateHosts::read([place]).unwrap();
    let lines =
        UpstreamConnector::new(Dialer::new(Arc::new(SystemResolver::default()), hosts), Tls::system());
    let fetcher: Arc<dyn FetchHttp> = Arc::new(Fetcher::new(lines, Arc::new(Nothing)));
    let fetcher_of = Arc::new(move |_: PrincipalId| Arc::clone(&fetcher));
    WebTools::new(WebParts {
        fetcher_of,
        reader: Arc::new(palyra_egress::StrictReader),
        sent_as: Arc::new(|_| None),
        redactor,
    })
}

/// Asks once for each offset, and returns how many answers held a part of the value when a run would have shown them.
async fn leaks(server: &Server, redactor: Arc<dyn Redactor>, path: &str, offsets: &[usize]) -> usize {
    let scanner = scanner();
    let tools = tools(&server.place, redactor);
    let mut leaks = 0;
    for offset in offsets {
        let arguments = format!(r#"{{"url":"http://{}{path}","offset":{offset}}}"#, server.place);
        let grant = GrantRequest::new("http_fetch", &arguments, Path::new("/"));
        let grant = grant.output_bytes_max(OUTPUT_BYTES_MAX).grant();
        let outcome = tools.execute(grant, Supervision::default()).await.unwrap();
        assert_eq!(outcome.failure, None, "{}", outcome.output.expose());
        let shown = scanner.redact(outcome.output).text;
        let pieces = VALUE.as_bytes().windows(4).map(|piece| std::str::from_utf8(piece).unwrap());
        leaks += usize::from(pieces.into_iter().any(|piece| shown.expose().contains(piece)));
    }
    leaks
}

fn scanner() -> Arc<SecretScanner> {
    let scanner = SecretScanner::new();
    scanner.register(&[VALUE.into()]).unwrap();
    Arc::new(scanner)
}

/// Nothing is told of the value; unless nobody cleans, which is the control.
async fn holds(server: &Server, path: &str, offsets: impl IntoIterator<Item = usize>) {
    let offsets: Vec<usize> = offsets.into_iter().collect();
    assert_eq!(leaks(server, scanner(), path, &offsets).await, 0, "{path}");
    assert!(leaks(server, Arc::new(PassThrough), path, &offsets).await > 0, "{path}: the control");
}

#[tokio::test]
async fn no_offset_and_no_end_of_a_part_divides_a_secret() {
    let server = Server::start(|path| {
        let (kind, before) = path.trim_start_matches('/').split_once('/').unwrap();
        let before = "x".repeat(before.parse().unwrap());
        match kind {
            "text" => said("content-type: text/plain", &format!("{before}{VALUE}{before}")),
            "json" => {
                said("content-type: application/json", &format!("{{\"a\":\"{before}{VALUE}{before}\"}}"))
            }
            "page" => said("content-type: text/html", &format!("<p>{before} {VALUE} {before}</p>")),
            other => panic!("{other}"),
        }
    })
    .await;
    for kind in ["text", "json", "page"] {
        holds(&server, &format!("/{kind}/100"), 96..140).await;
    }
    // What stands for it is read, and not taken for an element of the page.
    let arguments = format!(r#"{{"url":"http://{}/page/100"}}"#, server.place);
    let grant = GrantRequest::new("http_fetch", &arguments, Path::new("/")).grant();
    let outcome = tools(&server.place, scanner()).execute(grant, Supervision::default()).await.unwrap();
    assert!(outcome.output.expose().contains("<secret:vault> x"), "{}", outcome.output.expose());
    // A part has some 46 KiB, less what stands in its head.
    holds(&server, "/text/60000", (60_000 - 47_104..60_000 - 46_900).step_by(3)).await;
}

#[tokio::test]
async fn no_limit_of_an_answer_divides_a_secret() {
    let server = Server::start(|path| {
        let (kind, before) = path.trim_start_matches('/').split_once('/').unwrap();
        let long = || "x".repeat(before.parse().unwrap());
        match kind {
            "header" => said(&format!("content-type: text/plain\r\netag: {}{VALUE}", long()), "text"),
            "led" => {
                let to = format!("location: /end/{}{VALUE}", long());
                format!("HTTP/1.1 302 Found\r\n{to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            }
            "end" => said("content-type: text/plain", "text"),
            "text" => said("content-type: text/plain", &format!("{}{VALUE}{}", long(), "y".repeat(100))),
            "page" => {
                // A script is read faster than anything else that is left out: a page has two seconds.
                let body = format!("<p>front</p><script>{}</script><p>end {VALUE} of it</p>", long());
                said("content-type: text/html", &body)
            }
            other => panic!("{other}"),
        }
    })
    .await;
    for before in [484, 496, 506] {
        holds(&server, &format!("/header/{before}"), [0]).await;
    }
    for before in [970, 980, 990] {
        holds(&server, &format!("/led/{before}"), [0]).await;
    }
    for inside in [5, 14, 25] {
        holds(&server, &format!("/text/{}", BODY_BYTES_MAX - inside), [BODY_BYTES_MAX - 100]).await;
        let front = "<p>front</p><script></script><p>end ".len();
        holds(&server, &format!("/page/{}", (2 << 20) - front - inside), [0]).await;
    }
}
