//! The machine that a text names, by its spelling.
//!
//! Invariant: a spelling that two readers could read differently is no host but [`UNREADABLE`].

/// Stands for a machine whose name cannot be read with certainty.
pub(crate) const UNREADABLE: &str = "?";

/// Returns the host of a URL or of `host`, `host:port`; in lower case, without a dot at its end.
pub(crate) fn host_of(written: &str) -> String {
    let odd = |c: char| c.is_control() || c.is_whitespace() || !c.is_ascii() || matches!(c, '\\' | '%');
    let rest = written.split_once("://").map_or(written, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || authority.contains(odd) || authority.contains('@') {
        return UNREADABLE.to_owned();
    }
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split_once(']').map(|(address, port)| (address, port.strip_prefix(':'))),
        None => match authority.split_once(':') {
            Some((host, port)) => Some((host, Some(port))),
            None => Some((authority, None)),
        },
    };
    let Some((host, port)) = host else { return UNREADABLE.to_owned() };
    let host = host.strip_suffix('.').unwrap_or(host);
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let port_reads = port.is_none_or(|port| port.parse::<u16>().is_ok());
    if host.is_empty() || !host.chars().all(known) || !port_reads {
        return UNREADABLE.to_owned();
    }
    host.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_or_it_is_unreadable() {
        for (written, expect) in [
            ("https://Example.COM/a?b#c", "example.com"),
            ("https://example.com.:8443/", "example.com"),
            ("example.com", "example.com"),
            ("example.com:80", "example.com"),
            ("http://[::1]:9/", "::1"),
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
