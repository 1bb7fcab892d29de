//! Private keys without the lines around them, by how their first bytes read in base64: OpenSSH's own format
//! (PROTOCOL.key), and the DER of PKCS #1, PKCS #8 and SEC 1.

use super::{LineRule, ValueCheck};

const BODY: &str = r"[A-Za-z0-9+/=]{24,}(?:(?:\s|\\n|\\r)+[A-Za-z0-9+/=]{16,})*";

const fn key(start: &'static str) -> LineRule {
    LineRule::new("private-key", start, BODY).check(ValueCheck::Drawn(30)).block()
}

pub(super) static LINES: [LineRule; 7] = [
    key("b3BlbnNzaC1rZXktdjE"),
    key("MIIEpAIBAAKCAQEA"),
    key("MIIEowIBAAKCAQEA"),
    key("MIIJKQIBAAKCAgEA"),
    key("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"),
    key("MIIEvgIBADANBgkqhkiG9w0BAQEFAASC"),
    key("MHcCAQEEI"),
];
