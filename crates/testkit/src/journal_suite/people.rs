//! Principals and tokens as the log says: roles, who is disabled, scopes; and who acted.

use palyra_journal_core::families::{principals, tokens};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendError, AppendTape, EntryActor, JournalAppendRequest, NewEntry};
use palyra_types::access::{AccessScope, ActorIdentity, CredentialKind, PrincipalKind, Role, ScopeSet};
use palyra_types::event::{AccessEvent, JournalEvent, TokenCreated};
use palyra_types::surface::Surface;
use palyra_types::{PrincipalId, Timestamp, TokenId};

use super::JournalFactory;
use super::samples::{self, append};

fn entry(time: i64, event: JournalEvent) -> NewEntry {
    let principal = samples::principal(0);
    NewEntry { time: Timestamp(time), principal, session: None, run: None, event }
}

/// The latest name and role count; a disabled principal stays so when it is named again.
pub async fn people_are_kept(factory: &impl JournalFactory) {
    let journal = factory.make();
    let principal = PrincipalId::from_parts(1, 78);
    let registered = |name: &'static str, role| AccessEvent::PrincipalRegistered {
        principal,
        name: name.into(),
        kind: PrincipalKind::Person,
        role,
    };
    let events = [
        AccessEvent::RoleGiven { principal, role: Role::Owner },
        registered("ann", None),
        AccessEvent::PrincipalRenamed { principal, name: "anna".into() },
        AccessEvent::RoleGiven { principal, role: Role::Viewer },
        AccessEvent::PrincipalDisabled { principal },
        AccessEvent::PrincipalDisabled { principal },
        registered("anne", None),
        AccessEvent::PrincipalEnabled { principal },
        AccessEvent::TimeZoneSet { principal, time_zone: "Asia/Tokyo".into() },
        registered("anne", Some(Role::Approver)),
    ];
    let expected = [
        "",
        "ann member -",
        "anna member -",
        "anna viewer -",
        "anna viewer 5",
        "anna viewer 5",
        "anne viewer 5",
        "anne viewer -",
        "anne viewer - Asia/Tokyo",
        "anne approver - Asia/Tokyo",
    ];
    for ((time, event), expected) in (1..).zip(events).zip(expected) {
        journal.append(append(vec![entry(time, JournalEvent::Access(event))])).await.unwrap();
        let people = journal.query(|rows, _| principals::all(rows)).await.unwrap();
        let shown = people.iter().map(|one| {
            let disabled = one.disabled.map_or("-".to_owned(), |time| time.0.to_string());
            let shown = format!("{} {} {disabled} {}", one.name.expose(), one.role, one.time_zone.expose());
            shown.trim_end().to_owned()
        });
        assert_eq!(shown.collect::<Vec<_>>().join(";"), expected);
    }
}

/// A token from before there were scopes has what it could do.
pub async fn scopes_of_tokens_are_kept(factory: &impl JournalFactory) {
    let journal = factory.make();
    let of_viewer = ScopeSet::of(&[AccessScope::RunsRead]);
    for (n, scopes) in [(1, None), (2, Some(of_viewer)), (3, Some(ScopeSet::NONE))] {
        let created = TokenCreated {
            token: TokenId::from_parts(9, n),
            sha256: [1; 32],
            expires: None,
            label: "".into(),
            kind: CredentialKind::PersonSession,
            scopes,
        };
        let event = JournalEvent::Access(AccessEvent::TokenCreated(created));
        journal.append(append(vec![entry(1, event)])).await.unwrap();
    }
    let tokens = journal.query(|rows, _| tokens::all(rows)).await.unwrap();
    let scopes: Vec<String> = tokens.iter().map(|token| token.scopes.to_string()).collect();
    assert_eq!(scopes, ["runs,runs.read", "runs.read", ""]);
    assert!(tokens.iter().all(|token| token.kind == CredentialKind::PersonSession));
}

/// Who acted is read back with the entry, and an actor of no entry is refused.
pub async fn who_acted_is_kept(factory: &impl JournalFactory) {
    let journal = factory.make();
    let by = |credential, surface| ActorIdentity { principal: samples::principal(3), credential, surface };
    let token = TokenId::from_parts(9, 9);
    let actors = [None, Some(by(None, Surface::LocalSocket)), Some(by(Some(token), Surface::Console))];
    let request = JournalAppendRequest {
        actors: (0..)
            .zip(&actors)
            .filter_map(|(entry, actor)| actor.map(|actor| EntryActor { entry, actor }))
            .collect(),
        ..append(
            (1..4)
                .map(|time| entry(time, JournalEvent::Access(AccessEvent::TokenRevoked { token })))
                .collect(),
        )
    };
    let first = journal.append(request).await.unwrap().first_seq;
    let entries = journal.entries(first, 3).await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.actor).collect::<Vec<_>>(), actors);
    let beyond = JournalAppendRequest {
        actors: vec![EntryActor { entry: 1, actor: by(None, Surface::Tcp) }],
        ..append(vec![entry(5, JournalEvent::Access(AccessEvent::TokenRevoked { token }))])
    };
    let refused = journal.append(beyond).await;
    assert!(matches!(refused, Err(AppendError::Invalid { .. })), "{refused:?}");
}
