//! Reading addresses as they would be fetched, without asking anybody.
//!
//! Who grants a fetch and who makes it have to see the same host in an address; so there is one reader, which is the
//! one that fetches.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::fetch_http::{HostReach, HostRule};

/// Reads addresses.
pub trait ReadUrl: Send + Sync {
    /// Returns the server that a URL names, or why it is not read.
    ///
    /// # Errors
    /// The reason, which fits after "the address was refused:".
    fn read_url(&self, url: &str) -> Result<UrlServer, &'static str>;

    /// Returns why no connection to the server of a URL is ever made, as far as that is certain without a lookup: by
    /// its address, or by a name of this machine and its surroundings. `None` where the connection has to be tried.
    fn certain_refusal(&self, url: &str) -> Option<String>;
}

/// The server that a URL names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlServer {
    /// The host, as [`HostRule::host`].
    pub host: String,
    /// The port, whether it is written or not.
    pub port: u16,
    /// Whether it is spoken to over TLS.
    pub privacy: UrlPrivacy,
}

/// Whether others on the way can listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlPrivacy {
    /// `https`: only the server hears what is said.
    Tls,
    /// `http`: everybody on the way does.
    Plain,
}

/// A text names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it has to be a name such as `example.com`, `*.example.com`, `example.com:8080`, or an address")]
pub struct NotAHostRule;

/// The longest name, as DNS has it, with a star before it and a port behind.
const RULE_BYTES_MAX: usize = 253 + 2 + 6;
/// The longest part of a name between two dots.
const LABEL_BYTES_MAX: usize = 63;

impl std::str::FromStr for HostRule {
    type Err = NotAHostRule;

    /// Reads `host`, `host:port`, `*.domain` or `*.domain:port`; an IPv6 address stands in brackets. Everything that
    /// could be read in another way, too, is refused.
    fn from_str(text: &str) -> Result<Self, NotAHostRule> {
        if text.len() > RULE_BYTES_MAX {
            return Err(NotAHostRule);
        }
        let (reach, rest) = match text.strip_prefix("*.") {
            Some(rest) => (HostReach::Below, rest),
            None => (HostReach::Exact, text),
        };
        let host_end = match rest.strip_prefix('[') {
            Some(_) => rest.find(']').ok_or(NotAHostRule)? + 1,
            None => rest.find(':').unwrap_or(rest.len()),
        };
        let (host, behind) = rest.split_at(host_end);
        let port = match behind.strip_prefix(':') {
            Some(digits) => Some(read_port(digits)?),
            None if behind.is_empty() => None,
            None => return Err(NotAHostRule),
        };
        let is_address = host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok();
        if reach == HostReach::Below && (is_address || !host.contains('.')) {
            return Err(NotAHostRule);
        }
        Ok(Self { host: read_host(host)?, reach, port })
    }
}

impl std::fmt::Display for HostRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let star = match self.reach {
            HostReach::Below => "*.",
            HostReach::Exact => "",
        };
        write!(f, "{star}{}", self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

fn read_port(digits: &str) -> Result<u16, NotAHostRule> {
    let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten().ok_or(NotAHostRule)
}

fn read_host(text: &str) -> Result<String, NotAHostRule> {
    if let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inside.parse::<Ipv6Addr>().map(|address| format!("[{address}]")).map_err(|_| NotAHostRule);
    }
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Ok(address.to_string());
    }
    let plain = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    let last = text.rsplit('.').next().unwrap_or_default();
    // A name that ends in a number is an address to some.
    let numeric = last.bytes().all(|b| b.is_ascii_digit()) || last.to_ascii_lowercase().starts_with("0x");
    if text.split('.').all(plain) && !numeric { Ok(text.to_ascii_lowercase()) } else { Err(NotAHostRule) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_and_told_in_the_same_words() {
        for (written, told) in [
            ("example.com", "example.com"),
            ("Example.COM:8443", "example.com:8443"),
            ("*.Example.com", "*.example.com"),
            ("*.example.com:80", "*.example.com:80"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[0:0::1]:8080", "[::1]:8080"),
            ("localhost:3000", "localhost:3000"),
        ] {
            let rule: HostRule = written.parse().unwrap();
            assert_eq!(rule.to_string(), told);
            assert_eq!(told.parse(), Ok(rule), "{told}");
        }
    }

    #[test]
    fn what_is_no_plain_host_is_no_rule() {
        for written in [
            "",
            "*",
            "*.",
            "*.com",
            "*.*.com",
            "*.127.0.0.1",
            "*.[::1]",
            "a.*.com",
            "*example.com",
            "https://example.com",
            "example.com/",
            "example.com.",
            ".example.com",
            "a..b",
            "user@example.com",
            "example.com:0",
            "example.com:080",
            "example.com:",
            "example.com:99999",
            "example.com:+80",
            "127.1",
            "2130706433",
            "0x7f.1",
            "ex ample.com",
            "ex\u{e4}mple.com",
            "[::1",
            "[::1]x",
            "::1",
        ] {
            assert_eq!(written.parse::<HostRule>(), Err(NotAHostRule), "{written:?}");
        }
    }
}
