//! Where a server is and how patient one is with it.

use std::time::Duration;

use reqwest::Url;

/// How long a connection may take to be made, name resolution and TLS included.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the head of a reply may take: a local model reads a long prompt before it says anything.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(300);
/// How long a server may be silent within a reply.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a server is waited for; a request has no limit in all, that is the run's affair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// From the request to the head of its reply.
    pub first_byte: Duration,
    /// Between two pieces of a reply.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: CONNECT_TIMEOUT, first_byte: FIRST_BYTE_TIMEOUT, idle: IDLE_TIMEOUT }
    }
}

impl Timeouts {
    /// Waits this long for anything.
    #[must_use]
    pub fn all(span: Duration) -> Self {
        Self { connect: span, first_byte: span, idle: span }
    }
}

/// Why a provider cannot be made. No variant repeats a value: it may hold a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderConfigError {
    /// The base URL is none.
    #[error("the base URL is not an http or https URL")]
    BaseUrl,
    /// The base URL has a credential in it.
    #[error("the base URL holds a user name or password; name the key by a reference instead")]
    CredentialInUrl,
    /// The key cannot be sent.
    #[error("the key holds characters that no HTTP header can carry")]
    Key,
}

/// Reads a base URL.
///
/// # Errors
/// `BaseUrl` or `CredentialInUrl`.
pub(crate) fn base_url(text: &str) -> Result<Url, ProviderConfigError> {
    let mut base = Url::parse(text.trim()).map_err(|_| ProviderConfigError::BaseUrl)?;
    if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
        return Err(ProviderConfigError::BaseUrl);
    }
    if !base.username().is_empty() || base.password().is_some() {
        return Err(ProviderConfigError::CredentialInUrl);
    }
    base.set_fragment(None);
    Ok(base)
}

/// A server as secrets of the vault are bound to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretHost {
    /// Its name; with the port where that is not 443.
    pub host: String,
    /// How a key travels to it.
    pub privacy: LinkPrivacy,
}

/// Whether others can read what is sent to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPrivacy {
    /// They cannot: it is encrypted, or does not leave this machine.
    Private,
    /// They may.
    Readable,
}

/// Returns the server of a base URL as secrets are bound to it.
///
/// # Errors
/// `BaseUrl` or `CredentialInUrl`.
pub fn secret_host(text: &str) -> Result<SecretHost, ProviderConfigError> {
    let base = base_url(text)?;
    let name = base.host_str().unwrap_or_default();
    let name = name.strip_suffix('.').unwrap_or(name);
    let host = match base.port_or_known_default() {
        Some(443) | None => name.to_owned(),
        Some(port) => format!("{name}:{port}"),
    };
    let is_private = base.scheme() == "https" || is_loopback(&base);
    Ok(SecretHost { host, privacy: if is_private { LinkPrivacy::Private } else { LinkPrivacy::Readable } })
}

/// Returns the address below a base.
///
/// # Errors
/// `BaseUrl` when nothing can lie below it.
pub(crate) fn below(base: &Url, path: &[&str]) -> Result<Url, ProviderConfigError> {
    let mut url = base.clone();
    url.path_segments_mut().map_err(|()| ProviderConfigError::BaseUrl)?.pop_if_empty().extend(path);
    Ok(url)
}

/// Returns whether an address is this machine's own.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_matches(['[', ']']);
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_read_and_refused() {
        let read = |text: &str| base_url(text).map(|url| url.to_string());
        assert_eq!(read(" https://h/v1#x "), Ok("https://h/v1".to_owned()));
        for text in ["h/v1", "file:///etc", ""] {
            assert_eq!(read(text), Err(ProviderConfigError::BaseUrl), "{text}");
        }
        assert_eq!(read("http://a:b@h/v1"), Err(ProviderConfigError::CredentialInUrl));
    }

    #[test]
    fn a_server_has_the_name_that_secrets_are_bound_to() {
        for (text, host, privacy) in [
            ("https://API.example/v1", "api.example", LinkPrivacy::Private),
            ("https://api.example.:8443", "api.example:8443", LinkPrivacy::Private),
            ("http://127.0.0.1:1/v1", "127.0.0.1:1", LinkPrivacy::Private),
            ("http://[::1]:8/v1", "[::1]:8", LinkPrivacy::Private),
            ("http://api.example", "api.example:80", LinkPrivacy::Readable),
            ("http://api.example:443", "api.example", LinkPrivacy::Readable),
        ] {
            assert_eq!(secret_host(text), Ok(SecretHost { host: host.to_owned(), privacy }), "{text}");
        }
        assert_eq!(secret_host("nonsense"), Err(ProviderConfigError::BaseUrl));
    }

    #[test]
    fn what_is_local_is_known() {
        let local = |text: &str| is_loopback(&base_url(text).expect("a base URL"));
        assert!(local("http://127.0.0.1:1/v1") && local("http://[::1]:1/v1") && local("http://localhost"));
        assert!(!local("http://10.0.0.1/v1") && !local("https://localhost.example"));
    }
}
