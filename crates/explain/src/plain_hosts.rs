//! The note about a host that a secret was bound to and that is likely reached without TLS.

use std::net::IpAddr;

/// What to say of such a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainHostNote {
    /// Which requests carry the secret, and which do not.
    pub doubt: String,
    /// How another port is allowed, where the host has none.
    pub hint: Option<String>,
}

impl PlainHostNote {
    /// Returns what to say of a host; `None` for one that is likely reached under TLS.
    #[must_use]
    pub fn of(secret: &str, host: &str) -> Option<Self> {
        let name = name_of(host);
        let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
        let is_local_name = name == "localhost" || name.ends_with(".localhost");
        if address.is_err() && !is_local_name && !host.ends_with(":80") {
            return None;
        }
        // As the providers of models read it.
        let is_loopback = name == "localhost" || address.is_ok_and(|address| address.is_loopback());
        let of_models = if is_loopback {
            "; as the key of a model server, which is on this machine, it is sent over http:// too"
        } else {
            ""
        };
        let doubt = format!(
            "calls of tools send a secret over https:// only, so one of http://{host} that names it is refused, and a server that speaks http:// alone gets none{of_models}"
        );
        let is_without_port = host.ends_with(']') || !host.contains(':');
        let hint = is_without_port.then(|| {
            format!("{host} without a port is port 443; `palyra admin vault bind {secret} {host}:PORT` allows another")
        });
        Some(Self { doubt, hint })
    }
}

/// Returns whether a host of a secret is the one that was typed, which may have capitals or the usual port.
#[must_use]
pub fn is_same_host(known: &str, typed: Option<&str>) -> bool {
    let bare = |host: &str| host.strip_suffix(":443").unwrap_or(host).to_ascii_lowercase();
    typed.is_some_and(|typed| bare(known) == bare(typed.trim()))
}

/// Returns a host without its port.
fn name_of(host: &str) -> &str {
    host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_host_is_known_with_capitals_and_with_the_usual_port() {
        assert!(is_same_host("api.example", Some("API.example:443")) && is_same_host("a:80", Some("a:80")));
        assert!(!is_same_host("a:80", Some("a")) && !is_same_host("a", None));
    }

    #[test]
    fn only_a_model_server_of_this_machine_gets_a_secret_without_tls() {
        let of_models = "as the key of a model server";
        for (host, is_loopback) in [
            ("127.0.0.1:11434", true),
            ("localhost:8080", true),
            ("[::1]:8080", true),
            ("10.0.0.7:8080", false),
            ("api.example:80", false),
        ] {
            let note = PlainHostNote::of("forge", host).unwrap();
            assert!(note.doubt.contains(&format!("http://{host} that names it is refused")), "{note:?}");
            assert_eq!(note.doubt.contains(of_models), is_loopback, "{note:?}");
            assert_eq!(note.hint, None, "{host}");
        }
        let hint = PlainHostNote::of("forge", "127.0.0.1").unwrap().hint.unwrap();
        assert!(hint.contains("`palyra admin vault bind forge 127.0.0.1:PORT`"), "{hint}");
        for host in ["api.example", "api.example:8443"] {
            assert_eq!(PlainHostNote::of("forge", host), None, "{host}");
        }
    }
}
