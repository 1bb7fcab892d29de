//! The machine that a text names, by its spelling.
//!
//! Invariant: a spelling that two readers could read differently is no host but [`UNREADABLE`]; of whatever the guarded
//! way out reads as a host, this is the same host.

use std::net::Ipv6Addr;

/// Stands for a machine whose name cannot be read with certainty.
pub(crate) const UNREADABLE: &str = "?";

/// Returns the host of a URL or of `host`, `host:port`, or all hosts below a domain as `*.domain`; in lower case, without
/// a dot at its end, an IPv6 address in its shortest spelling and without brackets. `?` for what cannot be read.
#[must_use]
pub fn host_of(written: &str) -> String {
    let odd = |c: char| c.is_control() || c.is_whitespace() || !c.is_ascii() || matches!(c, '\\' | '%');
    let rest = written.split_once("://").map_or(written, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || authority.contains(odd) || authority.contains('@') {
        return UNREADABLE.to_owned();
    }
    if let Some(rest) = authority.strip_prefix('[') {
        return bracketed(rest).unwrap_or_else(|| UNREADABLE.to_owned());
    }
    let (star, authority) = match authority.strip_prefix("*.") {
        Some(domain) if !written.contains("://") => ("*.", domain),
        Some(_) | None => ("", authority),
    };
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if host.is_empty() || !host.chars().all(known) || !port_reads(port) {
        return UNREADABLE.to_owned();
    }
    format!("{star}{}", host.to_ascii_lowercase())
}

/// Returns the scheme, host and port of an address in one spelling, such as `https://example.com:443`; `None` for what is
/// not read with certainty, for another scheme than `http` and `https`, and for all hosts below a domain.
pub(crate) fn origin_of(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let host = host_of(address);
    if host == UNREADABLE {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let behind_host = authority.rsplit_once(']').map_or(authority, |(_, behind)| behind);
    let port = match behind_host.split_once(':') {
        None => default_port,
        Some((_, port)) => port
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(())
            .and_then(|()| port.parse::<u16>().ok())?,
    };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    Some(format!("{scheme}://{host}:{port}"))
}

/// Returns the same for a text that is nothing but an origin, with `/` behind it at most.
pub(crate) fn origin_alone(written: &str) -> Option<String> {
    let (_, rest) = written.split_once("://")?;
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    if authority.contains(['/', '?', '#']) { None } else { origin_of(written) }
}

/// Reads `address]` or `address]:port`.
fn bracketed(rest: &str) -> Option<String> {
    let (address, behind) = rest.split_once(']')?;
    let port = if behind.is_empty() { None } else { Some(behind.strip_prefix(':')?) };
    let address: Ipv6Addr = address.parse().ok()?;
    port_reads(port).then(|| address.to_string())
}

fn port_reads(port: Option<&str>) -> bool {
    port.is_none_or(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_one_spelling_or_is_not_read() {
        for (written, expect) in [
            ("https://Example.COM/a?b#c", Some("https://example.com:443")),
            ("HTTPS://example.com.", Some("https://example.com:443")),
            ("http://example.com", Some("http://example.com:80")),
            ("https://example.com:0443/", Some("https://example.com:443")),
            ("http://[0:0:0:0:0:0:0:1]:9/x", Some("http://[::1]:9")),
            ("https://xn--bcher-kva.example/", Some("https://xn--bcher-kva.example:443")),
            ("https://a.example/x@evil.example", Some("https://a.example:443")),
            ("https://b\u{fc}cher.example/", None),
            ("https://a.example:+443/", None),
            ("https://a.example:/", None),
            ("https://a.example@evil.example/", None),
            ("https://a.example\\.evil.example/", None),
            (" https://a.example/", None),
            ("https:///evil.example/", None),
            ("https:evil.example/", None),
            ("ftp://a.example/", None),
            ("a.example:443", None),
            ("*.example.com", None),
        ] {
            assert_eq!(origin_of(written).as_deref(), expect, "{written:?}");
        }
        for (written, alone) in [
            ("https://a.example", true),
            ("https://a.example:8443/", true),
            ("https://a.example/docs", false),
            ("https://a.example/?q", false),
            ("https://a.example#x", false),
        ] {
            assert_eq!(origin_alone(written).is_some(), alone, "{written:?}");
        }
    }

    #[test]
    fn a_host_is_read_or_it_is_unreadable() {
        for (written, expect) in [
            ("https://Example.COM/a?b#c", "example.com"),
            ("https://example.com.:8443/", "example.com"),
            ("example.com", "example.com"),
            ("example.com:80", "example.com"),
            ("http://[::1]:9/", "::1"),
            ("http://[0:0:0:0:0:0:0:1]/", "::1"),
            ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1"),
            ("*.Example.com:8443", "*.example.com"),
            ("https://*.example.com/", UNREADABLE),
            ("*.", UNREADABLE),
            ("a.*.com", UNREADABLE),
            ("http://[good.example]/", UNREADABLE),
            ("http://[::1]evil.example/", UNREADABLE),
            ("http://127.0.0.1?x", "127.0.0.1"),
            ("https://good.example@evil.example/", UNREADABLE),
            ("https://good.example\\@evil.example/", UNREADABLE),
            ("https://ex\tample.com/", UNREADABLE),
            ("https://ex\u{3002}com/", UNREADABLE),
            ("https://%65vil.example/", UNREADABLE),
            ("https:///x", UNREADABLE),
            ("http://h:99999/", UNREADABLE),
            ("http://[::1/", UNREADABLE),
            ("", UNREADABLE),
        ] {
            assert_eq!(host_of(written), expect, "{written:?}");
        }
    }
}
