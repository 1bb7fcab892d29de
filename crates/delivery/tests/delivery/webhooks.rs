//! Webhooks through the guarded dialer.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use palyra_delivery::{MessageDeliverer, TargetAddresses};
use palyra_egress::{Dialer, Fetcher, PrivateHosts, SystemResolver, Tls, UpstreamConnector};
use palyra_notify::WebhookSecret;
use palyra_ports::{
    BoundCredential, CredentialHeader, CredentialUnavailable, DeliverError, DeliverMessages, DeliveryTarget,
    FillCredential, OutboundMessage,
};
use palyra_testkit::FakeClock;
use palyra_types::Content;
use palyra_types::delivery::{DeliveryKey, DeliveryTargetKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY: &str =
    r#"{"type":"attention.count","timestamp":"2026-01-09T20:00:00Z","data":{"count":3,"link":null}}"#;

/// No credential is asked for.
struct NoCredentials;

impl FillCredential for NoCredentials {
    fn fill(
        &self,
        credential: BoundCredential,
    ) -> futures::future::BoxFuture<'static, Result<CredentialHeader, CredentialUnavailable>> {
        panic!("nothing asks for {credential:?}")
    }
}

fn deliverer(url: &str, private: &[&str]) -> MessageDeliverer {
    let hosts = PrivateHosts::read(private.iter().copied()).unwrap();
    let dialer = Dialer::new(Arc::new(SystemResolver::default()), hosts);
    let lines = UpstreamConnector::new(dialer, Tls::system());
    let webhook_url = url.to_owned();
    MessageDeliverer {
        addresses: Arc::new(move || TargetAddresses {
            webhook_url: webhook_url.clone(),
            ..TargetAddresses::default()
        }),
        secret: Arc::new(|_| WebhookSecret::parse(SECRET).map_err(|error| error.to_string())),
        fetch: Some(Arc::new(Fetcher::new(lines, Arc::new(NoCredentials)))),
        clock: Arc::new(FakeClock::new()),
        environment: Arc::new(BTreeMap::new()),
    }
}

fn message() -> OutboundMessage {
    OutboundMessage {
        key: DeliveryKey([7; 16]),
        target: DeliveryTarget { kind: DeliveryTargetKind::Webhook, name: "webhook".to_owned() },
        body: Content::from(BODY),
    }
}

/// A server that answers each connection with the next of some texts, and returns what it was sent.
struct TestServer {
    listener: TcpListener,
    host: String,
}

impl TestServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        Self { listener, host }
    }

    fn url(&self) -> String {
        format!("http://{}/hook", self.host)
    }

    /// Takes one request and answers it; an empty answer closes the connection.
    async fn serve(&self, answer: &str) -> (BTreeMap<String, String>, String) {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let mut received = Vec::new();
        let (head, length) = loop {
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0, "the request ended early");
            received.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&received).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let headers = headers(head);
            let length: usize = headers["content-length"].parse().unwrap();
            if body.len() >= length {
                break (headers, body.to_owned());
            }
        };
        stream.write_all(answer.as_bytes()).await.unwrap();
        (head, length)
    }
}

fn headers(head: &str) -> BTreeMap<String, String> {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect()
}

fn answer(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

/// Computes the signature with Python's standard library.
fn signature_by_python(headers: &BTreeMap<String, String>, body: &str) -> String {
    let script = "import base64,hashlib,hmac,sys\n\
        key=base64.b64decode(sys.argv[1][len('whsec_'):])\n\
        text=(sys.argv[2]+'.'+sys.argv[3]+'.').encode()+sys.stdin.buffer.read()\n\
        print('v1,'+base64.b64encode(hmac.new(key,text,hashlib.sha256).digest()).decode(),end='')";
    let python = std::env::var("PALYRA_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let arguments = [SECRET, &headers["webhook-id"], &headers["webhook-timestamp"]];
    let mut child = Command::new(python)
        .args(["-c", script])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python checks the signature");
    child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[tokio::test]
async fn a_message_arrives_signed_and_each_attempt_has_the_same_id() {
    let server = TestServer::start().await;
    let deliverer = deliverer(&server.url(), &[&server.host]);
    let mut ids = Vec::new();
    for (status, expected) in [
        ("503 Unavailable", Err("the server answered 503")),
        ("302 Found", Err("the server answered 302")),
        ("204 No Content", Ok(())),
    ] {
        let text = answer(status);
        let (sent, (headers, body)) = tokio::join!(deliverer.deliver(message()), server.serve(&text));
        let expected = expected.map_err(|why| DeliverError::NotSent { why: why.to_owned() });
        assert_eq!(sent, expected);
        assert_eq!(body, BODY);
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["webhook-signature"], signature_by_python(&headers, &body));
        ids.push(headers["webhook-id"].clone());
    }
    assert_eq!(ids, vec![DeliveryKey([7; 16]).message_id(); 3]);
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_is_in_doubt_and_a_gone_webhook_is_refused() {
    let server = TestServer::start().await;
    let deliverer = deliverer(&server.url(), &[&server.host]);
    let (sent, _) = tokio::join!(deliverer.deliver(message()), server.serve(""));
    assert!(matches!(sent, Err(DeliverError::InDoubt { .. })), "{sent:?}");
    let gone = answer("410 Gone");
    let (sent, _) = tokio::join!(deliverer.deliver(message()), server.serve(&gone));
    assert!(matches!(sent, Err(DeliverError::Refused { .. })), "{sent:?}");
    let TestServer { listener, .. } = server;
    drop(listener);
    let sent = deliverer.deliver(message()).await;
    assert!(matches!(sent, Err(DeliverError::NotSent { .. })), "{sent:?}");
}

#[tokio::test]
async fn a_private_address_is_not_reached_unless_it_is_configured() {
    let server = TestServer::start().await;
    let refused = deliverer(&server.url(), &[]).deliver(message());
    let sent = tokio::select! {
        sent = refused => sent,
        _ = server.listener.accept() => panic!("the server was reached"),
    };
    let Err(DeliverError::Refused { why }) = sent else { panic!("{sent:?}") };
    assert!(why.contains("egress.allow_private"), "{why}");
    // A redirect to another server is not followed.
    let other = TestServer::start().await;
    let redirect =
        format!("HTTP/1.1 307 Temporary\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", other.url());
    let deliverer = deliverer(&server.url(), &[&server.host, &other.host]);
    let delivered = async {
        let (sent, _) = tokio::join!(deliverer.deliver(message()), server.serve(&redirect));
        sent
    };
    let sent = tokio::select! {
        sent = delivered => sent,
        _ = other.listener.accept() => panic!("the other server was reached"),
    };
    assert_eq!(sent, Err(DeliverError::NotSent { why: "the server answered 307".to_owned() }));
}

#[tokio::test]
async fn no_error_has_the_address_or_the_secret() {
    let canary = "canary-5f1c";
    let server = TestServer::start().await;
    let url = format!("http://{}/{canary}?token={canary}", server.host);
    for deliverer in
        [deliverer(&url, &[]), deliverer(&url.replace("http://", "http://a b@"), &[&server.host])]
    {
        let error = deliverer.deliver(message()).await.unwrap_err();
        assert!(!format!("{error:?}").contains(canary), "{error:?}");
    }
}
