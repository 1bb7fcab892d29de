//! What the headers of a request say about its repetitions and its patience.

use std::time::Duration;

use axum::http::HeaderMap;
use palyra_types::Content;

use crate::error_reply::ErrorReply;

/// Characters of an idempotency key, at most.
const KEY_CHARS_MAX: usize = 200;

/// What a client says with its headers.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientHints {
    /// Its own key for this request.
    pub(crate) idempotency_key: Option<Content<String>>,
    /// How often it sent this request before.
    pub(crate) retry_count: u32,
    /// How long it waits for an answer.
    pub(crate) timeout: Option<Duration>,
    /// The gateways that the request passed.
    pub(crate) gateways: Vec<String>,
}

impl ClientHints {
    /// Reads headers; unreadable ones of SDKs are ignored.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, ErrorReply> {
        let idempotency_key = match headers.get("idempotency-key") {
            None => None,
            Some(value) => {
                let key = value.to_str().ok().filter(|key| (1..=KEY_CHARS_MAX).contains(&key.len()));
                let wanted = format!("`Idempotency-Key` has 1 to {KEY_CHARS_MAX} visible characters.");
                Some(key.ok_or_else(|| ErrorReply::invalid("Idempotency-Key", wanted))?.into())
            }
        };
        let timeout =
            seconds(headers, "x-stainless-read-timeout").or_else(|| seconds(headers, "x-stainless-timeout"));
        Ok(Self {
            idempotency_key,
            retry_count: text(headers, "x-stainless-retry-count")
                .and_then(|text| text.parse().ok())
                .unwrap_or(0),
            timeout: timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            gateways: Vec::new(),
        })
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn seconds(headers: &HeaderMap, name: &str) -> Option<f64> {
    text(headers, name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(headers: &[(&'static str, &'static str)]) -> Result<ClientHints, ErrorReply> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        ClientHints::of(&map)
    }

    #[test]
    fn headers_of_sdks_are_used_and_unreadable_ones_ignored() {
        let read = hints(&[("x-stainless-retry-count", "2"), ("x-stainless-read-timeout", "600.5")]).unwrap();
        assert_eq!((read.retry_count, read.timeout), (2, Some(Duration::from_millis(600_500))));
        let odd = hints(&[("x-stainless-retry-count", "two"), ("x-stainless-timeout", "-1")]).unwrap();
        assert_eq!((odd.retry_count, odd.timeout), (0, None));
        let ignored = [("openai-organization", "o"), ("openai-project", "p"), ("openai-beta", "b")];
        assert_eq!(hints(&ignored).unwrap().retry_count, 0);
    }

    #[test]
    fn an_idempotency_key_has_a_length() {
        assert!(hints(&[("idempotency-key", "abc")]).unwrap().idempotency_key.is_some());
        assert_eq!(hints(&[("idempotency-key", "")]).unwrap_err().param(), Some("Idempotency-Key"));
    }
}
