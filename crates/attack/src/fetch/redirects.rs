//! Redirects to places that would not be fetched, and what they must not carry along (40).

use palyra_ports::FetchRequest;

use super::addresses::came;
use super::careless;
use super::listeners::ServerStep;
use super::world::{CANARY_PORT, FetchWorld, OTHER_PORT, PUBLIC_PORT, world};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Codes and where they lead: `{C}` is the canary's port, `{P}` the public server's, `{O}` another one's.
const LEADING: &[(&str, u16, &str)] = &[
    ("301 to this machine", 301, "http://127.0.0.1:{C}/"),
    ("302 to this machine", 302, "http://127.0.0.1:{C}/"),
    ("303 to this machine", 303, "http://127.0.0.1:{C}/"),
    ("307 to this machine", 307, "http://127.0.0.1:{C}/"),
    ("308 to this machine", 308, "http://127.0.0.1:{C}/"),
    ("to another spelling", 302, "http://2130706433:{C}/"),
    ("to an address within another", 302, "http://[64:ff9b::7f00:1]:{C}/"),
    ("to a name that points here", 302, "http://pointing.example:{C}/"),
    ("to the metadata of a cloud", 302, "http://169.254.169.254:{C}/latest/"),
    ("without a scheme", 302, "//127.0.0.1:{C}/"),
    ("with backslashes", 302, "\\\\127.0.0.1:{C}\\"),
    ("with a user in front", 302, "http://public.example@127.0.0.1:{C}/"),
    ("to a server of the surroundings", 302, "http://10.1.2.3:{C}/"),
];

/// Headers that tell who asks.
const TELLING: &[&str] = &["Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "X-Auth-Token"];

const FETCHER: &str = "the walk of the fetcher";
const KEY: &str = "canary-7f3a91";

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let leading = LEADING.iter().map(|&(variant, status, location)| {
        let pair = CasePair::new(40, variant, FETCHER);
        AttackTrial::new(vec![pair], move |place, pairs| led(status, location, place, pairs)).alone()
    });
    let telling = TELLING.iter().flat_map(|&header| {
        [("another port", "http://public.example:{O}/"), ("another host", "http://9.9.9.9:{O}/")].map(
            |(whom, location)| {
                let pair = CasePair::new(40, format!("{header} to {whom}"), FETCHER);
                AttackTrial::new(vec![pair], move |place, pairs| carried(header, location, place, pairs))
                    .alone()
            },
        )
    });
    let endless = AttackTrial::new(vec![CasePair::new(40, "in a circle", FETCHER)], in_a_circle).alone();
    let chain =
        AttackTrial::new(vec![CasePair::new(40, "at the end of a chain", FETCHER)], at_the_end).alone();
    leading.chain(telling).chain([endless, chain]).collect()
}

fn to(status: u16, location: &str) -> Vec<ServerStep> {
    let location = location
        .replace("{C}", &CANARY_PORT.to_string())
        .replace("{P}", &PUBLIC_PORT.to_string())
        .replace("{O}", &OTHER_PORT.to_string());
    let head = format!(
        "HTTP/1.1 {status} Elsewhere\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    vec![head.as_str().into()]
}

fn start() -> String {
    format!("http://public.example:{PUBLIC_PORT}/")
}

async fn led(
    status: u16,
    location: &'static str,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        world.public.answers(to(status, location));
        let before = world.touches().await;
        let _ = world.fetch(FetchRequest::get(start())).await;
        let touched = came(before, world.touches().await);
        let before = world.touches().await;
        careless::fetch(&start(), "", 3).await?;
        Ok(Some((touched, came(before, world.touches().await))))
    })
    .await
}

/// What the other server heard of the key.
fn received(world: &FetchWorld) -> Vec<String> {
    if world.other.received().contains(KEY) {
        vec!["another server heard the key".to_owned()]
    } else {
        Vec::new()
    }
}

async fn carried(
    header: &'static str,
    location: &'static str,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        let song = || vec!["HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok".into()];
        world.public.answers(to(302, location));
        world.other.answers(song());
        let mut request = FetchRequest::get(start());
        request.headers = vec![(header.to_owned(), KEY.to_owned().into())];
        let _ = world.fetch(request).await;
        let touched = received(world);
        world.other.answers(song());
        careless::fetch(&start(), &format!("{header}: {KEY}\r\n"), 3).await?;
        Ok(Some((touched, received(world))))
    })
    .await
}

/// More requests than anybody needs: the canary is their count.
async fn in_a_circle(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    const REQUESTS_MAX: usize = 20;
    let count = |requests: usize| {
        if requests > REQUESTS_MAX { vec![format!("{requests} requests were made")] } else { Vec::new() }
    };
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        world.public.answers(to(307, "/again"));
        let before = world.public.touches();
        let _ = world.fetch(FetchRequest::get(start())).await;
        let touched = count(world.public.touches() - before);
        let before = world.public.touches();
        careless::fetch(&start(), "", 50).await?;
        Ok(Some((touched, count(world.public.touches() - before))))
    })
    .await
}

/// The public server sends to another public one, and only that one to this machine.
async fn at_the_end(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        world.public.answers(to(302, "http://public.example:{O}/"));
        world.other.answers(to(302, "http://127.0.0.1:{C}/"));
        let before = world.touches().await;
        let _ = world.fetch(FetchRequest::get(start())).await;
        let touched = came(before, world.touches().await);
        if world.other.received().is_empty() {
            return Err(std::io::Error::other("the chain was not followed at all"));
        }
        let before = world.touches().await;
        careless::fetch(&start(), "", 4).await?;
        Ok(Some((touched, came(before, world.touches().await))))
    })
    .await
}
