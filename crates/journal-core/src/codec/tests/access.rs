//! Entries about principals and tokens as later versions write them, beside the golden files of the first.

use palyra_testkit::journal_suite::samples;
use palyra_types::access::{AccessScope, CredentialKind, PrincipalKind, Role, ScopeSet};
use palyra_types::event::kind::EventKind;
use palyra_types::event::{AccessEvent, JournalEvent, TokenCreated};
use palyra_types::{Timestamp, TokenId};

pub(super) fn access_kinds() -> Vec<(EventKind, &'static str, JournalEvent)> {
    let scoped = TokenCreated {
        token: TokenId::from_parts(5, 6),
        sha256: [8; 32],
        expires: Some(Timestamp(1_735_689_600_000_000)),
        label: "console".into(),
        kind: CredentialKind::PersonSession,
        scopes: Some(ScopeSet::of(&[AccessScope::RunsRead, AccessScope::Approve])),
    };
    let registered = AccessEvent::PrincipalRegistered {
        principal: samples::principal(0),
        name: "ci".into(),
        kind: PrincipalKind::Service,
        role: Some(Role::Viewer),
    };
    let event = |event| JournalEvent::Access(event);
    vec![
        (EventKind::PrincipalRegistered, "PrincipalRegistered-role", event(registered)),
        (EventKind::TokenCreated, "TokenCreated-scoped", event(AccessEvent::TokenCreated(scoped))),
    ]
}
