//! Observability, documents and whatever else is rented.

use super::TokenRule;

const fn token(kind: &'static str, start: &'static str, body: &'static str) -> TokenRule {
    TokenRule::new(kind, start, body)
}

pub(super) static TOKENS: [TokenRule; 45] = [
    token("newrelic-key", "NRAK-", "[A-Za-z0-9]{27}").any_case(),
    token("newrelic-key", "NRII-", "[A-Za-z0-9-]{32}").any_case(),
    token("newrelic-key", "NRJS-", "[A-Fa-f0-9]{19}").any_case(),
    token("newrelic-key", "NRAL", "[a-f0-9]{36}"),
    token("grafana-token", "glc_", "[A-Za-z0-9+/]{32,}={0,3}").any_case(),
    token("grafana-token", "glsa_", "[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}").any_case(),
    token("grafana-key", "eyJrIjoi", "[A-Za-z0-9]{40,}={0,3}").any_case(),
    token("sentry-token", "sntrys_", "[A-Za-z0-9+/=_]{40,}"),
    token("sentry-token", "sntryu_", "[a-f0-9]{64}"),
    token("dynatrace-token", "dt0c01.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    token("dynatrace-token", "dt0s01.", r"[A-Za-z0-9]{8}\.[A-Za-z0-9]{64}"),
    token("dynatrace-token", "dt0s16.", r"[A-Za-z0-9]{8}\.[A-Za-z0-9]{64}"),
    token("honeycomb-key", "hcaik_", "[a-z0-9]{58}"),
    token("axiom-token", "xaat-", "[a-f0-9-]{36}"),
    token("axiom-token", "xapt-", "[a-f0-9-]{36}"),
    token("posthog-key", "phx_", "[A-Za-z0-9]{40,}"),
    token("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    token("notion-token", "ntn_", "[0-9]{11}[A-Za-z0-9]{35}"),
    token("notion-token", "secret_", "[A-Za-z0-9]{43}").with_digit(),
    token("asana-token", "1/", r"\d{12,}:[a-f0-9]{32}"),
    token("figma-token", "figd_", "[A-Za-z0-9_-]{40,}"),
    token("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{50,}").any_case(),
    token("frameio-token", "fio-u-", "[A-Za-z0-9_=-]{64}"),
    token("adobe-secret", "p8e-", "[A-Za-z0-9]{32}"),
    token("hubspot-token", "pat-na", "[12]-[A-Fa-f0-9-]{36}"),
    token("hubspot-token", "pat-eu", "[12]-[A-Fa-f0-9-]{36}"),
    token("intercom-token", "dG9rO", "[A-Za-z0-9+/]{40,}={0,2}"),
    token("dropbox-token", "sl.", "[A-Za-z0-9_=-]{100,}").any_case(),
    token("mapbox-token", "pk.", r"[A-Za-z0-9]{60}\.[A-Za-z0-9]{22}"),
    token("mapbox-token", "sk.", r"[A-Za-z0-9]{60}\.[A-Za-z0-9]{22}"),
    token("clickup-token", "pk_", r"\d{5,10}_[A-Z0-9]{32}"),
    token("databento-key", "db-", "[A-Za-z0-9]{28,}").with_digit(),
    token("maxmind-key", "_mmk", "").behind("[A-Za-z0-9]{6}_[A-Za-z0-9]{29}", 29),
    token("authress-key", "sc_", AUTHRESS).any_case(),
    token("authress-key", "ext_", AUTHRESS).any_case(),
    token("authress-key", "scauth_", AUTHRESS).any_case(),
    token("authress-key", "authress_", AUTHRESS).any_case(),
    token("intra42-secret", "s-s4t2ud-", "[A-Fa-f0-9]{64}"),
    token("intra42-secret", "s-s4t2af-", "[A-Fa-f0-9]{64}"),
    token("yandex-key", "AQVN", "[A-Za-z0-9_-]{35,38}").any_case(),
    token("yandex-token", "t1.", r"[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2}").any_case(),
    token("yandex-key", "YCA", "[A-Za-z0-9_-]{37}").with_digit(),
    token("snyk-token", "snyk_", r"[a-z]{2,4}\.[a-f0-9]{8}\.[A-Za-z0-9_-]{30,}"),
    token("mapbox-token", "sk.", r"eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    token("mailchimp-key", "-us", "[0-9]{1,2}").behind("[0-9a-f]{32}", 32),
];

const AUTHRESS: &str =
    r"[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}";
