//! The HTTP API as its settings describe it together: where it listens, and what that needs.
//!
//! Invariant: an address beyond this machine is served under TLS, or to named proxies that take TLS off, and under a
//! configured URL. Begin at [`check_all`].

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use palyra_http::{PublicOrigin, TlsFiles, TransportSecurity};
use palyra_providers::secret_host;

use super::check::ConfigLayer;
use super::diagnostic::{ConfigError, ErrorCollector};
use super::schema::HTTP_LISTEN_DEFAULT;
use super::value::{ConfigValue, ValueOrigin};

/// What turns the HTTP API off.
const OFF: &str = "off";
/// What a listener beyond this machine needs.
const BEYOND: &str = "is beyond this machine, where nothing is served in clear text: set http.tls_cert, http.tls_key, \
     http.public_url and http.public = true, or http.trusted_proxies and http.public_url for a proxy that takes TLS off; \
     or listen at 127.0.0.1";

/// Where and how the HTTP API is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSettings {
    /// Where.
    pub address: SocketAddr,
    /// Whether the address is configured.
    pub chosen: AddressChoice,
    /// Under which URL, where that is not the listener's own.
    pub public_url: Option<PublicOrigin>,
    /// With which certificate.
    pub tls: Option<TlsFiles>,
    /// From where alone connections come, beside this machine; empty for everywhere.
    pub proxies: Vec<IpAddr>,
}

/// Whether an address is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressChoice {
    /// It is the default, so another port will do.
    Default,
    /// It is configured.
    Explicit,
}

impl HttpSettings {
    /// Returns whether an address of a server of models is the configured address of this daemon. A default address may be
    /// that of another daemon.
    #[must_use]
    pub fn serves(&self, base_url: &str) -> bool {
        let Ok(server) = secret_host(base_url) else { return false };
        let (name, port) = match server.host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().unwrap_or_default()),
            Some(_) | None => (server.host.as_str(), 443_u16),
        };
        let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
        let is_here = name == "localhost"
            || address.is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified() || ip == self.address.ip());
        self.chosen == AddressChoice::Explicit && port == self.address.port() && is_here
    }
}

impl HttpSettings {
    /// Returns the origin under which people know the console. The port of a listener that found its own taken is another one.
    #[must_use]
    pub fn origin(&self) -> PublicOrigin {
        let security = if self.tls.is_some() { TransportSecurity::Tls } else { TransportSecurity::Clear };
        self.public_url.clone().unwrap_or_else(|| PublicOrigin::local(self.address.port(), security))
    }
}

/// Returns the settings of the HTTP API; `None` where it is off.
pub(super) fn settings(values: &ConfigLayer) -> Option<HttpSettings> {
    let listen = text(values, "http.listen");
    let address = Some(listen).filter(|listen| *listen != OFF)?.parse().ok()?;
    Some(HttpSettings {
        address,
        chosen: if listen == HTTP_LISTEN_DEFAULT { AddressChoice::Default } else { AddressChoice::Explicit },
        public_url: PublicOrigin::parse(text(values, "http.public_url")),
        tls: tls_files(values),
        proxies: list(values, "http.trusted_proxies").iter().filter_map(|item| item.parse().ok()).collect(),
    })
}

/// Notes what the settings of the HTTP API lack together.
pub(super) fn check_all(values: &ConfigLayer, mistakes: &mut ErrorCollector) {
    for (given, other) in [("http.tls_cert", "http.tls_key"), ("http.tls_key", "http.tls_cert")] {
        if !text(values, given).is_empty() && text(values, other).is_empty() {
            note(values, given, &format!("needs {other} beside it"), mistakes);
        }
    }
    let Some(settings) = settings(values) else { return };
    if settings.address.ip().to_canonical().is_loopback() {
        return;
    }
    let is_public = matches!(values.get("http.public"), Some((ConfigValue::Bool(true), _)));
    let is_protected = if settings.tls.is_some() { is_public } else { !settings.proxies.is_empty() };
    match &settings.public_url {
        Some(url) if is_protected && !url.is_https() => {
            note(
                values,
                "http.public_url",
                "takes a URL with https:// where http.listen is beyond this machine",
                mistakes,
            );
        }
        Some(_) if is_protected => {}
        Some(_) | None => note(values, "http.listen", BEYOND, mistakes),
    }
}

fn tls_files(values: &ConfigLayer) -> Option<TlsFiles> {
    let file = |key: &str| Some(text(values, key)).filter(|path| !path.is_empty()).map(PathBuf::from);
    Some(TlsFiles { certificate: file("http.tls_cert")?, key: file("http.tls_key")? })
}

fn note(values: &ConfigLayer, key: &str, what: &str, mistakes: &mut ErrorCollector) {
    let origin = values.get(key).map_or(ValueOrigin::Default, |(_, origin)| origin.clone());
    mistakes.note::<()>(Err(ConfigError::Unusable { origin, key: key.to_owned(), what: what.to_owned() }));
}

fn text<'a>(values: &'a ConfigLayer, key: &str) -> &'a str {
    match values.get(key) {
        Some((ConfigValue::Text(text), _)) => text,
        _ => "",
    }
}

fn list<'a>(values: &'a ConfigLayer, key: &str) -> &'a [String] {
    match values.get(key) {
        Some((ConfigValue::List(items), _)) => items,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config;

    fn loaded(pairs: &[(&str, &str)]) -> Result<Option<HttpSettings>, Vec<String>> {
        let variables = pairs
            .iter()
            .map(|(key, value)| (config::check::variable_of(&format!("http.{key}")), (*value).to_owned()));
        let variables: BTreeMap<_, _> = variables.collect();
        let config = config::assemble(None, &variables, &[], ErrorCollector::default());
        config.map(|config| config.http()).map_err(|errors| errors.lines())
    }

    #[test]
    fn the_api_is_at_a_fixed_loopback_port_unless_it_is_turned_off() {
        let settings = loaded(&[]).expect("valid").expect("on");
        assert_eq!(settings.address.to_string(), "127.0.0.1:7787");
        assert_eq!(
            (settings.chosen, settings.tls, settings.public_url),
            (AddressChoice::Default, None, None)
        );
        let chosen = loaded(&[("listen", "127.0.0.1:7788")]).expect("valid").expect("on");
        assert_eq!(chosen.chosen, AddressChoice::Explicit);
        let written = loaded(&[("listen", "127.0.0.1:7787")]).expect("valid").expect("on");
        assert_eq!(written.chosen, AddressChoice::Default, "a file of all defaults changes nothing");
        assert_eq!(loaded(&[("listen", "off")]), Ok(None));
        assert!(loaded(&[("listen", "7787")]).is_err());
    }

    #[test]
    fn beyond_this_machine_the_mistake_says_what_to_write() {
        let far = ("listen", "0.0.0.0:7787");
        let tls = [("tls_cert", "/etc/palyra/cert.pem"), ("tls_key", "/etc/palyra/key.pem")];
        let url = ("public_url", "https://palyra.example");
        let wrong: [&[(&str, &str)]; 6] = [
            &[far],
            &[far, url],
            &[far, ("public", "true"), url],
            &[far, tls[0], tls[1], url],
            &[far, tls[0], tls[1], ("public", "true")],
            &[far, ("trusted_proxies", "10.0.0.7")],
        ];
        for pairs in wrong {
            let mistakes = loaded(pairs).expect_err("refused");
            assert!(
                mistakes.iter().any(|mistake| mistake.contains("http.public = true")),
                "{pairs:?}: {mistakes:?}"
            );
        }
        let served = loaded(&[far, tls[0], tls[1], url, ("public", "true")]).expect("valid").expect("on");
        assert!(served.tls.is_some() && served.public_url.is_some_and(|url| url.is_https()));
        let proxied =
            loaded(&[far, url, ("trusted_proxies", "10.0.0.7, fd00::7")]).expect("valid").expect("on");
        assert_eq!((proxied.tls, proxied.proxies.len()), (None, 2));
        let clear = loaded(&[far, ("trusted_proxies", "10.0.0.7"), ("public_url", "http://palyra.example")]);
        assert!(clear.expect_err("refused")[0].contains("https://"));
        let half = loaded(&[tls[0]]).expect_err("refused");
        assert!(half[0].contains("needs http.tls_key beside it"), "{half:?}");
    }
}
