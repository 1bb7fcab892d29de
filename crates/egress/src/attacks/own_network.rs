//! Attacks that need a network of their own: special addresses that lead somewhere, and a name server that lies.
//!
//! The test runs itself again below `unshare`, in a network whose only interface leads every address here. It needs
//! user namespaces, `unshare` and `ip`, and fails without them.

use std::process::Command;
use std::sync::Arc;

use palyra_ports::{
    CancelFlag, FetchError, FetchFailure, FetchHttp, FetchReach, FetchRequest, FetchResponse,
};
use palyra_testkit::dns_server::Record::{Address, Alias};
use palyra_testkit::dns_server::{DnsServer, DnsZone};
use tokio::net::{TcpListener, UdpSocket};

use super::bench::{Echo, careless};
use super::canary::Canary;
use super::hostile_server::HostileServer;
use crate::resolve::Resolve;
use crate::{Dialer, Fetcher, PrivateHosts, SystemResolver, Tls, UpstreamConnector};

const INSIDE: &str = "PALYRA_EGRESS_INSIDE";

/// `local` routes with a source of their own make addresses lead here that this machine does not call its own; 8.8.4.4
/// is its own.
const SETUP: &str = r#"
PATH="$PATH:/usr/sbin:/sbin"
ip link set lo up
echo 1 > /proc/sys/net/ipv6/bindv6only
ip addr add 8.8.4.4/32 dev lo
ip route add local 9.9.9.0/24 dev lo src 127.0.0.1
ip route add local 169.254.0.0/16 dev lo src 127.0.0.1
ip route add local 100.64.0.0/10 dev lo src 127.0.0.1
ip route add local 168.63.129.16/32 dev lo src 127.0.0.1
ip route add local 10.0.0.0/8 dev lo src 127.0.0.1
for net in 64:ff9b::/96 64:ff9b:1::/48 2001::/32 2002::/16 2001:db8::/32 2a00::/16 3fff::/20 5f00::/16 fd00::/8 \
    fec0::/10 100::/64 2620:4f:8000::/48; do
    ip -6 route add local $net dev lo
done
folder=$(mktemp -d)
printf 'nameserver 127.0.0.1\nsearch corp.example\noptions ndots:5 timeout:1 attempts:1\n' > "$folder/resolv.conf"
printf 'hosts: files dns\n' > "$folder/nsswitch.conf"
mount --bind "$folder/resolv.conf" /etc/resolv.conf
if [ -e /etc/nsswitch.conf ]; then mount --bind "$folder/nsswitch.conf" /etc/nsswitch.conf; fi
rm -r "$folder"
exec "$@"
"#;

#[test]
fn in_a_network_that_leads_here_nothing_special_is_reached() {
    if std::env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(inside());
    }
    let name = concat!(module_path!(), "::in_a_network_that_leads_here_nothing_special_is_reached");
    let name = name.split_once("::").unwrap().1;
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--mount", "sh", "-euc", SETUP, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1")
        .env("http_proxy", "http://127.0.0.1:8000")
        .env("HTTP_PROXY", "http://127.0.0.1:8000")
        .env("ALL_PROXY", "http://127.0.0.1:8000")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(output.status.success(), "{}\n{}", said[0], said[1]);
    assert!(said[0].contains("1 passed"), "{}", said[0]);
}

fn zone() -> DnsZone {
    let here = || Address([127, 0, 0, 1].into());
    let public = || Address([9, 9, 9, 9].into());
    vec![
        ("public.example", vec![vec![public()]]),
        ("rebinding.example", vec![vec![public()], vec![here()]]),
        ("control.rebinding.example", vec![vec![public()], vec![here()]]),
        ("mixed.example", vec![vec![public(), here()]]),
        ("mixed-too.example", vec![vec![here(), public()]]),
        ("chain.example", vec![vec![Alias("a.chain.example"), Alias("b.chain.example"), here()]]),
        ("six.example", vec![vec![Address("::1".parse().unwrap())]]),
        ("cloud.example", vec![vec![Address([169, 254, 169, 254].into())]]),
        ("nat64.example", vec![vec![Address("64:ff9b::7f00:1".parse().unwrap())]]),
        ("nowhere.example.corp.example", vec![vec![here()]]),
    ]
}

struct Inside {
    fetcher: Fetcher,
    /// At every address and port 8000, but where the public server listens.
    canaries: Vec<Canary>,
}

impl Inside {
    async fn fetch(&self, url: &str) -> Result<FetchResponse, FetchError> {
        self.fetcher.fetch(FetchRequest::get(url), CancelFlag::default()).await
    }

    fn touches(&self) -> usize {
        self.canaries.iter().map(Canary::touches).sum()
    }

    /// Nothing is touched by us, and the canary is by a careless client.
    async fn untouched(&self, url: &str) {
        let before = self.touches();
        let error = self.fetch(url).await.unwrap_err();
        assert!(
            matches!(error.failure, FetchFailure::Address { .. } | FetchFailure::Url { .. }),
            "{url}: {error:?}"
        );
        assert_eq!((self.touches(), error.reached), (before, FetchReach::Nobody), "{url}");
        careless(&SystemResolver::default(), url, "").await.unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(self.touches(), before + 1, "{url}: the control did not touch the canary");
    }
}

async fn inside() {
    let dns = DnsServer::start(UdpSocket::bind("127.0.0.1:53").await.unwrap(), zone());
    let public = HostileServer::listen(TcpListener::bind("9.9.9.9:8000").await.unwrap(), None, |_| {
        vec!["HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npublic".into()]
    });
    let mut canaries = Vec::new();
    for address in ["127.0.0.1:8000", "8.8.4.4:8000", "169.254.169.254:8000", "100.100.100.200:8000"] {
        canaries.push(Canary::listen(TcpListener::bind(address).await.unwrap()));
    }
    for address in ["168.63.129.16:8000", "10.1.2.3:8000"] {
        canaries.push(Canary::listen(TcpListener::bind(address).await.unwrap()));
    }
    canaries.push(Canary::listen(six()));
    let dialer = Dialer::new(Arc::new(SystemResolver::default()), PrivateHosts::default());
    let lines = UpstreamConnector::new(dialer, Tls::trusting([]).unwrap());
    let inside = Inside { fetcher: Fetcher::new(lines, Arc::new(Echo)), canaries };

    reaches_the_public_server(&inside, &public).await;
    for host in ["10.1.2.3", "169.254.169.254", "100.100.100.200", "168.63.129.16", "8.8.4.4"] {
        inside.untouched(&format!("http://{host}:8000/")).await;
    }
    for host in [
        "::1",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::1",
        "2002:808:808::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::1",
        "2a00::5efe:7f00:1",
        "2a00::200:5efe:808:808",
        "3fff::1",
        "5f00::1",
        "fd00:ec2::254",
        "fec0::1",
        "100::1",
        "2620:4f:8000::1",
    ] {
        inside.untouched(&format!("http://[{host}]:8000/")).await;
    }
    for name in ["mixed-too", "chain", "six", "cloud", "nat64"] {
        inside.untouched(&format!("http://{name}.example:8000/")).await;
    }
    // Whoever takes one address of two at will touches the canary with one of them.
    assert!(inside.fetch("http://mixed.example:8000/").await.is_err());
    rebinding(&inside, &dns).await;
    search_domains(&inside, &dns).await;
}

/// Also with the variables that name a proxy, which is the canary.
async fn reaches_the_public_server(inside: &Inside, public: &HostileServer) {
    for url in ["http://9.9.9.9:8000/", "http://public.example:8000/"] {
        let answer = inside.fetch(url).await.unwrap();
        assert_eq!(answer.body.expose(), b"public");
    }
    assert_eq!((public.seen_requests().len(), inside.touches()), (2, 0));
    // The control: whoever believes the variable speaks to the canary.
    let proxy = std::env::var("http_proxy").unwrap();
    careless(&SystemResolver::default(), &proxy, "").await.unwrap();
    assert_eq!(inside.touches(), 1);
}

async fn rebinding(inside: &Inside, dns: &DnsServer) {
    let before = inside.touches();
    let answer = inside.fetch("http://rebinding.example:8000/").await.unwrap();
    assert_eq!((answer.body.expose().as_slice(), inside.touches()), (&b"public"[..], before));
    assert_eq!(dns.asked("rebinding.example"), 1);
    assert!(inside.fetch("http://rebinding.example:8000/").await.is_err());
    assert_eq!(inside.touches(), before);
    // The control: look, judge, and let the library look again.
    let name = "control.rebinding.example";
    let looked = SystemResolver::default().resolve(format!("{name}.")).await.unwrap();
    assert!(looked.iter().all(|address| crate::address::special(*address).is_none()));
    careless(&SystemResolver::default(), &format!("http://{name}.:8000/"), "").await.unwrap();
    assert_eq!(inside.touches(), before + 1);
}

/// A name that nobody knows is not looked for below the local domain.
async fn search_domains(inside: &Inside, dns: &DnsServer) {
    let (name, local) = ("nowhere.example", "nowhere.example.corp.example");
    let before = inside.touches();
    let error = inside.fetch(&format!("http://{name}:8000/")).await.unwrap_err();
    assert!(matches!(error.failure, FetchFailure::Unresolved { .. }), "{error:?}");
    assert_eq!((dns.asked(local), inside.touches()), (0, before));
    careless(&SystemResolver::default(), &format!("http://{name}:8000/"), "").await.unwrap();
    assert_eq!((dns.asked(local) > 0, inside.touches()), (true, before + 1));
}

/// A listener at every address of the sixth version, and at none of the fourth.
fn six() -> TcpListener {
    let socket = tokio::net::TcpSocket::new_v6().unwrap();
    socket.bind("[::]:8000".parse().unwrap()).unwrap();
    socket.listen(64).unwrap()
}
