//! Answers that are still good, so that a page is not fetched twice.
//!
//! Owns what may be kept, for how long, and for whom: an answer is served to the principal who fetched it and to nobody
//! else. Kept in memory only. Invariant: nothing is kept that its server did not allow to keep, nothing that was asked
//! for with a key, nothing of an address that its principal has changed since, and never more than [`CacheLimits`]; a kept
//! answer is served only where the grant of the moment covers the host that it came from.
//! Begin at [`CachedFetch`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
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

/// The answers that are kept, from old to new.
pub struct AnswerCache {
    limits: CacheLimits,
    shelf: Mutex<VecDeque<Kept>>,
}

struct Kept {
    principal: PrincipalId,
    url: String,
    good_until: Instant,
    bytes: usize,
    response: Arc<FetchResponse>,
}

/// Fetches for one principal, and keeps what may be kept.
#[derive(Clone)]
pub struct CachedFetch {
    inner: Arc<dyn FetchHttp>,
    cache: Arc<AnswerCache>,
    principal: PrincipalId,
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

    fn find(&self, principal: PrincipalId, url: &str, request: &FetchRequest) -> Option<Arc<FetchResponse>> {
        let now = Instant::now();
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.retain(|kept| kept.good_until > now);
        let kept = shelf.iter().find(|kept| kept.principal == principal && kept.url == url)?;
        fits(&kept.response, request).then(|| Arc::clone(&kept.response))
    }

    fn keep(&self, principal: PrincipalId, url: String, response: &FetchResponse) {
        let Some(good_for) = good_for(response) else { return };
        let bytes = url.len() + bytes_of(response);
        if bytes > self.limits.bytes_max || self.limits.answers_max == 0 {
            return;
        }
        let kept = Kept {
            principal,
            url,
            good_until: Instant::now() + good_for.min(self.limits.age_max),
            bytes,
            response: Arc::new(response.clone()),
        };
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.retain(|old| old.principal != kept.principal || old.url != kept.url);
        let all = |shelf: &VecDeque<Kept>| -> usize { shelf.iter().map(|old| old.bytes).sum() };
        while shelf.len() >= self.limits.answers_max || all(&shelf) + bytes > self.limits.bytes_max {
            shelf.pop_front();
        }
        shelf.push_back(kept);
    }

    fn forget(&self, principal: PrincipalId, url: &str) {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.retain(|kept| kept.principal != principal || kept.url != url);
    }
}

/// Forgets what is kept of an address when the request that may have changed it is over, however that was.
struct Outdated {
    cache: Arc<AnswerCache>,
    principal: PrincipalId,
    url: String,
}

impl Drop for Outdated {
    fn drop(&mut self) {
        self.cache.forget(self.principal, &self.url);
    }
}

impl CachedFetch {
    /// Returns what holds until a change is over (RFC 9111, section 4.4).
    fn outdated_by(&self, request: &FetchRequest) -> Option<Outdated> {
        if request.method.is_safe() {
            return None;
        }
        let url = Target::read(request.url.expose()).ok()?.to_url();
        Some(Outdated { cache: Arc::clone(&self.cache), principal: self.principal, url })
    }

    /// Makes a change, or asks what is not kept.
    async fn pass_by(&self, request: FetchRequest, cancel: CancelFlag) -> Result<FetchResponse, FetchError> {
        let outdated = self.outdated_by(&request);
        let response = self.inner.fetch(request, cancel).await?;
        if outdated.is_some() {
            let changed = response.hops.iter().map(|hop| &hop.from).chain([&response.url]);
            changed.for_each(|url| self.cache.forget(self.principal, url.expose()));
        }
        Ok(response)
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
            let Some(url) = key(&request) else { return cached.pass_by(request, cancel).await };
            if let Some(kept) = cached.cache.find(cached.principal, &url, &request) {
                return Ok(FetchResponse::clone(&kept));
            }
            let response = cached.inner.fetch(request, cancel).await?;
            cached.cache.keep(cached.principal, url, &response);
            Ok(response)
        })
    }
}

/// Returns what an answer is kept under; nothing for requests that say more than an address.
fn key(request: &FetchRequest) -> Option<String> {
    let plain =
        request.method == FetchMethod::Get && request.headers.is_empty() && request.credentials.is_empty();
    plain.then(|| Target::read(request.url.expose()).ok().map(|target| target.to_url())).flatten()
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
