//! What a test fetches with: our own fetcher, and a careless client as the control.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_ports::{
    BoundCredential, CancelFlag, CredentialHeader, CredentialUnavailable, FetchError, FetchFailure,
    FetchHttp, FetchRequest, FetchResponse, FillCredential,
};
use palyra_types::ErrorCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use super::scripted_resolver::ScriptedResolver;
use crate::resolve::Resolve;
use crate::{Dialer, Fetcher, PrivateHosts, Tls, UpstreamConnector};

/// Credentials that are called what they are.
pub(crate) struct Echo;

impl FillCredential for Echo {
    fn fill(
        &self,
        credential: BoundCredential,
    ) -> BoxFuture<'static, Result<CredentialHeader, CredentialUnavailable>> {
        Box::pin(async move {
            let handle = credential.handle;
            if handle.0 == "missing" {
                let (code, why) = (ErrorCode::SecretNotFound, String::new());
                return Err(CredentialUnavailable { handle, code, why });
            }
            let value = format!("Bearer secret-{}", handle.0);
            Ok(CredentialHeader { name: "authorization".to_owned(), value: value.into() })
        })
    }
}

/// Makes lines that know some names, trust some authority and may reach some private hosts.
pub(crate) fn lines(resolver: &ScriptedResolver, lifted: &[String], tls: Tls) -> UpstreamConnector {
    let hosts = PrivateHosts::read(lifted.iter().map(String::as_str)).unwrap();
    UpstreamConnector::new(Dialer::new(Arc::new(resolver.clone()), hosts), tls)
}

/// Makes a fetcher.
pub(crate) fn fetcher(resolver: &ScriptedResolver, lifted: &[String], tls: Tls) -> Fetcher {
    Fetcher::new(lines(resolver, lifted, tls), Arc::new(Echo))
}

/// Fetches with a fetcher that trusts nobody.
pub(crate) async fn fetch(
    resolver: &ScriptedResolver,
    lifted: &[String],
    request: FetchRequest,
) -> Result<FetchResponse, FetchError> {
    fetcher(resolver, lifted, Tls::trusting([]).unwrap()).fetch(request, CancelFlag::default()).await
}

/// Fetches a URL from whoever it names, with one port of this machine reachable as `open.example`.
pub(crate) async fn fetch_open(port: u16, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
    let resolver = ScriptedResolver::answering("open.example", &[&["127.0.0.1"]]);
    fetch(&resolver, &[format!("open.example:{port}")], request).await.map_err(|error| error.failure)
}

/// What most clients do: reads leniently, checks nothing, follows everything, carries all headers along.
pub(crate) async fn careless(resolver: &dyn Resolve, url: &str, headers: &str) -> std::io::Result<Vec<u8>> {
    let mut url = Url::parse(url).map_err(std::io::Error::other)?;
    for _ in 0..5 {
        let answer =
            tokio::time::timeout(Duration::from_secs(2), careless_hop(resolver, &url, headers)).await??;
        let head = String::from_utf8_lossy(&answer).into_owned();
        let location = head.lines().find_map(|line| line.strip_prefix("location: "));
        match location.and_then(|location| url.join(location).ok()) {
            Some(next) => url = next,
            None => return Ok(answer),
        }
    }
    Err(std::io::Error::other("too many"))
}

async fn careless_hop(resolver: &dyn Resolve, url: &Url, headers: &str) -> std::io::Result<Vec<u8>> {
    let port = url.port_or_known_default().unwrap_or(80);
    let address = match url.host() {
        Some(url::Host::Ipv4(address)) => address.into(),
        Some(url::Host::Ipv6(address)) => address.into(),
        Some(url::Host::Domain(name)) => match name.trim_end_matches('.') {
            "localhost" => [127, 0, 0, 1].into(),
            name => resolver.resolve(name.to_owned()).await?[0],
        },
        None => return Err(std::io::Error::other("no host")),
    };
    let mut stream = TcpStream::connect((address, port)).await?;
    let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", url.path(), url.authority());
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer)
}
