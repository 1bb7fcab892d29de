//! What most programs do: read leniently, check nothing, follow everything, carry all headers along.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use palyra_egress::{Resolve, SystemResolver};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

/// Where a careless reader of an answer stops.
const ANSWER_BYTES_MAX: usize = 12 << 20;
/// How long a careless client waits.
const PATIENCE: Duration = Duration::from_secs(3);

/// Fetches as most clients do; gives up after some redirects.
pub(super) async fn fetch(url: &str, headers: &str, hops: usize) -> io::Result<Vec<u8>> {
    let mut url = Url::parse(url).map_err(io::Error::other)?;
    for _ in 0..hops {
        let answer = ask(&url, headers).await?;
        let head = String::from_utf8_lossy(&answer[..answer.len().min(64 << 10)]).into_owned();
        let location = head.lines().find_map(|line| line.strip_prefix("location: "));
        match location.and_then(|location| url.join(location).ok()) {
            Some(next) => url = next,
            None => return Ok(answer),
        }
    }
    Ok(Vec::new())
}

async fn ask(url: &Url, headers: &str) -> io::Result<Vec<u8>> {
    let address = address(url).await?;
    let mut stream = TcpStream::connect(address).await?;
    let path = url.path();
    let path = path.replace("%0D", "\r").replace("%0A", "\n");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", url.authority());
    stream.write_all(request.as_bytes()).await?;
    let (mut answer, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    let reading = async {
        while answer.len() < ANSWER_BYTES_MAX {
            match stream.read(&mut piece).await {
                Ok(length @ 1..) => answer.extend_from_slice(&piece[..length]),
                Ok(0) | Err(_) => return,
            }
        }
    };
    // What came until then is what it has.
    let _ = timeout(PATIENCE, reading).await;
    Ok(answer)
}

async fn address(url: &Url) -> io::Result<SocketAddr> {
    let port = url.port_or_known_default().unwrap_or(80);
    let address: IpAddr = match url.host() {
        Some(url::Host::Ipv4(address)) => address.into(),
        Some(url::Host::Ipv6(address)) => address.into(),
        Some(url::Host::Domain(name)) => match name.trim_end_matches('.') {
            "localhost" => [127, 0, 0, 1].into(),
            name => *SystemResolver::default()
                .resolve(name.to_owned())
                .await?
                .first()
                .ok_or(io::ErrorKind::NotFound)?,
        },
        None => return Err(io::Error::other("no host")),
    };
    Ok(SocketAddr::new(address, port))
}

/// Whom a careless proxy believes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrustedPart {
    StartLine,
    LastHost,
    FirstHost,
}

/// Says something to a careless HTTP proxy, and returns what comes back.
pub(super) async fn proxied(said: &[u8], believes: TrustedPart) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(async move {
        if let Ok((stream, _)) = listener.accept().await {
            let _ = serve(stream, believes).await;
        }
    });
    let answer = super::world::converse(address, said).await;
    serving.abort();
    answer
}

async fn serve(mut client: TcpStream, believes: TrustedPart) -> io::Result<()> {
    let (mut said, mut piece) = (Vec::new(), [0; 4096]);
    while !said.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = client.read(&mut piece).await?;
        if length == 0 {
            break;
        }
        said.extend_from_slice(&piece[..length]);
    }
    let text = String::from_utf8_lossy(&said).into_owned();
    let mut words = text.split_ascii_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut hosts =
        text.lines().filter_map(|line| line.to_ascii_lowercase().strip_prefix("host: ").map(str::to_owned));
    let authority = match believes {
        TrustedPart::StartLine => target.to_owned(),
        TrustedPart::FirstHost => hosts.next().unwrap_or_default(),
        TrustedPart::LastHost => hosts.next_back().unwrap_or_default(),
    };
    let url = if authority.contains("://") { authority } else { format!("http://{authority}") };
    let url = Url::parse(&url).map_err(io::Error::other)?;
    let mut server = TcpStream::connect(address(&url).await?).await?;
    if method == "CONNECT" {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
        let end = text.find("\r\n\r\n").map_or(said.len(), |end| end + 4);
        server.write_all(&said[end..]).await?;
    } else {
        server.write_all(&said).await?;
    }
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

/// Says something to a careless SOCKS proxy: names are judged whole and looked up until their first NUL.
pub(super) async fn socks(said: &[u8]) -> io::Result<()> {
    let name_at = if said.first() == Some(&5) { 3 + 5 } else { 9 };
    let name = said.get(name_at..).unwrap_or_default();
    let cut = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let name = String::from_utf8_lossy(cut).into_owned();
    let address = (name.as_str(), super::world::CANARY_PORT);
    TcpStream::connect(address).await.map(drop)
}
