//! Keys and signed tokens that belong to no vendor.

use super::TokenRule;

const fn token(kind: &'static str, start: &'static str, body: &'static str) -> TokenRule {
    TokenRule::new(kind, start, body)
}

pub(super) static TOKENS: [TokenRule; 3] = [
    token(
        "jwt",
        "ey",
        r"[A-Za-z0-9_-]{15,}\.(?:[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}|ey[A-Za-z0-9/_-]{15,})[A-Za-z0-9/_=.-]*",
    ),
    token("jwt-base64", "ZXlK", "[A-Za-z0-9+/_-]{40,}={0,2}"),
    token("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,}"),
];
