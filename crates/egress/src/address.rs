//! Which addresses are of the open network.
//!
//! Owns the table of those that are not, after the IANA registries of special-purpose addresses (RFC 6890 and what
//! came since) and a few that only look public. Knows no names and no sockets. Invariant: an IPv6 address is public
//! only inside 2000::/3, and whatever carries an IPv4 address in itself is never public, whichever it carries.
//! Begin at [`special`].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is that is not of the open network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpecialAddress {
    /// What it is, for a person: fits after "is".
    pub what: &'static str,
    /// Whether an operator may let it be reached all the same.
    pub lift: PolicyOverride,
}

/// Whether a refusal can be lifted by naming the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyOverride {
    /// By the operator, for one named host and port.
    ByOperator,
    /// By nobody: nothing over there speaks HTTP under such an address.
    Never,
}

/// Returns what an address is if it is not of the open network.
#[must_use]
pub fn special(address: IpAddr) -> Option<SpecialAddress> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

use PolicyOverride::{ByOperator, Never};

/// First address, length of the prefix, what it is, whether that can be lifted.
type AddressRow<Address> = (Address, u32, &'static str, PolicyOverride);

const fn v4(a: u8, b: u8, c: u8, d: u8) -> Ipv4Addr {
    Ipv4Addr::new(a, b, c, d)
}

const SPECIAL_V4: &[AddressRow<Ipv4Addr>] = &[
    (v4(0, 0, 0, 0), 8, "an address of this very network", Never),
    (v4(10, 0, 0, 0), 8, "a private address", ByOperator),
    (v4(100, 64, 0, 0), 10, "an address shared behind a carrier's NAT", ByOperator),
    (v4(127, 0, 0, 0), 8, "this machine itself", ByOperator),
    // The services that tell a cloud machine its credentials stand in here, too.
    (v4(168, 63, 129, 16), 32, "a cloud's metadata service", Never),
    (v4(169, 254, 0, 0), 16, "a link-local address", ByOperator),
    (v4(172, 16, 0, 0), 12, "a private address", ByOperator),
    (v4(192, 0, 0, 0), 24, "an address for protocol assignments", Never),
    (v4(192, 0, 2, 0), 24, "an address for documentation", ByOperator),
    (v4(192, 31, 196, 0), 24, "an address of AS112", Never),
    (v4(192, 52, 193, 0), 24, "an address for multicast tunnels", Never),
    (v4(192, 88, 99, 0), 24, "a 6to4 relay", Never),
    (v4(192, 168, 0, 0), 16, "a private address", ByOperator),
    (v4(192, 175, 48, 0), 24, "an address of AS112", Never),
    (v4(198, 18, 0, 0), 15, "an address for benchmarking", ByOperator),
    (v4(198, 51, 100, 0), 24, "an address for documentation", ByOperator),
    (v4(203, 0, 113, 0), 24, "an address for documentation", ByOperator),
    (v4(224, 0, 0, 0), 4, "a multicast address", Never),
    (v4(240, 0, 0, 0), 4, "a reserved address", Never),
];

const fn v6(head: [u16; 6]) -> Ipv6Addr {
    Ipv6Addr::new(head[0], head[1], head[2], head[3], head[4], head[5], 0, 0)
}

/// From the longest to the shortest prefix where they overlap; the first that fits is told.
const SPECIAL_V6: &[AddressRow<Ipv6Addr>] = &[
    (Ipv6Addr::UNSPECIFIED, 128, "the unspecified address", Never),
    (Ipv6Addr::LOCALHOST, 128, "this machine itself", ByOperator),
    (v6([0, 0, 0, 0, 0, 0xffff]), 96, "an IPv4 address in disguise (mapped)", Never),
    (v6([0, 0, 0, 0, 0xffff, 0]), 96, "an IPv4 address in disguise (translated)", Never),
    (v6([0, 0, 0, 0, 0, 0]), 96, "an IPv4 address in disguise (compatible)", Never),
    (v6([0x64, 0xff9b, 0, 0, 0, 0]), 96, "an IPv4 address behind NAT64", Never),
    (v6([0x64, 0xff9b, 1, 0, 0, 0]), 48, "an IPv4 address behind a local NAT64", Never),
    (v6([0x100, 0, 0, 0, 0, 0]), 64, "an address that discards", Never),
    (v6([0x100, 0, 0, 1, 0, 0]), 64, "a dummy address", Never),
    (v6([0x2001, 0, 0, 0, 0, 0]), 32, "an IPv4 address behind Teredo", Never),
    (v6([0x2001, 2, 0, 0, 0, 0]), 48, "an address for benchmarking", ByOperator),
    (v6([0x2001, 0, 0, 0, 0, 0]), 23, "an address for protocol assignments", Never),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0]), 32, "an address for documentation", ByOperator),
    (v6([0x2002, 0, 0, 0, 0, 0]), 16, "an IPv4 address behind 6to4", Never),
    (v6([0x2620, 0x4f, 0x8000, 0, 0, 0]), 48, "an address of AS112", Never),
    (v6([0x3ffe, 0, 0, 0, 0, 0]), 16, "an address of the former 6bone", Never),
    (v6([0x3fff, 0, 0, 0, 0, 0]), 20, "an address for documentation", ByOperator),
    (v6([0x5f00, 0, 0, 0, 0, 0]), 16, "a segment routing address", Never),
    (v6([0xfc00, 0, 0, 0, 0, 0]), 7, "a private address (unique local)", ByOperator),
    (v6([0xfe80, 0, 0, 0, 0, 0]), 10, "a link-local address", Never),
    (v6([0xfec0, 0, 0, 0, 0, 0]), 10, "a private address (site-local)", Never),
    (v6([0xff00, 0, 0, 0, 0, 0]), 8, "a multicast address", Never),
];

/// All that has been handed out for the open network so far.
const GLOBAL_UNICAST_TOP_BITS: u16 = 0b001;

fn special_v4(address: Ipv4Addr) -> Option<SpecialAddress> {
    let bits = u32::from(address);
    let row = SPECIAL_V4.iter().find(|(first, length, ..)| (bits ^ u32::from(*first)) >> (32 - length) == 0);
    row.map(|(.., what, lift)| SpecialAddress { what, lift: *lift })
}

fn special_v6(address: Ipv6Addr) -> Option<SpecialAddress> {
    let bits = u128::from(address);
    let row = SPECIAL_V6
        .iter()
        .find(|(first, length, ..)| (bits ^ u128::from(*first)).checked_shr(128 - length).unwrap_or(0) == 0);
    if let Some((.., what, lift)) = row {
        return Some(SpecialAddress { what, lift: *lift });
    }
    if address.segments()[0] >> 13 != GLOBAL_UNICAST_TOP_BITS {
        return Some(SpecialAddress { what: "an address outside of the open network", lift: Never });
    }
    is_isatap(address).then_some(SpecialAddress { what: "an IPv4 address behind ISATAP", lift: Never })
}

/// RFC 5214, section 6.1: the interface identifier `::0:5efe:a.b.c.d`, with or without the universal bit, below any
/// prefix.
fn is_isatap(address: Ipv6Addr) -> bool {
    let [_, _, _, _, high, low, _, _] = address.segments();
    low == 0x5efe && matches!(high, 0 | 0x200)
}

#[cfg(test)]
mod tests;
