//! The signature of a webhook, as the specification of Standard Webhooks has it: HMAC-SHA256 over `id.timestamp.body`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// How a secret may begin.
const SECRET_PREFIX: &str = "whsec_";
/// Bytes of a secret, at least; the specification says 24 to 64.
const SECRET_BYTES_MIN: usize = 24;
/// Bytes of a secret, at most.
const SECRET_BYTES_MAX: usize = 64;

/// The secret that daemon and receiver share.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Zeroizing<Vec<u8>>);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

/// The text is not a secret of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the secret of the webhook is not {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} bytes in base64 with `{SECRET_PREFIX}` before \
     them; make one with: echo {SECRET_PREFIX}$(openssl rand -base64 32)"
)]
pub struct InvalidWebhookSecret;

impl WebhookSecret {
    /// Reads a secret: base64 of 24 to 64 bytes, with or without `whsec_`.
    ///
    /// # Errors
    /// [`InvalidWebhookSecret`].
    pub fn parse(text: &str) -> Result<Self, InvalidWebhookSecret> {
        let text = text.trim();
        let digits = text.strip_prefix(SECRET_PREFIX).unwrap_or(text);
        let bytes = Zeroizing::new(STANDARD.decode(digits).map_err(|_| InvalidWebhookSecret)?);
        let is_usable = (SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&bytes.len());
        if is_usable { Ok(Self(bytes)) } else { Err(InvalidWebhookSecret) }
    }

    /// Returns the value of the header `webhook-signature`.
    #[must_use]
    pub fn sign(&self, id: &str, unix_seconds: u64, body: &str) -> String {
        // A key of HMAC may have any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(format!("{id}.{unix_seconds}.").as_bytes());
        mac.update(body.as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the test suites of the libraries at <https://github.com/standard-webhooks/standard-webhooks>.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    #[test]
    fn the_published_example_has_its_published_signature() {
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        let body = r#"{"test": 2432232314}"#;
        for secret in [SECRET, SECRET.trim_start_matches(SECRET_PREFIX), &format!(" {SECRET}\n")] {
            let secret = WebhookSecret::parse(secret).unwrap();
            assert_eq!(secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body), expected);
        }
    }

    #[test]
    fn a_signature_is_of_its_id_its_time_and_its_body() {
        let secret = WebhookSecret::parse(SECRET).unwrap();
        let signed = secret.sign("msg_1", 12, "body");
        for other in [
            secret.sign("msg_11", 2, "body"),
            secret.sign("msg_1", 13, "body"),
            secret.sign("msg_1", 12, "body "),
        ] {
            assert_ne!(other, signed);
        }
    }

    #[test]
    fn weak_secrets_and_other_texts_are_refused_and_none_is_shown() {
        let short = STANDARD.encode([7; SECRET_BYTES_MIN - 1]);
        let long = STANDARD.encode([7; SECRET_BYTES_MAX + 1]);
        for text in [
            "",
            "whsec_",
            "hunter2",
            short.as_str(),
            long.as_str(),
            "whsec_whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        ] {
            let refusal = WebhookSecret::parse(text).unwrap_err();
            assert!(!refusal.to_string().contains("hunter2"));
        }
        assert_eq!(format!("{:?}", WebhookSecret::parse(SECRET).unwrap()), "WebhookSecret");
    }
}
