//! Every special range at its edges, and arbitrary addresses against a second opinion.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::{PolicyOverride, special};

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[track_caller]
fn is_special(text: &str) {
    assert!(special(address(text)).is_some(), "{text} passes");
}

#[track_caller]
fn is_public(text: &str) {
    assert_eq!(special(address(text)), None, "{text}");
}

/// Range by range: the address before, the first, the last, the address after; `-` where the neighbour is special.
const EDGES: &[(&str, &str, &str, &str)] = &[
    ("-", "0.0.0.0", "0.255.255.255", "1.0.0.0"),
    ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
    ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
    ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
    ("168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"),
    ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
    ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
    ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
    ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
    ("192.31.195.255", "192.31.196.0", "192.31.196.255", "192.31.197.0"),
    ("192.52.192.255", "192.52.193.0", "192.52.193.255", "192.52.194.0"),
    ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
    ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
    ("192.175.47.255", "192.175.48.0", "192.175.48.255", "192.175.49.0"),
    ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
    ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
    ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
    ("223.255.255.255", "224.0.0.0", "255.255.255.255", "-"),
    ("-", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"),
    (
        "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001::",
        "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:200::",
    ),
    (
        "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:db8::",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:db9::",
    ),
    (
        "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2002::",
        "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2003::",
    ),
    (
        "2620:4f:7fff:ffff:ffff:ffff:ffff:ffff",
        "2620:4f:8000::",
        "2620:4f:8000:ffff:ffff:ffff:ffff:ffff",
        "2620:4f:8001::",
    ),
    (
        "3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "3ffe::",
        "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
        "3fff:1000::",
    ),
    ("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "-"),
];

#[test]
fn every_range_ends_where_its_registry_says() {
    for (before, first, last, after) in EDGES {
        is_special(first);
        is_special(last);
        for neighbour in [before, after] {
            if *neighbour != "-" {
                is_public(neighbour);
            }
        }
    }
}

#[test]
fn special_addresses_are_told_by_name() {
    for (text, what) in [
        ("127.0.0.1", "this machine itself"),
        ("::1", "this machine itself"),
        ("169.254.169.254", "a link-local address"),
        ("100.100.100.200", "an address shared behind a carrier's NAT"),
        ("192.0.0.192", "an address for protocol assignments"),
        ("fd00:ec2::254", "a private address (unique local)"),
        ("::ffff:8.8.8.8", "an IPv4 address in disguise (mapped)"),
        ("::ffff:0:8.8.8.8", "an IPv4 address in disguise (translated)"),
        ("::8.8.8.8", "an IPv4 address in disguise (compatible)"),
        ("64:ff9b::8.8.8.8", "an IPv4 address behind NAT64"),
        ("64:ff9b:1:fffe::1", "an IPv4 address behind a local NAT64"),
        ("2002:0808:0808::1", "an IPv4 address behind 6to4"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "an IPv4 address behind Teredo"),
        ("2001:2::1", "an address for benchmarking"),
        ("2a00::5efe:8.8.8.8", "an IPv4 address behind ISATAP"),
        ("2a00::200:5efe:8.8.8.8", "an IPv4 address behind ISATAP"),
        ("100::1", "an address that discards"),
        ("fe80::1", "a link-local address"),
        ("ff02::1", "a multicast address"),
        ("5f00::1", "a segment routing address"),
    ] {
        assert_eq!(special(address(text)).map(|found| found.what), Some(what), "{text}");
    }
}

#[test]
fn servers_of_the_open_network_are_public() {
    for text in ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001:80b::200e"] {
        is_public(text);
    }
}

/// The forms in which an IPv6 address carries an IPv4 address.
fn disguises(inside: Ipv4Addr) -> Vec<Ipv6Addr> {
    let [a, b, c, d] = inside.octets().map(u16::from);
    let (high, low) = (a << 8 | b, c << 8 | d);
    vec![
        Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0x2001, 0, high, low, 0, 0, 0, 0),
        Ipv6Addr::new(0x2001, 0, 0x4136, 0xe378, 0x8000, 0x63bf, !high, !low),
        Ipv6Addr::new(0x2a00, 1, 2, 3, 0, 0x5efe, high, low),
        Ipv6Addr::new(0x2a00, 1, 2, 3, 0x200, 0x5efe, high, low),
    ]
}

proptest! {
    #[test]
    fn an_ipv4_address_inside_is_never_public_nor_lifted(bits: u32) {
        for disguise in disguises(Ipv4Addr::from(bits)) {
            // `::` and `::1` are among the compatible forms, and stand for themselves.
            if u128::from(disguise) > 1 {
                prop_assert_eq!(special(disguise.into()).map(|found| found.lift), Some(PolicyOverride::Never));
            }
        }
    }

    #[test]
    fn whatever_the_standard_library_calls_special_is(bits: u32) {
        let address = Ipv4Addr::from(bits);
        let special_there = address.is_private()
            || address.is_loopback()
            || address.is_link_local()
            || address.is_broadcast()
            || address.is_documentation()
            || address.is_multicast()
            || address.is_unspecified();
        if special_there {
            prop_assert!(special(address.into()).is_some());
        }
    }

    #[test]
    fn whatever_lies_outside_of_global_unicast_is_special(bits: u128) {
        let address = Ipv6Addr::from(bits);
        if bits >> 125 != 1 || address.is_multicast() || address.is_unique_local() {
            prop_assert!(special(address.into()).is_some());
        }
    }
}
