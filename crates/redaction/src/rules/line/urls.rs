//! Signatures and keys in the query of an address (Azure storage and functions, AWS Signature Version 4, Google Cloud
//! Storage signed URLs, CloudFront).

use super::{LineRule, ValueCheck};

const fn line(start: &'static str, pattern: &'static str) -> LineRule {
    LineRule::new("signed-url", start, pattern).check(ValueCheck::Drawn(30))
}

pub(super) static LINES: [LineRule; 9] = [
    line("?sig=", "([A-Za-z0-9%+/=_.~-]{20,})"),
    line("&sig=", "([A-Za-z0-9%+/=_.~-]{20,})"),
    line("x-amz-signature=", "([A-Fa-f0-9]{32,})"),
    line("x-amz-security-token=", "([A-Za-z0-9%+/=_.~-]{20,})"),
    line("x-goog-signature=", "([A-Fa-f0-9]{32,})"),
    line("x-amz-credential=", "([A-Z0-9]{16,})"),
    line("?signature=", "([A-Za-z0-9%+/=_.~-]{20,})"),
    line("&signature=", "([A-Za-z0-9%+/=_.~-]{20,})"),
    line(".azurewebsites.net/", r"[^\s'\x22]*?[?&]code=([A-Za-z0-9%+/=_.~-]{20,})"),
];
