//! Addresses that two readers would read differently, and addresses that stay what they are.

use proptest::prelude::*;

use super::{Endpoint, Host, Target, TargetRefusal as No};

#[test]
fn plain_addresses_are_read_as_they_are_written() {
    for (text, host, port, path) in [
        ("http://example.com", "example.com", 80, "/"),
        ("https://example.com/a/b?c=d#e", "example.com", 443, "/a/b?c=d"),
        ("HTTPS://Example.COM:8443/", "example.com", 8443, "/"),
        ("http://93.184.216.34/x", "93.184.216.34", 80, "/x"),
        ("http://[2606:4700::1111]:8080/", "[2606:4700::1111]", 8080, "/"),
        ("http://a.b-c.d_e.example/", "a.b-c.d_e.example", 80, "/"),
        ("https://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de", 443, "/"),
        ("https://example.com/straße", "example.com", 443, "/stra%C3%9Fe"),
        ("https://example.com/a@b", "example.com", 443, "/a@b"),
        ("https://good.example#@evil.example/", "good.example", 443, "/"),
        ("https://good.example?@evil.example/", "good.example", 443, "/?@evil.example/"),
    ] {
        let target = Target::read(text).unwrap();
        assert_eq!(target.endpoint().host.to_string(), host, "{text}");
        assert_eq!(target.endpoint().port, port, "{text}");
        assert_eq!(target.path_and_query(), path, "{text}");
    }
}

#[test]
fn what_could_be_read_in_two_ways_is_not_read() {
    let long = format!("http://example.com/{}", "a".repeat(super::URL_BYTES_MAX));
    let name = format!("http://{}.example/", "a".repeat(64));
    for (text, refusal) in [
        ("http://good.example@evil.example/", No::UserInfo),
        ("http://a:b@evil.example/", No::UserInfo),
        ("http://good.example\\@evil.example/", No::Character),
        ("http:\\\\evil.example/", No::Character),
        ("http://evil.example\t.good.example/", No::Character),
        ("ht\ntp://evil.example/", No::Character),
        ("http://evil.example/\r\nHost: other", No::Character),
        ("http://evil.example\0.good.example/", No::Character),
        (" http://example.com/", No::Character),
        ("http://exa\u{200b}mple.com/", No::Character),
        ("http://exa\u{ad}mple.com/", No::Character),
        ("http://exam\u{202e}ple.com/", No::Character),
        ("http://evil。example/", No::Host),
        ("http://evil．example/", No::Host),
        ("http://münchen.de/", No::Host),
        ("http://①②⑦.⓪.⓪.①/", No::Host),
        ("http://１２７.0.0.1/", No::Host),
        ("http://%31%32%37.0.0.1/", No::Host),
        ("http://example.com%00.evil.example/", No::Host),
        ("http://127.1/", No::OddAddress),
        ("http://127.0.1/", No::OddAddress),
        ("http://2130706433/", No::OddAddress),
        ("http://0x7f000001/", No::OddAddress),
        ("http://0x7f.0.0.1/", No::OddAddress),
        ("http://127.0.0.0x1/", No::OddAddress),
        ("http://0177.0.0.1/", No::OddAddress),
        ("http://127.0.0.01/", No::OddAddress),
        ("http://127.0.0.1./", No::OddAddress),
        ("http://0/", No::OddAddress),
        ("http://256.256.256.256/", No::OddAddress),
        ("http://1.2.3.4.5/", No::OddAddress),
        ("http://0x/", No::OddAddress),
        ("http://localhost./", No::OddAddress),
        ("http://example.com./", No::OddAddress),
        ("http://[fe80::1%25eth0]/", No::Host),
        ("http://[fe80::1%eth0]/", No::Host),
        ("http://[::1/", No::Host),
        ("http://[::1]x/", No::Host),
        ("http://[127.0.0.1]/", No::Host),
        ("http://::1/", No::Port),
        ("http:///evil.example/", No::Host),
        ("http://", No::Host),
        ("http://.example.com/", No::Host),
        ("http://a..b/", No::Host),
        (name.as_str(), No::Host),
        ("http://example.com:/", No::Port),
        ("http://example.com:0/", No::Port),
        ("http://example.com:080/", No::Port),
        ("http://example.com:65536/", No::Port),
        ("http://example.com:80:80/", No::Port),
        ("http://example.com:+80/", No::Port),
        ("http://example.com:25/", No::Port),
        ("http://example.com:6379/", No::Port),
        ("http:example.com", No::Scheme),
        ("//example.com/", No::Scheme),
        ("ftp://example.com/", No::Scheme),
        ("file:///etc/passwd", No::Scheme),
        ("gopher://example.com/", No::Scheme),
        ("javascript:alert(1)", No::Scheme),
        ("data:text/plain,x", No::Scheme),
        ("", No::Scheme),
        (long.as_str(), No::TooLong),
    ] {
        assert_eq!(Target::read(text), Err(refusal), "{text:?}");
    }
}

#[test]
fn a_reference_leads_where_it_says() {
    let base = Target::read("https://example.com/a/b?c").unwrap();
    for (reference, url) in [
        ("d", "https://example.com/a/d"),
        ("/d", "https://example.com/d"),
        ("../../../d", "https://example.com/d"),
        ("?e", "https://example.com/a/b?e"),
        ("#f", "https://example.com/a/b?c"),
        ("//other.example/x", "https://other.example/x"),
        ("http://other.example/x", "http://other.example/x"),
        ("/x@y:z", "https://example.com/x@y:z"),
    ] {
        assert_eq!(base.follow(reference).map(|target| target.to_url()).as_deref(), Ok(url), "{reference}");
    }
    for (reference, refusal) in [
        ("/\\evil.example/", No::Character),
        ("\\\\evil.example/", No::Character),
        ("/\t/evil.example/", No::Character),
        ("//good@evil.example/", No::UserInfo),
        ("//127.1/", No::OddAddress),
        ("file:///etc/passwd", No::Scheme),
        ("javascript:alert(1)", No::Scheme),
        ("https:evil.example", No::Scheme),
        ("data:text/html,x", No::Scheme),
    ] {
        assert_eq!(base.follow(reference), Err(refusal), "{reference:?}");
    }
}

#[test]
fn an_endpoint_names_its_port() {
    let read = |text: &str| Endpoint::read(text).map(|endpoint| endpoint.to_string());
    assert_eq!(read("Example.com:443").as_deref(), Ok("example.com:443"));
    assert_eq!(read("[2606:4700::1111]:443").as_deref(), Ok("[2606:4700::1111]:443"));
    for text in [
        "example.com",
        "example.com:",
        "example.com:443/",
        "a@b:443",
        "example.com:443#",
        "127.1:443",
        ":443",
        "example.com\0.evil.example:443",
        "2606:4700::1111:443",
        "http://example.com:443",
        "*:443",
    ] {
        assert!(Endpoint::read(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_target_shows_no_more_than_its_origin() {
    let target = Target::read("https://example.com/canary?key=canary").unwrap();
    assert_eq!(format!("{target:?}"), "https://example.com:443/<path>");
}

proptest! {
    /// Whatever is read, the strictest splitter sees the same host: what stands between the slashes and the port.
    #[test]
    fn the_host_that_is_read_is_the_one_that_was_written(
        text in r"(http|https)://[a-zA-Z0-9.@:\[\]%\\ -]{0,24}[/?#]?[a-z@:/?#.\\]{0,12}",
    ) {
        if let Ok(target) = Target::read(&text) {
            let authority = text.split("//").nth(1).unwrap().split(['/', '?', '#']).next().unwrap();
            let written = authority.to_ascii_lowercase();
            match &target.endpoint().host {
                Host::Name(name) => {
                    let front = written.split(':').next().unwrap_or_default();
                    prop_assert_eq!(front, name);
                }
                Host::Address(_) => prop_assert!(!written.contains('@')),
            }
            let again = Target::read(&target.to_url()).map(|target| target.endpoint().clone());
            prop_assert_eq!(again.as_ref(), Ok(target.endpoint()));
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,64}", reference in ".{0,64}") {
        let _ = Target::read(&text);
        let _ = Endpoint::read(&text);
        let _ = Target::read("http://example.com/").unwrap().follow(&reference);
    }
}
