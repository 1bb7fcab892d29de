//! Tables of names, origins and what browsers say about a page.

use axum::http::{HeaderName, HeaderValue};

use super::*;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header value"))
    };
    let mut map = HeaderMap::new();
    for (name, value) in pairs.iter().map(pair) {
        map.append(name, value);
    }
    map
}

fn local() -> OriginRules {
    OriginRules::new(PublicOrigin::local(7787, TransportSecurity::Clear), TransportSecurity::Clear)
}

fn public() -> OriginRules {
    OriginRules::new(
        PublicOrigin::parse("https://palyra.example").expect("a public URL"),
        TransportSecurity::Tls,
    )
}

fn verdict(
    rules: &OriginRules,
    method: &Method,
    target: TargetKind,
    credential: ShownCredential,
    pairs: &[(&'static str, &str)],
) -> Result<(), OriginRefusal> {
    rules.check(method, &headers(pairs), target, credential)
}

#[test]
fn a_public_url_is_an_origin_and_nothing_more() {
    let shown = |url: &str| PublicOrigin::parse(url).map(|origin| origin.to_string());
    assert_eq!(shown("https://Palyra.Example:443/").as_deref(), Some("https://palyra.example"));
    assert_eq!(shown("https://palyra.example:8443").as_deref(), Some("https://palyra.example:8443"));
    assert_eq!(shown("http://[fd00::1]:80").as_deref(), Some("http://[fd00::1]"));
    for bad in [
        "",
        "palyra.example",
        "ftp://palyra.example",
        "https://palyra.example/below",
        "https://palyra.example?x",
        "https://me@palyra.example",
        "https://",
    ] {
        assert_eq!(shown(bad), None, "{bad}");
    }
}

#[test]
fn the_canonical_name_is_taken_and_addresses_only_with_a_token_or_for_probes() {
    use ShownCredential::{Nothing, Token};
    use TargetKind::{Data, Page, Probe};
    let host = |name: &str, target, credential| {
        verdict(&local(), &Method::GET, target, credential, &[("host", name)])
    };
    for name in ["localhost:7787", "LOCALHOST", "localhost:9000"] {
        assert_eq!(host(name, Data, Nothing), Ok(()), "{name}: a forwarded port keeps the name");
    }
    for name in ["127.0.0.1:7787", "[::1]:7787"] {
        assert_eq!(host(name, Data, Token), Ok(()), "{name}");
        assert_eq!(host(name, Probe, Nothing), Ok(()), "{name}");
        assert_eq!(host(name, Page, Nothing), Err(OriginRefusal::Moved), "{name}");
        assert_eq!(host(name, Data, Nothing), Err(OriginRefusal::UnknownHost), "{name}");
    }
}

/// A name that an attacker lets lead to 127.0.0.1 reaches no data, with whatever it sends.
#[test]
fn a_rebound_name_is_refused() {
    use ShownCredential::{Nothing, Token};
    for name in ["evil.example", "evil.example:7787", "127.0.0.1.evil.example", "localhost.", "2130706433"] {
        for credential in [Nothing, Token] {
            for target in [TargetKind::Data, TargetKind::Probe] {
                let found = verdict(&local(), &Method::GET, target, credential, &[("host", name)]);
                assert_eq!(found, Err(OriginRefusal::UnknownHost), "{name}");
            }
        }
        let page = verdict(&local(), &Method::GET, TargetKind::Page, Nothing, &[("host", name)]);
        assert_eq!(page, Err(OriginRefusal::Moved), "{name}");
        let posted = verdict(&local(), &Method::POST, TargetKind::Page, Nothing, &[("host", name)]);
        assert_eq!(posted, Err(OriginRefusal::UnknownHost), "{name}");
    }
    let at_public = verdict(&public(), &Method::GET, TargetKind::Data, Token, &[("host", "127.0.0.1:7787")]);
    assert_eq!(at_public, Ok(()), "a program on the machine itself");
}

#[test]
fn a_host_that_is_missing_doubled_or_malformed_is_none() {
    let bad: [&[(&'static str, &str)]; 7] = [
        &[],
        &[("host", "")],
        &[("host", "localhost"), ("host", "localhost")],
        &[("host", "localhost:port")],
        &[("host", "localhost:")],
        &[("host", "me@localhost")],
        &[("host", "[::1")],
    ];
    for pairs in bad {
        let found = verdict(&local(), &Method::GET, TargetKind::Data, ShownCredential::Token, pairs);
        assert_eq!(found, Err(OriginRefusal::BadHost), "{pairs:?}");
    }
}

#[test]
fn a_page_of_another_origin_gets_nothing() {
    let data = |rules: &OriginRules, method: &Method, pairs: &[(&'static str, &str)]| {
        verdict(rules, method, TargetKind::Data, ShownCredential::Token, pairs)
    };
    let own: [&[(&'static str, &str)]; 5] = [
        &[("host", "localhost:7787")],
        &[("host", "localhost:7787"), ("origin", "http://localhost:7787"), ("sec-fetch-site", "same-origin")],
        &[("host", "127.0.0.1:7787"), ("origin", "http://127.0.0.1:7787"), ("sec-fetch-site", "same-origin")],
        &[("host", "localhost:7787"), ("sec-fetch-site", "none")],
        &[("host", "localhost:9000"), ("origin", "http://localhost:9000"), ("sec-fetch-site", "same-origin")],
    ];
    let others: [&[(&'static str, &str)]; 9] = [
        &[("host", "localhost:7787"), ("origin", "https://evil.example")],
        &[("host", "localhost:7787"), ("origin", "null")],
        &[("host", "127.0.0.1:7787"), ("origin", "http://localhost:7787")],
        &[("host", "localhost:7787"), ("origin", "http://localhost:3000")],
        &[("host", "localhost:7787"), ("origin", "https://localhost:7787")],
        &[
            ("host", "localhost:7787"),
            ("origin", "http://localhost:7787"),
            ("origin", "http://localhost:7787"),
        ],
        &[("host", "localhost:7787"), ("sec-fetch-site", "same-site")],
        &[("host", "localhost:7787"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
        &[("host", "localhost:7787"), ("sec-fetch-site", "something-new")],
    ];
    for method in [Method::GET, Method::POST] {
        for pairs in own {
            assert_eq!(data(&local(), &method, pairs), Ok(()), "{method} {pairs:?}");
        }
        for pairs in others {
            assert_eq!(data(&local(), &method, pairs), Err(OriginRefusal::CrossSite), "{method} {pairs:?}");
        }
    }
    let followed =
        [("host", "localhost:7787"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    let page =
        |method: &Method| verdict(&local(), method, TargetKind::Page, ShownCredential::Nothing, &followed);
    assert_eq!((page(&Method::GET), page(&Method::POST)), (Ok(()), Err(OriginRefusal::CrossSite)));
    let behind_tls = [("host", "palyra.example"), ("origin", "https://palyra.example")];
    assert_eq!(data(&public(), &Method::POST, &behind_tls), Ok(()));
    let downgraded = [("host", "palyra.example"), ("origin", "http://palyra.example")];
    assert_eq!(data(&public(), &Method::POST, &downgraded), Err(OriginRefusal::CrossSite));
}
