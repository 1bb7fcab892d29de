//! What is kept, for whom, and what never is.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_ports::{
    BodyCompleteness, BoundCredential, CancelFlag, CredentialHandle, FetchError, FetchFailure, FetchHop,
    FetchHttp, FetchMethod, FetchReach, FetchRequest, FetchResponse, HostRule, HostScope,
};
use palyra_types::PrincipalId;
use tokio::sync::oneshot;

use super::{AnswerCache, CacheLimits, CachedFetch};

/// Counts its fetches and answers with the headers it was told.
struct Counting {
    fetches: AtomicUsize,
    headers: Mutex<Vec<(&'static str, &'static str)>>,
    answering: Mutex<Answering>,
    held: Mutex<Option<oneshot::Receiver<()>>>,
}

/// How it answers beside that.
#[derive(Debug, Clone)]
struct Answering {
    status: u16,
    completeness: BodyCompleteness,
    hops: Vec<FetchHop>,
    is_lost: bool,
}

impl Counting {
    fn set(&self, change: impl FnOnce(&mut Answering)) {
        change(&mut self.answering.lock().unwrap());
    }

    /// Has the next answer wait until it is told to come.
    fn hold(&self) -> oneshot::Sender<()> {
        let (tell, told) = oneshot::channel();
        *self.held.lock().unwrap() = Some(told);
        tell
    }
}

impl FetchHttp for Counting {
    fn fetch(
        &self,
        request: FetchRequest,
        _: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        self.fetches.fetch_add(1, Ordering::Relaxed);
        let headers = self.headers.lock().unwrap().clone();
        let Answering { status, completeness, hops, is_lost } = self.answering.lock().unwrap().clone();
        let held = self.held.lock().unwrap().take();
        let response = FetchResponse {
            url: request.url,
            hops,
            status,
            headers: headers.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect(),
            body: b"0123456789".to_vec().into(),
            completeness,
        };
        let failure = FetchFailure::Answer { reason: "it ended before its headers did" };
        let lost = FetchError { failure, reached: FetchReach::PerhapsDone };
        Box::pin(async move {
            if let Some(held) = held {
                held.await.unwrap();
            }
            if is_lost { Err(lost) } else { Ok(response) }
        })
    }
}

struct Bench {
    server: Arc<Counting>,
    cache: Arc<AnswerCache>,
}

impl Bench {
    fn new(headers: &[(&'static str, &'static str)]) -> Self {
        Self::limited(headers, CacheLimits::default())
    }

    fn limited(headers: &[(&'static str, &'static str)], limits: CacheLimits) -> Self {
        let headers = Mutex::new(headers.to_vec());
        let answering = Answering {
            status: 200,
            completeness: BodyCompleteness::Whole,
            hops: Vec::new(),
            is_lost: false,
        };
        let (answering, held) = (Mutex::new(answering), Mutex::default());
        let server = Arc::new(Counting { fetches: AtomicUsize::new(0), headers, answering, held });
        Self { server, cache: Arc::new(AnswerCache::new(limits)) }
    }

    fn of(&self, principal: u128) -> CachedFetch {
        self.cache.serving(PrincipalId::from_parts(1, principal), self.server.clone())
    }

    /// Fetches for a principal and returns how many fetches there were so far.
    async fn fetch(&self, principal: u128, request: FetchRequest) -> usize {
        let answer = self.of(principal).fetch(request, CancelFlag::default()).await.unwrap();
        assert_eq!(answer.body.expose(), b"0123456789");
        self.server.fetches.load(Ordering::Relaxed)
    }
}

fn page(path: &str) -> FetchRequest {
    FetchRequest::get(format!("https://open.example/{path}"))
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_as_long_as_its_server_says() {
    let bench =
        Bench::new(&[("cache-control", "public, max-age=60"), ("age", "20"), ("vary", "Accept-Encoding")]);
    assert_eq!(bench.fetch(1, page("a")).await, 1);
    tokio::time::advance(Duration::from_secs(39)).await;
    assert_eq!(bench.fetch(1, page("a#there")).await, 1);
    assert_eq!(bench.fetch(1, page("a?b")).await, 2);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(bench.fetch(1, page("a")).await, 3);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_longer_than_we_keep_things() {
    let bench = Bench::new(&[("cache-control", "max-age=99999999")]);
    bench.fetch(1, page("a")).await;
    tokio::time::advance(CacheLimits::default().age_max).await;
    assert_eq!(bench.fetch(1, page("a")).await, 2);
}

#[tokio::test]
async fn nobody_is_served_what_another_fetched() {
    let bench = Bench::new(&[("cache-control", "max-age=60")]);
    assert_eq!(bench.fetch(1, page("a")).await, 1);
    assert_eq!(bench.fetch(2, page("a")).await, 2);
    assert_eq!(bench.fetch(1, page("a")).await, 2);
}

#[tokio::test]
async fn what_may_not_be_kept_is_not() {
    for headers in [
        &[][..],
        &[("cache-control", "no-store, max-age=60")],
        &[("cache-control", "max-age=60"), ("cache-control", "No-Store")],
        &[("cache-control", "no-cache=\"set-cookie\", max-age=60")],
        &[("cache-control", "max-age=0")],
        &[("cache-control", "max-age=60, max-age=0")],
        &[("cache-control", "max-age=x")],
        &[("cache-control", "max-age=60"), ("age", "60")],
        &[("cache-control", "max-age=60"), ("vary", "*")],
        &[("cache-control", "max-age=60"), ("vary", "cookie")],
        &[("expires", "Thu, 01 Jan 2099 00:00:00 GMT")],
    ] {
        let bench = Bench::new(headers);
        bench.fetch(1, page("a")).await;
        assert_eq!(bench.fetch(1, page("a")).await, 2, "{headers:?}");
    }
}

#[tokio::test]
async fn requests_that_say_who_asks_pass_by() {
    let bench = Bench::new(&[("cache-control", "max-age=60")]);
    bench.fetch(1, page("a")).await;
    let mut request = page("a");
    request.headers = vec![("authorization".to_owned(), "x".into())];
    assert_eq!(bench.fetch(1, request.clone()).await, 2);
    assert_eq!(bench.fetch(1, request).await, 3);
}

#[tokio::test]
async fn a_change_makes_what_is_kept_of_its_host_old() {
    let bench = Bench::new(&[("cache-control", "max-age=60")]);
    let elsewhere = || FetchRequest::get("https://other.example/a");
    for request in [page("a"), page("b"), elsewhere()] {
        bench.fetch(1, request).await;
    }
    assert_eq!(bench.fetch(2, page("a")).await, 4);
    let mut change = page("c#there");
    change.method = FetchMethod::Put;
    assert_eq!(bench.fetch(1, change).await, 5);
    assert_eq!(bench.fetch(1, elsewhere()).await, 5);
    assert_eq!(bench.fetch(2, page("a")).await, 5);
    assert_eq!(bench.fetch(1, page("a")).await, 6);
    assert_eq!(bench.fetch(1, page("b")).await, 7);
    let mut unheard = page("a");
    unheard.method = FetchMethod::Post;
    drop(bench.of(1).fetch(unheard.clone(), CancelFlag::default()));
    assert_eq!(bench.fetch(1, page("a")).await, 7);
    // One whose answer is lost may have been made, and at another address of its host.
    bench.server.set(|server| server.is_lost = true);
    assert!(bench.of(1).fetch(unheard, CancelFlag::default()).await.is_err());
    bench.server.set(|server| server.is_lost = false);
    assert_eq!(bench.fetch(1, page("a")).await, 9);
    assert_eq!(bench.fetch(1, page("b")).await, 10);
}

#[tokio::test]
async fn an_answer_from_before_a_change_is_not_kept() {
    let mut change = page("b");
    change.method = FetchMethod::Put;
    for (whose, is_kept) in [(1, false), (2, true)] {
        let bench = Bench::new(&[("cache-control", "max-age=60")]);
        let (one, other) = (bench.of(1), bench.of(whose));
        let slow = bench.server.hold();
        let mut asks = one.fetch(page("a"), CancelFlag::default());
        assert!(futures::poll!(&mut asks).is_pending());
        other.fetch(change.clone(), CancelFlag::default()).await.unwrap();
        slow.send(()).unwrap();
        asks.await.unwrap();
        let before = bench.server.fetches.load(Ordering::Relaxed);
        assert_eq!(bench.fetch(1, page("a")).await == before, is_kept, "{whose}");
    }
}

#[tokio::test]
async fn a_change_that_goes_past_the_cache_counts_for_everybody() {
    let bench = Bench::new(&[("cache-control", "max-age=60")]);
    for principal in [1, 2] {
        bench.fetch(principal, page("a")).await;
    }
    let past = bench.cache.passed_by(bench.server.clone());
    let mut request = page("a");
    past.fetch(request.clone(), CancelFlag::default()).await.unwrap();
    assert_eq!(bench.fetch(1, page("a")).await, 3);
    request.method = FetchMethod::Delete;
    past.fetch(request, CancelFlag::default()).await.unwrap();
    assert_eq!(bench.fetch(1, page("a")).await, 5);
    assert_eq!(bench.fetch(2, page("a")).await, 6);
}

#[tokio::test]
async fn more_changes_than_are_remembered_count_everywhere() {
    let bench = Bench::new(&[("cache-control", "max-age=60")]);
    let slow = bench.server.hold();
    let one = bench.of(1);
    let mut asks = one.fetch(page("a"), CancelFlag::default());
    assert!(futures::poll!(&mut asks).is_pending());
    for number in 0..=super::CHANGED_MAX {
        let mut change = FetchRequest::get(format!("https://h{number}.example/"));
        change.method = FetchMethod::Put;
        bench.of(1).fetch(change, CancelFlag::default()).await.unwrap();
    }
    assert!(bench.cache.shelf().changes.last.len() <= super::CHANGED_MAX);
    slow.send(()).unwrap();
    asks.await.unwrap();
    let before = bench.server.fetches.load(Ordering::Relaxed);
    assert_eq!(bench.fetch(1, page("a")).await, before + 1);
}

#[tokio::test]
async fn only_whole_answers_to_plain_questions_are_kept() {
    let hop = || FetchHop { status: 302, from: page("b").url, next: FetchMethod::Get };
    let (plain, head, mut named, mut bound) = (page("a"), page("a"), page("a"), page("a"));
    let head = FetchRequest { method: FetchMethod::Head, ..head };
    named.headers = vec![("accept".to_owned(), "text/html".into())];
    bound.credentials = vec![BoundCredential {
        host: "open.example".to_owned(),
        port: 443,
        handle: CredentialHandle("key".to_owned()),
        used_by: None,
    }];
    let ordinary =
        Answering { status: 200, completeness: BodyCompleteness::Whole, hops: vec![], is_lost: false };
    for (told, request, answering, is_kept) in [
        ("the control", &plain, ordinary.clone(), true),
        ("a question for headers", &head, ordinary.clone(), false),
        ("with a header", &named, ordinary.clone(), false),
        ("with a credential", &bound, ordinary.clone(), false),
        ("not found", &plain, Answering { status: 404, ..ordinary.clone() }, false),
        ("cut", &plain, Answering { completeness: BodyCompleteness::Cut, ..ordinary.clone() }, false),
        ("led on", &plain, Answering { hops: vec![hop()], ..ordinary }, false),
    ] {
        let bench = Bench::new(&[("cache-control", "max-age=60")]);
        bench.server.set(|server| *server = answering);
        bench.fetch(1, request.clone()).await;
        let times = if is_kept { 1 } else { 2 };
        assert_eq!(bench.fetch(1, request.clone()).await, times, "{told}");
        // Nor is it there for whoever asks plainly.
        assert_eq!(bench.fetch(1, page("a")).await == times, is_kept, "{told}");
    }
}

#[tokio::test]
async fn a_long_header_takes_room_like_a_body() {
    const LONG: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    let limits = CacheLimits { bytes_max: 100, ..CacheLimits::default() };
    let bench = Bench::limited(&[("cache-control", "max-age=60"), ("x", LONG)], limits);
    bench.fetch(1, page("a")).await;
    assert_eq!(bench.fetch(1, page("a")).await, 2);
    let bench = Bench::limited(&[("cache-control", "max-age=60")], limits);
    bench.fetch(1, page("a")).await;
    assert_eq!(bench.fetch(1, page("a")).await, 1);
}

#[tokio::test]
async fn a_kept_answer_is_held_to_the_grant_of_the_moment() {
    let bench = Bench::new(&[("cache-control", "max-age=60")]);
    bench.fetch(1, page("a")).await;
    let mut request = page("a");
    request.hosts = HostScope::Only(vec![HostRule::exact("other.example")]);
    // It goes on to the fetcher, who refuses it.
    assert_eq!(bench.fetch(1, request.clone()).await, 2);
    request.hosts = HostScope::Only(vec![HostRule::exact("open.example")]);
    assert_eq!(bench.fetch(1, request.clone()).await, 2);
    request.limits.body_bytes_max = 9;
    assert_eq!(bench.fetch(1, request).await, 3);
}

#[tokio::test]
async fn the_oldest_makes_room() {
    let answers = CacheLimits { answers_max: 2, ..CacheLimits::default() };
    // An answer takes its body, a header, twice its address and its host: 89 bytes.
    let bytes = CacheLimits { bytes_max: 3 * 89 - 1, ..CacheLimits::default() };
    for limits in [answers, bytes] {
        let bench = Bench::limited(&[("cache-control", "max-age=60")], limits);
        for path in ["a", "b", "c"] {
            bench.fetch(1, page(path)).await;
        }
        assert_eq!(bench.fetch(1, page("b")).await, 3);
        assert_eq!(bench.fetch(1, page("c")).await, 3);
        assert_eq!(bench.fetch(1, page("a")).await, 4);
    }
    let nothing = CacheLimits { bytes_max: 9, ..CacheLimits::default() };
    let bench = Bench::limited(&[("cache-control", "max-age=60")], nothing);
    bench.fetch(1, page("a")).await;
    assert_eq!(bench.fetch(1, page("a")).await, 2);
}
