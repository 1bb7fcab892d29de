//! What a fetch through the tool costs, beside a bare client that checks nothing.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use palyra_egress::{Dialer, Fetcher, PrivateHosts, StrictReader, SystemResolver, Tls, UpstreamConnector};
use palyra_ports::{
    BoundCredential, CredentialHeader, CredentialUnavailable, FetchHttp, FillCredential, Supervision,
    ToolRuntime,
};
use palyra_redaction::SecretScanner;
use palyra_testkit::grant_for;
use palyra_types::{ErrorCode, PrincipalId};
use palyra_web::{WebParts, WebTools};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, Unit};
use crate::measure::samples::SampleSet;

pub(super) const NAME: &str = "http-fetch";

/// Paragraphs of the page.
const PARAGRAPHS: usize = 200;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let page = page();
    let server = Server::start(&page).await?;
    let tools = tools(&server.place)?;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client =
        reqwest::Client::builder().no_proxy().tls_certs_only([]).pool_max_idle_per_host(0).build()?;
    let (mut source, mut readable, mut bare) = (SampleSet::times(), SampleSet::times(), SampleSet::times());
    for _ in 0..lab.effort.of(2, 200, 1000) {
        source.push_time(through_the_tool(&tools, &server.place, "true").await?);
        bare.push_time(bare_fetch(&client, &server.place, page.len()).await?);
        readable.push_time(through_the_tool(&tools, &server.place, "false").await?);
    }
    let kibibytes = page.len() / 1024;
    let figure = |what: &str, samples: &SampleSet| {
        BenchFigure::new(
            NAME,
            format!("{what} of {kibibytes} KiB from this machine"),
            Unit::Ms,
            samples.summary(),
        )
        .beside("bare client", bare.summary())
    };
    Ok(vec![
        figure("http_fetch, the source", &source).note("checked, dialled, cut to its part, fenced"),
        figure("http_fetch, a page as Markdown", &readable).note("the bare client reads no page"),
    ])
}

fn page() -> String {
    let paragraph = "<p>The <b>lantern</b> shines over the <a href=\"/harbour\">harbour</a>, and nobody minds the rain.</p>";
    format!("<!DOCTYPE html><title>Lantern</title><article>{}</article>", paragraph.repeat(PARAGRAPHS))
}

fn tools(place: &str) -> anyhow::Result<WebTools> {
    let hosts = PrivateHosts::read([place]).map_err(|(place, why)| anyhow::anyhow!("{place}: {why}"))?;
    let lines =
        UpstreamConnector::new(Dialer::new(Arc::new(SystemResolver::default()), hosts), Tls::system());
    let fetcher: Arc<dyn FetchHttp> = Arc::new(Fetcher::new(lines, Arc::new(NoCredentials)));
    let fetcher_of = Arc::new(move |_: PrincipalId| Arc::clone(&fetcher));
    let redactor = Arc::new(SecretScanner::new());
    Ok(WebTools::new(WebParts {
        fetcher_of,
        reader: Arc::new(StrictReader),
        sent_as: Arc::new(|_| None),
        redactor,
    }))
}

async fn through_the_tool(tools: &WebTools, place: &str, raw: &str) -> anyhow::Result<Duration> {
    let arguments = format!(r#"{{"url":"http://{place}/page","raw":{raw}}}"#);
    let grant = grant_for("http_fetch", &arguments, Path::new("/"));
    let begun = Instant::now();
    let outcome = tools.execute(grant, Supervision::default()).await?;
    let took = begun.elapsed();
    anyhow::ensure!(outcome.failure.is_none(), "{}", outcome.output.expose());
    Ok(took)
}

async fn bare_fetch(client: &reqwest::Client, place: &str, bytes: usize) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let text = client.get(format!("http://{place}/page")).send().await?.text().await?;
    let took = begun.elapsed();
    anyhow::ensure!(text.len() == bytes, "{} bytes came", text.len());
    Ok(took)
}

struct NoCredentials;

impl FillCredential for NoCredentials {
    fn fill(
        &self,
        credential: BoundCredential,
    ) -> BoxFuture<'static, Result<CredentialHeader, CredentialUnavailable>> {
        let (code, why) = (ErrorCode::SecretNotFound, "there are none".to_owned());
        Box::pin(async move { Err(CredentialUnavailable { handle: credential.handle, code, why }) })
    }
}

/// Says the same page to everybody.
struct Server {
    place: String,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start(page: &str) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let place = listener.local_addr()?.to_string();
        let length = page.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close"
        );
        let answer: Arc<[u8]> = format!("{head}\r\n\r\n{page}").into_bytes().into();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut visitors = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                visitors.spawn(say(stream, Arc::clone(&answer)));
                while visitors.try_join_next().is_some() {}
            }
        });
        Ok(Self { place, _tasks: tasks })
    }
}

async fn say(mut stream: TcpStream, answer: Arc<[u8]>) {
    let (mut said, mut piece) = (Vec::new(), [0; 1024]);
    while !said.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece).await {
            Ok(length @ 1..) => said.extend_from_slice(&piece[..length]),
            Ok(0) | Err(_) => return,
        }
    }
    if stream.write_all(&answer).await.is_ok() {
        drop(stream.shutdown().await);
    }
}
