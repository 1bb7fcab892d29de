//! What there is in the network of its own: servers, canaries, names, and our own ways out.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use palyra_egress::{Dialer, Fetcher, FilteringProxy, PrivateHosts, SystemResolver, Tls, UpstreamConnector};
use palyra_ports::{
    CancelFlag, EgressGrant, EgressLimits, FetchError, FetchHttp, FetchRequest, FetchResponse, GuardEgress,
    HostRule,
};
use palyra_testkit::dns_server::Record::{Address, Alias};
use palyra_testkit::dns_server::{DnsServer, DnsZone};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::listeners::Listener;
use crate::calls::NoCredentials;

/// The port of every canary.
pub(super) const CANARY_PORT: u16 = 8000;
/// The port of the server that may be reached.
pub(super) const PUBLIC_PORT: u16 = 8001;
/// The port of another server that may be reached, and is not the one that was asked.
pub(super) const OTHER_PORT: u16 = 8002;

/// Addresses of the fourth version at which canaries listen; of the sixth they do at all.
const CANARIES: &[&str] = &[
    "127.0.0.1",
    "127.8.9.10",
    "8.8.4.4",
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "198.18.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "240.0.0.1",
];

/// All that is there.
pub(crate) struct FetchWorld {
    pub(crate) canaries: Listener,
    pub(crate) public: Listener,
    pub(crate) other: Listener,
    pub(crate) dns: DnsServer,
    fetcher: Fetcher,
    proxy: FilteringProxy,
}

static WORLD: OnceCell<FetchWorld> = OnceCell::const_new();

/// Returns the world of this process, made when it is first asked for.
pub(crate) async fn world() -> io::Result<&'static FetchWorld> {
    WORLD.get_or_try_init(FetchWorld::new).await
}

impl FetchWorld {
    async fn new() -> io::Result<Self> {
        let dns = DnsServer::start(UdpSocket::bind("127.0.0.1:53").await?, zone());
        let at = |port| {
            move |address: &&str| address.parse().map(|address: IpAddr| SocketAddr::new(address, port))
        };
        let mut canaries: Vec<SocketAddr> = CANARIES.iter().flat_map(at(CANARY_PORT)).collect();
        canaries.extend("[::]:8000".parse::<SocketAddr>());
        let public = Ipv4Addr::new(9, 9, 9, 9);
        let dialer = Dialer::new(Arc::new(SystemResolver::default()), PrivateHosts::default());
        let lines = UpstreamConnector::new(dialer, Tls::trusting([]).map_err(io::Error::other)?);
        let world = Self {
            canaries: Listener::start(&canaries)?,
            public: Listener::start(&[SocketAddr::new(public.into(), PUBLIC_PORT)])?,
            other: Listener::start(&[
                SocketAddr::new(public.into(), OTHER_PORT),
                SocketAddr::new(public.into(), CANARY_PORT),
            ])?,
            dns,
            fetcher: Fetcher::new(lines.clone(), Arc::new(NoCredentials)),
            proxy: FilteringProxy::new(lines, Arc::new(NoCredentials)),
        };
        world.answers_honest_questions().await?;
        Ok(world)
    }

    /// A way out that reaches nobody would hold against everything.
    async fn answers_honest_questions(&self) -> io::Result<()> {
        let url = format!("http://public.example:{PUBLIC_PORT}/");
        let fetched = self.fetch(FetchRequest::get(url)).await.map_err(io::Error::other)?;
        let asked = format!(
            "GET http://public.example:{PUBLIC_PORT}/ HTTP/1.1\r\nhost: public.example:{PUBLIC_PORT}\r\n\r\n"
        );
        let proxied = self.proxied(asked.as_bytes(), &[("public.example", PUBLIC_PORT)]).await?;
        if fetched.body.expose() == b"canary" && proxied.ends_with("canary") {
            Ok(())
        } else {
            Err(io::Error::other(format!("honest questions are not answered: {proxied}")))
        }
    }

    /// Fetches.
    pub(crate) async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        self.fetcher.fetch(request, CancelFlag::default()).await
    }

    /// Says something to a proxy that lets some hosts through, and returns what it answers.
    pub(crate) async fn proxied(&self, said: &[u8], granted: &[(&str, u16)]) -> io::Result<String> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let hosts = granted.iter().map(|(host, port)| HostRule::exact(*host).at(*port)).collect();
        let grant = EgressGrant { hosts, credentials: Vec::new(), limits: EgressLimits::default() };
        let mut session = self.proxy.serve(listener.into(), grant).map_err(io::Error::other)?;
        let answer = converse(address, said).await;
        session.stop().await;
        answer
    }

    /// Returns how many connections came to canaries so far, once all that were made were taken.
    pub(crate) async fn touches(&self) -> usize {
        tokio::time::sleep(Duration::from_millis(10)).await;
        self.canaries.touches()
    }
}

/// Says something to a server and reads until it has no more, or for a moment.
pub(super) async fn converse(address: SocketAddr, said: &[u8]) -> io::Result<String> {
    const MOMENT: Duration = Duration::from_millis(400);
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(said).await?;
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(Ok(length @ 1..)) = timeout(MOMENT, stream.read(&mut piece)).await {
        answer.extend_from_slice(&piece[..length]);
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn zone() -> DnsZone {
    let here = || Address([127, 0, 0, 1].into());
    let public = || Address([9, 9, 9, 9].into());
    let one = |address: &str| vec![vec![Address(address.parse().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)))]];
    vec![
        ("public.example", vec![vec![public()]]),
        ("pointing.example", vec![vec![here()]]),
        ("rebinding-fetch.example", vec![vec![public()], vec![here()]]),
        ("rebinding-proxy.example", vec![vec![public()], vec![here()]]),
        ("rebinding-control.example", vec![vec![public()], vec![here()]]),
        ("mixed.example", vec![vec![public(), here()]]),
        ("mixed-too.example", vec![vec![here(), public()]]),
        ("chain.example", vec![vec![Alias("a.chain.example"), Alias("b.chain.example"), here()]]),
        ("six.example", one("::1")),
        ("mapped.example", one("::ffff:127.0.0.1")),
        ("cloud.example", one("169.254.169.254")),
        ("cloud-six.example", one("fd00:ec2::254")),
        ("nat64.example", one("64:ff9b::7f00:1")),
        ("metadata.google.internal", one("169.254.169.254")),
        ("printer.local", one("192.168.1.1")),
        ("nowhere.example.corp.example", vec![vec![here()]]),
    ]
}
