//! The one way out: whom we connect to, and what may be said there.
//!
//! Read `address` and `target` first, which are pure; then the dialer, on which the fetcher and the filtering
//! proxy stand.

pub mod address;
pub mod target;

pub mod dial;
pub mod private_hosts;
pub mod url_rules;
pub mod resolve;
pub mod server_line;
pub mod tls;

pub mod fetcher;
pub mod masked_fetch;
pub mod answer_cache;
pub mod proxy;

#[cfg(test)]
mod attacks;

pub use answer_cache::{AnswerCache, CacheBypass, CacheLimits, CachedFetch};
pub use dial::Dialer;
pub use fetcher::Fetcher;
pub use masked_fetch::MaskedFetch;
pub use private_hosts::PrivateHosts;
pub use proxy::FilteringProxy;
pub use resolve::{Resolve, SystemResolver};
pub use server_line::UpstreamConnector;
pub use target::StrictReader;
pub use tls::Tls;
pub use url_rules::{FileNaming, UrlRules};
