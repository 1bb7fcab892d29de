//! What is kept, for whom, and what never is.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_ports::{
    BodyCompleteness, CancelFlag, FetchError, FetchHttp, FetchMethod, FetchRequest, FetchResponse, HostRule,
    HostScope,
};
use palyra_types::PrincipalId;

use super::{AnswerCache, CacheLimits, CachedFetch};

/// Counts its fetches and answers with the headers it was told.
struct Counting {
    fetches: AtomicUsize,
    headers: Mutex<Vec<(&'static str, &'static str)>>,
}

impl FetchHttp for Counting {
    fn fetch(
        &self,
        request: FetchRequest,
        _: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        self.fetches.fetch_add(1, Ordering::Relaxed);
        let headers = self.headers.lock().unwrap().clone();
        let response = FetchResponse {
            url: request.url,
            hops: Vec::new(),
            status: 200,
            headers: headers.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect(),
            body: b"0123456789".to_vec().into(),
            completeness: BodyCompleteness::Whole,
        };
        Box::pin(async move { Ok(response) })
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
        let server = Arc::new(Counting { fetches: AtomicUsize::new(0), headers });
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
async fn a_change_makes_what_is_kept_of_its_address_old() {
    let bench = Bench::new(&[("cache-control", "max-age=60")]);
    for path in ["a", "b"] {
        bench.fetch(1, page(path)).await;
    }
    assert_eq!(bench.fetch(2, page("a")).await, 3);
    let mut change = page("a#there");
    change.method = FetchMethod::Put;
    assert_eq!(bench.fetch(1, change).await, 4);
    assert_eq!(bench.fetch(1, page("b")).await, 4);
    assert_eq!(bench.fetch(2, page("a")).await, 4);
    assert_eq!(bench.fetch(1, page("a")).await, 5);
    let mut unheard = page("a");
    unheard.method = FetchMethod::Post;
    drop(bench.of(1).fetch(unheard, CancelFlag::default()));
    assert_eq!(bench.fetch(1, page("a")).await, 5);
    assert_eq!(bench.fetch(1, page("a")).await, 5);
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
    // An answer takes its body, a header and twice its address: 77 bytes.
    let bytes = CacheLimits { bytes_max: 3 * 77 - 1, ..CacheLimits::default() };
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
