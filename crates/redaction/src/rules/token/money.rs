//! Payment, shops and post.

use super::TokenRule;

const fn token(kind: &'static str, start: &'static str, body: &'static str) -> TokenRule {
    TokenRule::new(kind, start, body)
}

pub(super) static TOKENS: [TokenRule; 31] = [
    token("stripe-key", "sk_test_", "[A-Za-z0-9_]{10,}"),
    token("stripe-key", "sk_live_", "[A-Za-z0-9_]{10,}"),
    token("stripe-key", "sk_prod_", "[A-Za-z0-9_]{10,}"),
    token("stripe-key", "rk_test_", "[A-Za-z0-9_]{10,}"),
    token("stripe-key", "rk_live_", "[A-Za-z0-9_]{10,}"),
    token("stripe-key", "rk_prod_", "[A-Za-z0-9_]{10,}"),
    token("stripe-webhook-secret", "whsec_", "[A-Za-z0-9+/=]{24,}"),
    token("square-token", "EAAA", "[A-Za-z0-9_-]{22,}").with_digit(),
    token("square-token", "sq0atp-", "[A-Za-z0-9_-]{22,}"),
    token("square-secret", "sq0csp-", "[A-Za-z0-9_-]{40,}"),
    token("shopify-token", "shpat_", "[A-Fa-f0-9]{32}"),
    token("shopify-token", "shpca_", "[A-Fa-f0-9]{32}"),
    token("shopify-token", "shppa_", "[A-Fa-f0-9]{32}"),
    token("shopify-secret", "shpss_", "[A-Fa-f0-9]{32}"),
    token("paypal-braintree-token", "access_token$", r"[a-z]{4,12}\$[a-z0-9]{16}\$[a-f0-9]{32}"),
    token("razorpay-key", "rzp_live_", "[A-Za-z0-9]{14,}"),
    token("razorpay-key", "rzp_test_", "[A-Za-z0-9]{14,}"),
    token("flutterwave-key", "FLWSECK", "(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"),
    token("flutterwave-key", "FLWPUBK", "(?:_TEST)?-[A-Za-z0-9]{32}(?:-X)?"),
    token("plaid-token", "access-sandbox-", "[A-Fa-f0-9-]{36}").any_case(),
    token("plaid-token", "access-development-", "[A-Fa-f0-9-]{36}").any_case(),
    token("plaid-token", "access-production-", "[A-Fa-f0-9-]{36}").any_case(),
    token("duffel-token", "duffel_", "(?:test|live)_[A-Za-z0-9_=-]{43}"),
    token("easypost-key", "EZAK", "[A-Za-z0-9]{54}"),
    token("easypost-key", "EZTK", "[A-Za-z0-9]{54}"),
    token("shippo-token", "shippo_", "(?:live|test)_[A-Fa-f0-9]{40}"),
    token("lob-key", "live_", "[a-f0-9]{35}"),
    token("lob-key", "test_", "[a-f0-9]{35}"),
    token("lob-key", "live_pub_", "[a-f0-9]{31}"),
    token("lob-key", "test_pub_", "[a-f0-9]{31}"),
    token("adyen-key", "AQE", r"[a-z]hm[A-Za-z0-9+/]{80,}[A-Za-z0-9+/=_:.{}\^-]*"),
];
