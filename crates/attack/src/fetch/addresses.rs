//! Addresses that are not of the open network (36, 37, 38), names that change their mind (39), and addresses that are
//! read in two ways (41): asked of the fetcher and of the proxy.

use std::io;

use palyra_ports::FetchRequest;
use palyra_testkit::LOOPBACK_SPELLINGS;

use super::careless::{self, TrustedPart};
use super::world::{CANARY_PORT, FetchWorld, PUBLIC_PORT, world};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

pub(super) const FETCHER: &str = "the dialer, by the fetcher";
pub(super) const PROXY: &str = "the dialer, by the proxy";

/// The surroundings of this machine, and networks that are no open ones.
const MORE_SPELLINGS: &[&str] = &[
    "8.8.4.4",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "198.18.0.1",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "240.0.0.1",
    "printer.local",
];

/// Addresses that hold other addresses, or are of no open network.
const WITHIN: &[&str] = &[
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "0:0:0:0:0:ffff:10.1.2.3",
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
    "fd12::1",
    "fec0::1",
    "100::1",
    "2620:4f:8000::1",
    "2001:20::1",
    "2001:2::1",
];

/// Where clouds tell their secrets.
const METADATA: &[&str] = &[
    "169.254.169.254",
    "169.254.170.2",
    "2852039166",
    "0xa9fea9fe",
    "169.16689662",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "[fd00:ec2::254]",
    "[::ffff:169.254.169.254]",
    "metadata.google.internal",
    "cloud.example",
    "cloud-six.example",
];

/// Names whose answers are not what they seem.
const NAMES: &[&str] =
    &["mixed-too.example", "chain.example", "six.example", "mapped.example", "nat64.example"];

/// URLs that lead a lenient reader to the canary, and another one elsewhere.
const DIFFERENTIALS: &[&str] = &[
    "http://public.example:8001@127.0.0.1:8000/",
    "http://public.example:x@127.0.0.1:8000/",
    "http://public.example%40x@127.0.0.1:8000/",
    "http://127.0.0.1:8000\\@public.example:8001/",
    "http://127.0.0.1:8000#@public.example:8001/",
    "http://127.0.0.1:8000?@public.example:8001/",
    "http:127.0.0.1:8000",
    "http:/127.0.0.1:8000/",
    "http:///127.0.0.1:8000/",
    "http:\\\\127.0.0.1:8000\\",
    "ht\ntp://127.0.0.1:8000/",
    "http://127.0.0.1:80\t00/",
    " \u{1}http://127.0.0.1:8000/",
    "http://127.0.\n0.1:8000/",
    "http://127%2e0%2e0%2e1:8000/",
    "http://127。0。0。1:8000/",
    "HTTP://127.0.0.1:08000/",
    "http://[::ffff:127.0.0.1]:8000/",
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let bracketed = |address: &&str| format!("[{address}]");
    let hosts = LOOPBACK_SPELLINGS.iter().chain(MORE_SPELLINGS).map(|host| (36, (*host).to_owned()));
    let hosts = hosts.chain(WITHIN.iter().map(|address| (37, bracketed(address))));
    let hosts = hosts.chain(METADATA.iter().map(|host| (38, (*host).to_owned())));
    let hosts = hosts.chain(NAMES.iter().map(|host| (39, (*host).to_owned())));
    let hosts = hosts.map(|(case, host)| {
        let pairs = [FETCHER, PROXY].map(|mechanism| CasePair::new(case, host.clone(), mechanism));
        AttackTrial::new(pairs.to_vec(), move |place, pairs| fetch_pairs(host.clone(), place, pairs)).alone()
    });
    let urls = DIFFERENTIALS.iter().map(|url| {
        let pair = CasePair::new(41, url.escape_debug().to_string(), "the strict reading of the fetcher");
        AttackTrial::new(vec![pair], move |place, pairs| read_in_two_ways(url, place, pairs)).alone()
    });
    let names =
        [FETCHER, PROXY].map(|mechanism| CasePair::new(39, "a name that changes its mind", mechanism));
    let search = [FETCHER, PROXY].map(|mechanism| CasePair::new(39, "a name of the local domain", mechanism));
    let named = CasePair::new(42, "a proxy that the environment names", "the fetcher");
    hosts
        .chain(urls)
        .chain([
            AttackTrial::new(names.to_vec(), changes_its_mind).alone(),
            AttackTrial::new(search.to_vec(), below_the_local_domain).alone(),
            AttackTrial::new(vec![named], named_by_the_environment).alone(),
        ])
        .collect()
}

/// What a number of touches comes to.
pub(super) fn came(before: usize, after: usize) -> Vec<String> {
    if after > before {
        vec![format!("{} connections came to the canary", after - before)]
    } else {
        Vec::new()
    }
}

/// Has one of our ways out ask a host for its root, and returns what was touched.
async fn by(mechanism: &str, world: &FetchWorld, host: &str, port: u16) -> io::Result<Vec<String>> {
    let before = world.touches().await;
    if mechanism == FETCHER {
        // Whatever it answers: the judge looks at the canary.
        let _ = world.fetch(FetchRequest::get(format!("http://{host}:{port}/"))).await;
    } else {
        let said = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n");
        let bare = host.trim_matches(['[', ']']).to_lowercase();
        let granted = [(host, port), (bare.as_str(), port), ("127.0.0.1", port), ("localhost", port)];
        world.proxied(said.as_bytes(), &granted).await?;
    }
    Ok(came(before, world.touches().await))
}

async fn fetch_pairs(host: String, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| {
        let host = host.clone();
        async move {
            let world = world().await?;
            let touched = by(&mechanism, world, &host, CANARY_PORT).await?;
            let before = world.touches().await;
            if mechanism == FETCHER {
                careless::fetch(&format!("http://{host}:{CANARY_PORT}/"), "", 1).await?;
            } else {
                let said = format!("CONNECT {host}:{CANARY_PORT} HTTP/1.1\r\nHost: {host}\r\n\r\n");
                careless::proxied(said.as_bytes(), TrustedPart::StartLine).await?;
            }
            Ok(Some((touched, came(before, world.touches().await))))
        }
    })
    .await
}

async fn read_in_two_ways(url: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        let before = world.touches().await;
        let _ = world.fetch(FetchRequest::get(url)).await;
        let touched = came(before, world.touches().await);
        let before = world.touches().await;
        careless::fetch(url, "", 1).await?;
        Ok(Some((touched, came(before, world.touches().await))))
    })
    .await
}

/// The first answer is public, the second is this machine.
async fn changes_its_mind(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| async move {
        let world = world().await?;
        let name = if mechanism == FETCHER { "rebinding-fetch.example" } else { "rebinding-proxy.example" };
        let mut touched = Vec::new();
        for _ in 0..3 {
            touched.extend(by(&mechanism, world, name, CANARY_PORT).await?);
        }
        if world.dns.asked(name) < 2 {
            return Err(io::Error::other("the name was not asked for again"));
        }
        // Looks, judges, and lets the library look again.
        let before = world.touches().await;
        for _ in 0..2 {
            careless::fetch(&format!("http://rebinding-control.example.:{CANARY_PORT}/"), "", 1).await?;
        }
        Ok(Some((touched, came(before, world.touches().await))))
    })
    .await
}

/// A name that nobody knows is not looked for below the local domain.
async fn below_the_local_domain(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| async move {
        let world = world().await?;
        let touched = by(&mechanism, world, "nowhere.example", CANARY_PORT).await?;
        let before = world.touches().await;
        careless::fetch(&format!("http://nowhere.example:{CANARY_PORT}/"), "", 1).await?;
        Ok(Some((touched, came(before, world.touches().await))))
    })
    .await
}

/// The canary is the proxy that variables name.
async fn named_by_the_environment(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        let before = world.touches().await;
        let _ = world.fetch(FetchRequest::get(format!("http://public.example:{PUBLIC_PORT}/"))).await;
        let touched = came(before, world.touches().await);
        let before = world.touches().await;
        let proxy = std::env::var("http_proxy").map_err(io::Error::other)?;
        careless::fetch(&proxy, "", 1).await?;
        Ok(Some((touched, came(before, world.touches().await))))
    })
    .await
}
