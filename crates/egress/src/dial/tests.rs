//! Names and addresses that are not connected to, with a listener of this machine as the canary.

use std::time::Duration;

use super::{DialError, Dialer};
use crate::attacks::canary::Canary;
use crate::attacks::scripted_resolver::ScriptedResolver;
use crate::private_hosts::PrivateHosts;
use crate::target::Endpoint;

const TIME_MAX: Duration = Duration::from_secs(5);

async fn dial(resolver: &ScriptedResolver, lifted: &[&str], endpoint: &str) -> Result<(), DialError> {
    let hosts = PrivateHosts::read(lifted.iter().copied()).unwrap();
    let dialer = Dialer::new(std::sync::Arc::new(resolver.clone()), hosts);
    dialer.connect(&Endpoint::read(endpoint).unwrap(), TIME_MAX).await.map(drop)
}

#[tokio::test]
async fn one_refused_address_among_many_refuses_them_all() {
    let canary = Canary::start().await;
    let port = canary.port();
    for answer in [vec!["127.0.0.1", "8.8.8.8"], vec!["8.8.8.8", "127.0.0.1"], vec!["2606:4700::1111", "::1"]]
    {
        let resolver = ScriptedResolver::answering("mixed.example", &[&answer]);
        let refused = dial(&resolver, &[], &format!("mixed.example:{port}")).await;
        assert!(matches!(refused, Err(DialError::Address { .. })), "{answer:?}: {refused:?}");
    }
    assert_eq!(canary.touches(), 0);

    let resolver = ScriptedResolver::answering("mixed.example", &[&["127.0.0.1"]]);
    let entry = format!("mixed.example:{port}");
    dial(&resolver, &[&entry], &entry).await.unwrap();
    canary.touched(1).await;
}

#[tokio::test]
async fn a_name_is_resolved_once_for_a_connection() {
    let canary = Canary::start().await;
    let entry = format!("rebinding.example:{}", canary.port());
    // The second answer would be the private one.
    let resolver = ScriptedResolver::answering("rebinding.example", &[&["192.0.2.1"], &["127.0.0.1"]]);
    let refused = dial(&resolver, &[], &entry).await;
    assert!(matches!(refused, Err(DialError::Address { .. })), "{refused:?}");
    assert_eq!((resolver.questions().len(), canary.touches()), (1, 0));
    // Without the check, the next look leads to the canary.
    dial(&resolver, &[&entry], &entry).await.unwrap();
    canary.touched(1).await;
}

#[tokio::test]
async fn local_names_are_not_even_asked_for() {
    let resolver = ScriptedResolver::default();
    for name in
        ["localhost", "a.localhost", "metadata.google.internal", "printer.local", "router.home.arpa", "db"]
    {
        let refused = dial(&resolver, &[], &format!("{name}:80")).await;
        assert!(matches!(refused, Err(DialError::LocalName)), "{name}: {refused:?}");
    }
    assert!(resolver.questions().is_empty());
}

#[tokio::test]
async fn names_are_asked_for_as_they_stand_unless_the_operator_named_them() {
    let resolver = ScriptedResolver::default();
    assert!(dial(&resolver, &["db:80"], "db:80").await.is_err());
    assert!(dial(&resolver, &["db:80"], "public.example:80").await.is_err());
    assert_eq!(resolver.questions(), ["db", "public.example."]);
}

#[tokio::test]
async fn what_is_never_lifted_stays_refused_to_the_operator() {
    let canary = Canary::start().await;
    let port = canary.port();
    for address in ["0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "224.0.0.1", "[64:ff9b::7f00:1]"] {
        let entry = format!("{address}:{port}");
        let refused = dial(&ScriptedResolver::default(), &[&entry], &entry).await;
        assert!(matches!(refused, Err(DialError::Address { .. })), "{address}: {refused:?}");
    }
    assert_eq!(canary.touches(), 0);
}

#[tokio::test]
async fn a_name_with_too_many_addresses_is_given_up() {
    let crowd = vec!["8.8.8.8"; super::ADDRESSES_MAX + 1];
    let resolver = ScriptedResolver::answering("crowd.example", &[&crowd]);
    let refused = dial(&resolver, &[], "crowd.example:80").await;
    assert!(matches!(refused, Err(DialError::Unresolved(_))), "{refused:?}");
}

#[test]
fn what_cannot_be_told_from_this_machine_is_refused() {
    use std::io::Error;
    use std::net::IpAddr;
    const EPERM: i32 = 1;
    const ENOMEM: i32 = 12;
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    const EAFNOSUPPORT: i32 = 97;
    const EADDRNOTAVAIL: i32 = 99;
    const ENETUNREACH: i32 = 101;
    const ENOBUFS: i32 = 105;
    const EHOSTUNREACH: i32 = 113;
    let address: IpAddr = [8, 8, 8, 8].into();
    for full in [EPERM, ENOMEM, ENFILE, EMFILE, ENOBUFS] {
        assert!(super::own(address, Err(Error::from_raw_os_error(full))).is_some(), "{full}");
    }
    // A name may have an address that this machine has no road to, beside one that it has.
    for nowhere in [EAFNOSUPPORT, EADDRNOTAVAIL, ENETUNREACH, EHOSTUNREACH] {
        assert_eq!(super::own(address, Err(Error::from_raw_os_error(nowhere))), None, "{nowhere}");
    }
    assert_eq!(super::own(address, Ok([192, 0, 2, 1].into())), None);
    assert_eq!(super::own(address, Ok(address)), Some("an address of this machine"));
    let here: IpAddr = [127, 0, 0, 1].into();
    assert!(super::own(here, super::source_towards(here)).is_some());
}
