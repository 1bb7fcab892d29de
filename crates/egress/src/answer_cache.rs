//! Answers that are still good, so that a page is not fetched twice.
//!
//! Owns what may be kept, for how long, and for whom: an answer is served to the principal who fetched it and to nobody
//! else. Kept in memory only. Invariant: nothing is kept that its server did not allow to keep, nothing that was asked
//! for with a key, nothing of a host at which its principal has changed something since the question began, and never more
//! than [`CacheLimits`]; a kept answer is served only where the grant of the moment covers the host that it came from.
//! Begin at [`CachedFetch`].

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_ports::{
    BodyCompleteness, CancelFlag, FetchError, FetchHttp, FetchMethod, FetchRequest, FetchResponse, HostScope,
};
use palyra_types::PrincipalId;
use tokio::time::Instant;

use crate::target::Target;

/// What the cache may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// Answers of all principals together.
    pub answers_max: usize,
    /// Their bodies, headers and addresses together.
    pub bytes_max: usize,
    /// How long an answer is kept at most, whatever its server says.
    pub age_max: Duration,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { answers_max: 256, bytes_max: 32 << 20, age_max: Duration::from_secs(15 * 60) }
    }
}

/// Hosts of which the last change is remembered, at most.
const CHANGED_MAX: usize = 1024;

/// The answers that are kept.
pub struct AnswerCache {
    limits: CacheLimits,
    shelf: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    /// From old to new.
    kept: VecDeque<CachedAnswer>,
    changes: ChangeLog,
}

/// How many changes there were, and which was the last one at a host.
#[derive(Default)]
struct ChangeLog {
    count: u64,
    last: HashMap<(AnswerOwner, String), u64>,
    /// Changes up to this one may have been anywhere.
    anywhere: u64,
}

impl ChangeLog {
    fn note(&mut self, whose: AnswerOwner, host: &str) {
        self.count += 1;
        if self.last.len() >= CHANGED_MAX {
            self.last.clear();
            self.anywhere = self.count;
        }
        self.last.insert((whose, host.to_owned()), self.count);
    }

    /// Returns whether a principal's answers of a host may have become old since there were so many changes.
    fn is_outdated(&self, principal: PrincipalId, host: &str, since: u64) -> bool {
        let last = |whose| self.last.get(&(whose, host.to_owned())).copied().unwrap_or(0);
        let latest = last(AnswerOwner::Of(principal)).max(last(AnswerOwner::Everybodys));
        latest.max(self.anywhere) > since
    }
}

/// Whose answers a change makes old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum AnswerOwner {
    Of(PrincipalId),
    Everybodys,
}

impl AnswerOwner {
    fn covers(self, principal: PrincipalId) -> bool {
        match self {
            Self::Of(one) => one == principal,
            Self::Everybodys => true,
        }
    }
}

struct CachedAnswer {
    principal: PrincipalId,
    url: String,
    host: String,
    good_until: Instant,
    bytes: usize,
    response: Arc<FetchResponse>,
}

/// The address of an answer, and the host whose changes make it old.
struct AnswerKey {
    url: String,
    host: String,
}

/// Fetches for one principal, and keeps what may be kept.
#[derive(Clone)]
pub struct CachedFetch {
    inner: Arc<dyn FetchHttp>,
    cache: Arc<AnswerCache>,
    principal: PrincipalId,
}

/// Fetches without keeping anything, for whoever it is; a change makes all that is kept of its host old.
#[derive(Clone)]
pub struct CacheBypass {
    inner: Arc<dyn FetchHttp>,
    cache: Arc<AnswerCache>,
}

impl AnswerCache {
    /// Makes an empty cache.
    #[must_use]
    pub fn new(limits: CacheLimits) -> Self {
        Self { limits, shelf: Mutex::default() }
    }

    /// Returns a fetcher that keeps answers here for one principal.
    pub fn serving(self: &Arc<Self>, principal: PrincipalId, inner: Arc<dyn FetchHttp>) -> CachedFetch {
        CachedFetch { inner, cache: self.clone(), principal }
    }

    /// Returns a fetcher that keeps nothing, and whose changes are heeded.
    pub fn passed_by(self: &Arc<Self>, inner: Arc<dyn FetchHttp>) -> CacheBypass {
        CacheBypass { inner, cache: self.clone() }
    }

    fn shelf(&self) -> MutexGuard<'_, CacheState> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is kept, or how many changes there were when there was nothing.
    fn find(
        &self,
        principal: PrincipalId,
        url: &str,
        request: &FetchRequest,
    ) -> Result<Arc<FetchResponse>, u64> {
        let now = Instant::now();
        let mut shelf = self.shelf();
        shelf.kept.retain(|kept| kept.good_until > now);
        let kept = shelf.kept.iter().find(|kept| kept.principal == principal && kept.url == url);
        let kept = kept.filter(|kept| fits(&kept.response, request));
        kept.map(|kept| Arc::clone(&kept.response)).ok_or(shelf.changes.count)
    }

    /// Keeps an answer to a question that began when there were so many changes.
    fn keep(&self, principal: PrincipalId, key: AnswerKey, begun: u64, response: &FetchResponse) {
        let Some(good_for) = good_for(response) else { return };
        let AnswerKey { url, host } = key;
        let bytes = url.len() + host.len() + bytes_of(response);
        if bytes > self.limits.bytes_max || self.limits.answers_max == 0 {
            return;
        }
        let kept = CachedAnswer {
            principal,
            url,
            host,
            good_until: Instant::now() + good_for.min(self.limits.age_max),
            bytes,
            response: Arc::new(response.clone()),
        };
        let mut shelf = self.shelf();
        if shelf.changes.is_outdated(principal, &kept.host, begun) {
            return;
        }
        let shelf = &mut shelf.kept;
        shelf.retain(|old| old.principal != kept.principal || old.url != kept.url);
        let all = |shelf: &VecDeque<CachedAnswer>| -> usize { shelf.iter().map(|old| old.bytes).sum() };
        while shelf.len() >= self.limits.answers_max || all(shelf) + bytes > self.limits.bytes_max {
            shelf.pop_front();
        }
        shelf.push_back(kept);
    }

    fn forget(&self, whose: AnswerOwner, host: &str) {
        let mut shelf = self.shelf();
        shelf.changes.note(whose, host);
        shelf.kept.retain(|kept| !whose.covers(kept.principal) || kept.host != host);
    }
}

/// Makes what is kept of a host old when the request that may have changed it is over, however that was.
struct OutdateGuard {
    cache: Arc<AnswerCache>,
    whose: AnswerOwner,
    host: String,
}

impl OutdateGuard {
    /// Returns what holds until a change is over. Where it was made is for its server to say (RFC 9111, section 4.4), so
    /// that all of the host is meant, to which redirects of a change are confined.
    fn by(cache: &Arc<AnswerCache>, whose: AnswerOwner, request: &FetchRequest) -> Option<Self> {
        if request.method.is_safe() {
            return None;
        }
        let host = host_of(&Target::read(request.url.expose()).ok()?);
        Some(Self { cache: Arc::clone(cache), whose, host })
    }
}

impl Drop for OutdateGuard {
    fn drop(&mut self) {
        self.cache.forget(self.whose, &self.host);
    }
}

impl FetchHttp for CachedFetch {
    fn fetch(
        &self,
        request: FetchRequest,
        cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        let cached = self.clone();
        Box::pin(async move {
            let Some(target) = key(&request) else {
                let _outdated = OutdateGuard::by(&cached.cache, AnswerOwner::Of(cached.principal), &request);
                return cached.inner.fetch(request, cancel).await;
            };
            let key = AnswerKey { url: target.to_url(), host: host_of(&target) };
            let begun = match cached.cache.find(cached.principal, &key.url, &request) {
                Ok(kept) => return Ok(FetchResponse::clone(&kept)),
                Err(begun) => begun,
            };
            let response = cached.inner.fetch(request, cancel).await?;
            cached.cache.keep(cached.principal, key, begun, &response);
            Ok(response)
        })
    }
}

impl FetchHttp for CacheBypass {
    fn fetch(
        &self,
        request: FetchRequest,
        cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        let past = self.clone();
        Box::pin(async move {
            let _outdated = OutdateGuard::by(&past.cache, AnswerOwner::Everybodys, &request);
            past.inner.fetch(request, cancel).await
        })
    }
}

fn host_of(target: &Target) -> String {
    target.endpoint().host.to_string()
}

/// Returns what an answer is kept under; nothing for requests that say more than an address.
fn key(request: &FetchRequest) -> Option<Target> {
    let plain =
        request.method == FetchMethod::Get && request.headers.is_empty() && request.credentials.is_empty();
    plain.then(|| Target::read(request.url.expose()).ok()).flatten()
}

/// What an answer takes up.
fn bytes_of(response: &FetchResponse) -> usize {
    let headers = response.headers.iter().map(|(name, value)| name.len() + value.expose().len());
    response.body.expose().len() + response.url.expose().len() + headers.sum::<usize>()
}

/// A request hears only what it might have fetched by itself.
fn fits(response: &FetchResponse, request: &FetchRequest) -> bool {
    let covered = |url: &String| match &request.hosts {
        HostScope::AnyPublic => true,
        only @ HostScope::Only(_) => Target::read(url).is_ok_and(|target| {
            let endpoint = target.endpoint();
            only.covers(&endpoint.host.to_string(), endpoint.port)
        }),
    };
    covered(response.url.expose()) && response.body.expose().len() <= request.limits.body_bytes_max
}

/// Returns how long an answer is good for by its server's word (RFC 9111), if it may be kept at all. Nothing is guessed
/// where the server says nothing.
fn good_for(response: &FetchResponse) -> Option<Duration> {
    // A redirect has rules of its own on how long it holds, which are not kept.
    if response.status != 200 || response.completeness != BodyCompleteness::Whole || !response.hops.is_empty()
    {
        return None;
    }
    let values = |name: &'static str| {
        let named = response.headers.iter().filter(move |(header, _)| header == name);
        named.flat_map(|(_, value)| value.expose().split(',')).map(|value| value.trim().to_ascii_lowercase())
    };
    if values("vary").any(|header| header != "accept-encoding") {
        return None;
    }
    let mut age_max = None;
    for directive in values("cache-control") {
        match directive.split_once('=') {
            None if matches!(directive.as_str(), "no-store" | "no-cache") => return None,
            Some(("no-cache", _)) => return None,
            Some(("max-age", seconds)) => {
                let seconds: u64 = seconds.trim_matches('"').parse().ok()?;
                age_max = Some(age_max.map_or(seconds, |least: u64| least.min(seconds)));
            }
            None | Some(_) => (),
        }
    }
    let age = values("age").next().map_or(Some(0), |age| age.parse::<u64>().ok())?;
    let rest = age_max?.saturating_sub(age);
    (rest > 0).then(|| Duration::from_secs(rest))
}

#[cfg(test)]
mod tests;
