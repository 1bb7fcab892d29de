//! What a credential looks like on the wire: the owner's decision, kept with the secret.

use std::fmt;
use std::str::FromStr;

/// The header that carries a secret.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SentAs {
    /// `Authorization: Bearer VALUE` (RFC 6750).
    #[default]
    Bearer,
    /// `Authorization: Basic` with the base64 of a value that is `user:password` (RFC 7617).
    Basic,
    /// The value as it is, in the header of this name, in lower case.
    Header(String),
}

/// Headers that steer a connection or name its other end; no secret is sent in one.
const STEERING: &[&str] = &[
    "connection",
    "content-length",
    "content-encoding",
    "content-type",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];
/// Characters of a header's name, at most.
const HEADER_CHARS_MAX: usize = 64;

/// A text does not say how a credential is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a way to send a secret: `bearer`, `basic`, or the name of a header such as `x-api-key`"
)]
pub struct NotAWayToSend(String);

impl FromStr for SentAs {
    type Err = NotAWayToSend;

    fn from_str(text: &str) -> Result<Self, NotAWayToSend> {
        let name = text.to_ascii_lowercase();
        match name.as_str() {
            "bearer" => return Ok(Self::Bearer),
            "basic" => return Ok(Self::Basic),
            _ => {}
        }
        let inner = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let fits = name.len() <= HEADER_CHARS_MAX
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(inner)
            && !name.starts_with("proxy-")
            && !STEERING.contains(&name.as_str());
        if fits { Ok(Self::Header(name)) } else { Err(NotAWayToSend(text.chars().take(64).collect())) }
    }
}

impl fmt::Display for SentAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bearer => "bearer",
            Self::Basic => "basic",
            Self::Header(name) => name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_to_send_is_read_back_as_it_is_shown() {
        for (text, way) in [
            ("bearer", SentAs::Bearer),
            ("Basic", SentAs::Basic),
            ("X-Api-Key", SentAs::Header("x-api-key".to_owned())),
            ("authorization", SentAs::Header("authorization".to_owned())),
        ] {
            assert_eq!(text.parse(), Ok(way.clone()));
            assert_eq!(way.to_string().parse(), Ok(way));
        }
    }

    #[test]
    fn no_secret_is_sent_where_it_would_steer() {
        for text in ["", "Host", "proxy-authorization", "a b", "x:y", "x\r\ny", "-x", "transfer-encoding"] {
            assert!(text.parse::<SentAs>().is_err(), "{text:?}");
        }
        assert!("x".repeat(HEADER_CHARS_MAX + 1).parse::<SentAs>().is_err());
    }
}
