//! How an address is read: in one way only, or not at all.
//!
//! Owns the strict reading of URLs, of references in redirects and of a proxy's `host:port`. Knows no resolver and no
//! rule about whom to reach. Invariant: the host that is connected to is, letter by letter, the one that was written;
//! where another reader might see another host, nothing is read.
//! Begin at [`Target::read`].

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use palyra_ports::{ReadUrl, UrlPrivacy, UrlServer};
use url::Url;

/// The longest URL that is read.
pub const URL_BYTES_MAX: usize = 8 << 10;
/// The longest name, as DNS has it.
const NAME_BYTES_MAX: usize = 253;
/// The longest part of a name between two dots.
const LABEL_BYTES_MAX: usize = 63;

/// A URL that was read: what to ask, and of whom.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    scheme: Scheme,
    endpoint: Endpoint,
}

/// Reads addresses as [`Target`] does, for whoever grants a fetch.
#[derive(Debug, Clone, Copy, Default)]
pub struct StrictReader;

impl ReadUrl for StrictReader {
    fn read_url(&self, url: &str) -> Result<UrlServer, &'static str> {
        let target = Target::read(url).map_err(TargetRefusal::reason)?;
        let privacy = match target.scheme() {
            Scheme::Http => UrlPrivacy::Plain,
            Scheme::Https => UrlPrivacy::Tls,
        };
        let Endpoint { host, port } = target.endpoint();
        Ok(UrlServer { host: host.to_string(), port: *port, privacy })
    }

    fn certain_refusal(&self, _url: &str) -> Option<String> {
        None
    }
}

/// What is spoken there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// HTTP as it is.
    Http,
    /// HTTP over TLS.
    Https,
}

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The host.
    pub host: Host,
    /// The port, never 0.
    pub port: u16,
}

/// A host as it is written, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name that has to be resolved.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// Why something is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetRefusal {
    /// It is longer than any address needs to be.
    TooLong,
    /// It begins with neither `http://` nor `https://`.
    Scheme,
    /// Some readers pass over such characters, and see another address then.
    Character,
    /// It has a name or password before the host.
    UserInfo,
    /// There is no host, or none that has one spelling only.
    Host,
    /// An IPv4 address is written otherwise than as four decimal numbers.
    OddAddress,
    /// The port is no number from 1 to 65535, or of a service that is no web server.
    Port,
    /// A reader of ours sees something else in it.
    Ambiguous,
}

impl TargetRefusal {
    /// Returns the reason in words.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::TooLong => "it is too long",
            Self::Scheme => "only http:// and https:// are fetched",
            Self::Character => "it holds a character that has no place in an address",
            Self::UserInfo => "it holds a user name or an `@` before the host",
            Self::Host => "its host is not a plain name or address",
            Self::OddAddress => "its host is an address in an odd spelling",
            Self::Port => "its port is not one that web servers have",
            Self::Ambiguous => "it can be read in two ways",
        }
    }
}

impl fmt::Display for TargetRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl std::error::Error for TargetRefusal {}

impl Target {
    /// Reads a whole URL.
    ///
    /// # Errors
    /// Whatever leaves room for another reading; see [`TargetRefusal`].
    pub fn read(text: &str) -> Result<Self, TargetRefusal> {
        check_characters(text)?;
        let (scheme, rest) = split_scheme(text).ok_or(TargetRefusal::Scheme)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let endpoint = read_authority(authority, scheme)?;
        let url = Url::parse(text).map_err(|_| TargetRefusal::Host)?;
        if url.scheme() != scheme.as_str() || !agrees(&url, &endpoint) {
            return Err(TargetRefusal::Ambiguous);
        }
        Ok(Self { url, scheme, endpoint })
    }

    /// Reads a reference in an answer of this target's server: a whole URL, or what differs from this one.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn follow(&self, reference: &str) -> Result<Self, TargetRefusal> {
        check_characters(reference)?;
        if split_scheme(reference).is_some() {
            return Self::read(reference);
        }
        if reference.starts_with("//") {
            return Self::read(&format!("{}:{reference}", self.scheme.as_str()));
        }
        // A colon before any slash would be the end of another scheme.
        if reference.split(['/', '?', '#']).next().unwrap_or_default().contains(':') {
            return Err(TargetRefusal::Scheme);
        }
        let url = self.url.join(reference).map_err(|_| TargetRefusal::Host)?;
        if url.scheme() != self.scheme.as_str() || !agrees(&url, &self.endpoint) {
            return Err(TargetRefusal::Ambiguous);
        }
        Ok(Self { url, scheme: self.scheme, endpoint: self.endpoint.clone() })
    }

    /// Returns what is spoken there.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns whom to ask.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns what to ask for: path and query, as they stand in a request.
    #[must_use]
    pub fn path_and_query(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }

    /// Returns the `Host` header: the port only where the scheme does not say it.
    #[must_use]
    pub fn host_header(&self) -> String {
        if self.endpoint.port == self.scheme.port() {
            self.endpoint.host.to_string()
        } else {
            self.endpoint.to_string()
        }
    }

    /// Returns the whole URL without its fragment.
    #[must_use]
    pub fn to_url(&self) -> String {
        let mut url = self.url.clone();
        url.set_fragment(None);
        url.into()
    }

    /// Returns whether another target lies on the same server, spoken to in the same way.
    #[must_use]
    pub fn same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.endpoint == other.endpoint
    }
}

impl fmt::Debug for Target {
    /// Paths and queries hold personal text and keys, so only the origin is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}/<path>", self.scheme.as_str(), self.endpoint)
    }
}

impl Scheme {
    /// Returns its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Returns the port where none is written.
    #[must_use]
    pub fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Endpoint {
    /// Reads `host:port`; an IPv6 address stands in brackets, and the port has to be there.
    ///
    /// # Errors
    /// As [`Target::read`].
    pub fn read(text: &str) -> Result<Self, TargetRefusal> {
        check_characters(text)?;
        if text.contains(['/', '?', '#']) {
            return Err(TargetRefusal::Character);
        }
        let (_, port) = split_port(text)?;
        port.ok_or(TargetRefusal::Port)?;
        // The readers agree on hosts, whatever the scheme.
        Target::read(&format!("http://{text}/")).map(|target| target.endpoint)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Display for Host {
    /// As in a URL: IPv6 addresses in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// Refuses what some readers drop, turn around or take for an end.
fn check_characters(text: &str) -> Result<(), TargetRefusal> {
    if text.len() > URL_BYTES_MAX {
        return Err(TargetRefusal::TooLong);
    }
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\' || is_invisible(c);
    if text.chars().any(odd) { Err(TargetRefusal::Character) } else { Ok(()) }
}

/// Formatting characters that nobody sees: zero widths, directions, tags.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

fn split_scheme(text: &str) -> Option<(Scheme, &str)> {
    [Scheme::Https, Scheme::Http].into_iter().find_map(|scheme| {
        let (name, rest) = text.split_once("://")?;
        name.eq_ignore_ascii_case(scheme.as_str()).then_some((scheme, rest))
    })
}

fn read_authority(authority: &str, scheme: Scheme) -> Result<Endpoint, TargetRefusal> {
    if authority.contains('@') {
        return Err(TargetRefusal::UserInfo);
    }
    let (host, port) = split_port(authority)?;
    let port = match port {
        Some(digits) => read_port(digits)?,
        None => scheme.port(),
    };
    if NO_WEB_SERVER.contains(&port) {
        return Err(TargetRefusal::Port);
    }
    Ok(Endpoint { host: read_host(host)?, port })
}

/// Returns the host and what stands behind its last colon.
fn split_port(authority: &str) -> Result<(&str, Option<&str>), TargetRefusal> {
    let host_end = match authority.strip_prefix('[') {
        Some(_) => authority.find(']').ok_or(TargetRefusal::Host)? + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, rest) = authority.split_at(host_end);
    match rest.strip_prefix(':') {
        Some(port) => Ok((host, Some(port))),
        None if rest.is_empty() => Ok((host, None)),
        None => Err(TargetRefusal::Host),
    }
}

fn read_port(digits: &str) -> Result<u16, TargetRefusal> {
    let plain = !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    if !plain {
        return Err(TargetRefusal::Port);
    }
    digits.parse().map_err(|_| TargetRefusal::Port)
}

fn read_host(text: &str) -> Result<Host, TargetRefusal> {
    if let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = inside.parse().map_err(|_| TargetRefusal::Host)?;
        return Ok(Host::Address(address.into()));
    }
    let labels = || text.split('.');
    let well_formed = text.len() <= NAME_BYTES_MAX
        && labels().all(|label| {
            (1..=LABEL_BYTES_MAX).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        });
    // A name that ends in a number is an address to some: 127.1, 0x7f000001, 2130706433.
    let last = labels().next_back().unwrap_or_default();
    let numeric = last.bytes().all(|b| b.is_ascii_digit()) || last.to_ascii_lowercase().starts_with("0x");
    if well_formed && !numeric {
        return Ok(Host::Name(text.to_ascii_lowercase()));
    }
    match text.parse::<Ipv4Addr>() {
        Ok(address) => Ok(Host::Address(address.into())),
        Err(_) if text.bytes().next_back() == Some(b'.') || well_formed => Err(TargetRefusal::OddAddress),
        Err(_) => Err(TargetRefusal::Host),
    }
}

/// Returns whether the library's reader sees the same server.
fn agrees(url: &Url, endpoint: &Endpoint) -> bool {
    let host = match url.host() {
        Some(url::Host::Domain(name)) => Host::Name(name.to_owned()),
        Some(url::Host::Ipv4(address)) => Host::Address(address.into()),
        Some(url::Host::Ipv6(address)) => Host::Address(address.into()),
        None => return false,
    };
    host == endpoint.host
        && url.port_or_known_default() == Some(endpoint.port)
        && url.username().is_empty()
        && url.password().is_none()
}

/// Ports of services that take a request for commands of their own; the "bad ports" of the Fetch standard, and the
/// key-value stores and control sockets that answer to lines.
const NO_WEB_SERVER: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
    3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211,
];

#[cfg(test)]
mod tests;
