//! Stored forms of entries about principals, their tokens, and acts that were refused to them.

use palyra_types::access::{AccessScope, Role, ScopeSet};
use palyra_types::event::{AccessEvent, ActRefused, JournalEvent, TokenCreated};
use palyra_types::{PrincipalId, Redacted, Timestamp, TokenId};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, error_code, error_number, facts_only, fixed, pair,
};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &AccessEvent) -> EncodedParts {
    match event {
        AccessEvent::PrincipalRegistered { principal, name, kind, role } => pair(
            &store::PrincipalRegisteredFacts {
                version: VERSION,
                principal: principal.to_bytes().to_vec(),
                kind: kind.to_stored(),
                role: role.map(StoredEnum::to_stored).unwrap_or_default(),
            },
            &store::PrincipalRegisteredPayload { name: name.expose().clone() },
        ),
        AccessEvent::PrincipalRenamed { principal, name } => pair(
            &store::PrincipalRenamedFacts { version: VERSION, principal: principal.to_bytes().to_vec() },
            &store::PrincipalRenamedPayload { name: name.expose().clone() },
        ),
        AccessEvent::RoleGiven { principal, role } => facts_only(&store::RoleGivenFacts {
            version: VERSION,
            principal: principal.to_bytes().to_vec(),
            role: role.to_stored(),
        }),
        AccessEvent::PrincipalDisabled { principal } => facts_only(&store::PrincipalDisabledFacts {
            version: VERSION,
            principal: principal.to_bytes().to_vec(),
        }),
        AccessEvent::PrincipalEnabled { principal } => facts_only(&store::PrincipalEnabledFacts {
            version: VERSION,
            principal: principal.to_bytes().to_vec(),
        }),
        AccessEvent::TimeZoneSet { principal, time_zone } => pair(
            &store::TimeZoneSetFacts { version: VERSION, principal: principal.to_bytes().to_vec() },
            &store::TimeZoneSetPayload { time_zone: time_zone.expose().clone() },
        ),
        AccessEvent::TokenCreated(created) => encode_token(created),
        AccessEvent::TokenRevoked { token } => {
            facts_only(&store::TokenRevokedFacts { version: VERSION, token: token.to_bytes().to_vec() })
        }
        AccessEvent::PageSessionBegun { credential } => facts_only(&store::PageSessionBegunFacts {
            version: VERSION,
            credential: credential.to_bytes().to_vec(),
        }),
        AccessEvent::ActRefused(ActRefused { operation, code, unrecorded }) => pair(
            &store::ActRefusedFacts {
                version: VERSION,
                error_code: error_number(Some(*code)),
                unrecorded: *unrecorded,
            },
            &store::ActRefusedPayload { operation: operation.expose().clone() },
        ),
    }
}

fn read(event: AccessEvent) -> ReadResult<JournalEvent> {
    Ok(JournalEvent::Access(event))
}

pub(super) fn decode_renamed(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::PrincipalRenamedFacts::decode(facts)?;
    let name = Redacted::from_stored(store::PrincipalRenamedPayload::decode(payload)?.name);
    read(AccessEvent::PrincipalRenamed { principal: principal_from(&facts.principal)?, name })
}

pub(super) fn decode_role(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::RoleGivenFacts::decode(facts)?;
    let role = StoredEnum::from_stored(facts.role)?;
    read(AccessEvent::RoleGiven { principal: principal_from(&facts.principal)?, role })
}

pub(super) fn decode_disabled(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::PrincipalDisabledFacts::decode(facts)?;
    read(AccessEvent::PrincipalDisabled { principal: principal_from(&facts.principal)? })
}

pub(super) fn decode_enabled(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::PrincipalEnabledFacts::decode(facts)?;
    read(AccessEvent::PrincipalEnabled { principal: principal_from(&facts.principal)? })
}

pub(super) fn decode_time_zone(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::TimeZoneSetFacts::decode(facts)?;
    let time_zone = Redacted::from_stored(store::TimeZoneSetPayload::decode(payload)?.time_zone);
    read(AccessEvent::TimeZoneSet { principal: principal_from(&facts.principal)?, time_zone })
}

pub(super) fn decode_page_session(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::PageSessionBegunFacts::decode(facts)?;
    read(AccessEvent::PageSessionBegun { credential: TokenId::from_bytes(fixed(&facts.credential)?) })
}

pub(super) fn decode_token_revoked(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::TokenRevokedFacts::decode(facts)?;
    read(AccessEvent::TokenRevoked { token: TokenId::from_bytes(fixed(&facts.token)?) })
}

fn principal_from(bytes: &[u8]) -> ReadResult<PrincipalId> {
    Ok(PrincipalId::from_bytes(fixed(bytes)?))
}

pub(super) fn decode_registered(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::PrincipalRegisteredFacts::decode(facts)?;
    let payload = store::PrincipalRegisteredPayload::decode(payload)?;
    read(AccessEvent::PrincipalRegistered {
        principal: principal_from(&facts.principal)?,
        name: Redacted::from_stored(payload.name),
        kind: StoredEnum::from_stored(facts.kind)?,
        role: if facts.role == 0 { None } else { Some(Role::from_stored(facts.role)?) },
    })
}

fn encode_token(created: &TokenCreated) -> EncodedParts {
    let TokenCreated { token, sha256, expires, label, kind, scopes } = created;
    let scopes = scopes
        .map(|scopes| store::TokenScopes { scopes: scopes.iter().map(StoredEnum::to_stored).collect() });
    pair(
        &store::TokenCreatedFacts {
            version: VERSION,
            token: token.to_bytes().to_vec(),
            sha256: sha256.to_vec(),
            expires: expires.map(|time| time.0),
            kind: kind.to_stored(),
            scopes,
        },
        &store::TokenCreatedPayload { label: label.expose().clone() },
    )
}

pub(super) fn decode_token(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::TokenCreatedFacts::decode(facts)?;
    let payload = store::TokenCreatedPayload::decode(payload)?;
    let scopes = |stored: store::TokenScopes| -> ReadResult<ScopeSet> {
        stored.scopes.into_iter().map(AccessScope::from_stored).collect()
    };
    read(AccessEvent::TokenCreated(TokenCreated {
        token: TokenId::from_bytes(fixed(&facts.token)?),
        sha256: fixed(&facts.sha256)?,
        expires: facts.expires.map(Timestamp),
        label: Redacted::from_stored(payload.label),
        kind: StoredEnum::from_stored(facts.kind)?,
        scopes: facts.scopes.map(scopes).transpose()?,
    }))
}

pub(super) fn decode_refused(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::ActRefusedFacts::decode(facts)?;
    let payload = store::ActRefusedPayload::decode(payload)?;
    read(AccessEvent::ActRefused(ActRefused {
        operation: Redacted::from_stored(payload.operation),
        code: error_code(facts.error_code)?.ok_or(UnreadableEvent::Malformed)?,
        unrecorded: facts.unrecorded,
    }))
}
