//! The addresses that a base URL without a scheme may mean.

use std::net::IpAddr;

/// Returns the address as it is, or with each scheme that is possible, likeliest first. A public host is never tried
/// without encryption, since a key may go along. Nothing for an empty text.
#[must_use]
pub fn addresses(typed: &str) -> Vec<String> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Vec::new();
    }
    if typed.contains("://") {
        return vec![typed.to_owned()];
    }
    let with = |schemes: &[&str]| schemes.iter().map(|scheme| format!("{scheme}://{typed}")).collect();
    match reach_of(host_of(typed)) {
        HostReach::Loopback => with(&["http", "https"]),
        HostReach::Private => with(&["https", "http"]),
        HostReach::Public => with(&["https"]),
    }
}

/// Returns whether a text may be the name of a server of models.
#[must_use]
pub fn is_server_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Returns the name of a server that is most like a text; `None` where nothing of the text can be in one.
#[must_use]
pub fn server_name_like(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let parts = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    let name = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    is_server_name(&name).then_some(name)
}

/// How far away a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostReach {
    Loopback,
    Private,
    Public,
}

/// Returns the host of an address, with or without a scheme.
#[must_use]
pub fn host_of_url(url: &str) -> &str {
    host_of(authority_of_url(url))
}

/// Returns the host of an address with its port, where it has one.
#[must_use]
pub fn authority_of_url(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    // What is before the sign is a name with a password.
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// Returns whether two addresses are the same server: the same port of the same host, where all names of this machine are
/// one host.
#[must_use]
pub fn is_same_server(one: &str, other: &str) -> bool {
    let host = host_of_url(one);
    let other_host = host_of_url(other);
    let is_local = |host: &str| matches!(reach_of(host), HostReach::Loopback);
    let is_same_host = host.eq_ignore_ascii_case(other_host) || (is_local(host) && is_local(other_host));
    is_same_host && port_of_url(one) == port_of_url(other)
}

/// Returns the port of an address, or that of its scheme.
fn port_of_url(url: &str) -> Option<u16> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let after = authority.rsplit_once(']').map_or(authority, |(_, after)| after);
    match after.rsplit_once(':') {
        Some((_, port)) => port.parse().ok(),
        None => Some(if scheme == "https" { 443 } else { 80 }),
    }
}

fn host_of(address: &str) -> &str {
    let authority = address.split('/').next().unwrap_or_default();
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

fn reach_of(host: &str) -> HostReach {
    match host.parse::<IpAddr>() {
        Ok(ip) if ip.is_loopback() => HostReach::Loopback,
        Ok(IpAddr::V4(ip)) if ip.is_private() || ip.is_link_local() => HostReach::Private,
        Ok(IpAddr::V6(ip)) if ip.is_unique_local() || ip.is_unicast_link_local() => HostReach::Private,
        Ok(_) => HostReach::Public,
        Err(_) if host.eq_ignore_ascii_case("localhost") => HostReach::Loopback,
        Err(_) if !host.contains('.') || host.ends_with(".local") || host.ends_with(".lan") => {
            HostReach::Private
        }
        Err(_) => HostReach::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_scheme_is_found_by_trying() {
        for (typed, expect) in [
            ("127.0.0.1:1/v1", &["http://127.0.0.1:1/v1", "https://127.0.0.1:1/v1"][..]),
            (" localhost:11434/v1 ", &["http://localhost:11434/v1", "https://localhost:11434/v1"]),
            ("[::1]:8080", &["http://[::1]:8080", "https://[::1]:8080"]),
            ("192.168.1.5:8000/v1", &["https://192.168.1.5:8000/v1", "http://192.168.1.5:8000/v1"]),
            ("gpu-box:8000/v1", &["https://gpu-box:8000/v1", "http://gpu-box:8000/v1"]),
            ("api.openai.com/v1", &["https://api.openai.com/v1"]),
            ("8.8.8.8", &["https://8.8.8.8"]),
            ("http://api.example/v1", &["http://api.example/v1"]),
            ("", &[]),
        ] {
            assert_eq!(addresses(typed), expect, "{typed}");
        }
    }

    #[test]
    fn all_names_of_this_machine_are_one_server_by_port() {
        for (one, other, expected) in [
            ("http://127.0.0.1:7787/v1", "http://localhost:7787", true),
            ("http://[::1]:7787/v1", "http://localhost:7787", true),
            ("http://127.0.0.1:7788/v1", "http://localhost:7787", false),
            ("https://API.example/v1", "https://api.example:443", true),
            ("https://api.example/v1", "https://localhost:443", false),
            ("unix:/run/daemon.sock", "http://localhost:7787", false),
        ] {
            assert_eq!(is_same_server(one, other), expected, "{one} {other}");
        }
    }
}
