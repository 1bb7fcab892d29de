//! Stored forms of approvals: asked, voted, decided; and of the permissions that outlive them.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use palyra_types::approval::{
    ApprovalPromptRecord, ApprovalRequested, ApprovalResolved, ApprovalTerms, ApprovalVoted, ApproverSet,
    ArgumentRule, ArgumentShape, GrantBounds, GrantScope, StoredGrant,
};
use palyra_types::event::{ApprovalEvent, ContentDigest, JournalEvent, PolicyEvent, TapeEvent};
use palyra_types::run::Surface;
use palyra_types::{ApprovalId, EffectId, PrincipalId, Redacted, SessionId, StoredGrantId, Timestamp};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, facts_only, fixed, fixed_or_zero, micros, pair,
    unless_zero,
};
use super::stored_enums::StoredEnum;

pub(super) fn encode_requested(requested: &ApprovalRequested) -> EncodedParts {
    let prompt = &requested.prompt;
    pair(
        &store::ApprovalRequestedFacts {
            version: VERSION,
            approval: unless_zero(&requested.approval.to_bytes()),
            effect: requested.effect.0,
            binding: unless_zero(&requested.binding.0),
            risk: requested.risk.to_stored(),
            terms: Some(terms_to_stored(&requested.terms)),
            expires: requested.expires.map(|time| time.0),
            policy_digest: unless_zero(&requested.policy_digest),
        },
        &store::ApprovalRequestedPayload {
            tool: prompt.tool.expose().clone(),
            arguments: prompt.arguments.expose().clone(),
            summary: prompt.summary.expose().clone(),
            preview: prompt.preview.expose().clone(),
            reason: prompt.reason.expose().clone(),
            unbound: prompt.unbound.expose().clone(),
            asked_again: prompt.asked_again.expose().clone(),
        },
    )
}

pub(super) fn decode_requested(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ApprovalRequestedFacts::decode(facts)?;
    let payload = store::ApprovalRequestedPayload::decode(payload)?;
    Ok(TapeEvent::Approval(ApprovalEvent::Requested(Box::new(ApprovalRequested {
        approval: ApprovalId::from_bytes(fixed_or_zero(&facts.approval)?),
        effect: EffectId(facts.effect),
        binding: ContentDigest(fixed_or_zero(&facts.binding)?),
        risk: StoredEnum::from_stored(facts.risk)?,
        terms: terms_from_stored(facts.terms)?,
        expires: facts.expires.map(Timestamp),
        policy_digest: fixed_or_zero(&facts.policy_digest)?,
        prompt: ApprovalPromptRecord {
            tool: Redacted::from_stored(payload.tool),
            arguments: Redacted::from_stored(payload.arguments),
            summary: Redacted::from_stored(payload.summary),
            preview: Redacted::from_stored(payload.preview),
            reason: Redacted::from_stored(payload.reason),
            unbound: Redacted::from_stored(payload.unbound),
            asked_again: Redacted::from_stored(payload.asked_again),
        },
    }))))
}

pub(super) fn terms_to_stored(terms: &ApprovalTerms) -> store::ApprovalTerms {
    store::ApprovalTerms {
        span: micros(terms.span),
        at_expiry: terms.at_expiry.to_stored(),
        separation: terms.separation.to_stored(),
        needed: terms.needed,
        approvers: terms.approvers.map(|set| store::ApproverSet {
            roles: set.roles().map(|role| role.name().to_owned()).collect(),
            people: set.people().map(|person| person.to_bytes().to_vec()).collect(),
        }),
    }
}

pub(super) fn terms_from_stored(terms: Option<store::ApprovalTerms>) -> ReadResult<ApprovalTerms> {
    let terms = terms.ok_or(UnreadableEvent::Malformed)?;
    Ok(ApprovalTerms {
        span: Duration::from_micros(terms.span),
        at_expiry: StoredEnum::from_stored(terms.at_expiry)?,
        separation: StoredEnum::from_stored(terms.separation)?,
        needed: terms.needed,
        approvers: terms.approvers.as_ref().map(approvers_from_stored).transpose()?,
    })
}

fn approvers_from_stored(stored: &store::ApproverSet) -> ReadResult<ApproverSet> {
    let mut set = ApproverSet::default();
    for role in &stored.roles {
        set = set.with_role(role.parse().map_err(|_| UnreadableEvent::Malformed)?);
    }
    for person in &stored.people {
        set = set.with_person(PrincipalId::from_bytes(fixed(person)?));
    }
    Ok(set)
}

pub(super) fn encode_voted(voted: &ApprovalVoted) -> EncodedParts {
    pair(
        &store::ApprovalVotedFacts {
            version: VERSION,
            approval: unless_zero(&voted.approval.to_bytes()),
            effect: voted.effect.0,
            by: unless_zero(&voted.by.to_bytes()),
            via: voted.via.to_stored(),
        },
        &store::ApprovalVotedPayload { note: voted.note.expose().clone() },
    )
}

pub(super) fn decode_voted(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ApprovalVotedFacts::decode(facts)?;
    let payload = store::ApprovalVotedPayload::decode(payload)?;
    Ok(TapeEvent::Approval(ApprovalEvent::Voted(ApprovalVoted {
        approval: ApprovalId::from_bytes(fixed_or_zero(&facts.approval)?),
        effect: EffectId(facts.effect),
        by: PrincipalId::from_bytes(fixed_or_zero(&facts.by)?),
        via: StoredEnum::from_stored(facts.via)?,
        note: Redacted::from_stored(payload.note),
    })))
}

pub(super) fn encode_resolved(resolved: &ApprovalResolved) -> EncodedParts {
    pair(
        &store::ApprovalResolvedFacts {
            version: VERSION,
            approval: unless_zero(&resolved.approval.to_bytes()),
            effect: resolved.effect.0,
            state: resolved.state.to_stored(),
            by: resolved.by.map(|by| unless_zero(&by.to_bytes())),
            via: resolved.via.map_or(0, Surface::to_stored),
            edited_digest: unless_zero(&resolved.edited_digest.0),
        },
        &store::ApprovalResolvedPayload {
            edited: resolved.edited.as_ref().map(|edited| edited.expose().clone()),
            note: resolved.note.expose().clone(),
        },
    )
}

pub(super) fn decode_resolved(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ApprovalResolvedFacts::decode(facts)?;
    let payload = store::ApprovalResolvedPayload::decode(payload)?;
    let by = facts.by.map(|by| fixed_or_zero(&by).map(PrincipalId::from_bytes));
    Ok(TapeEvent::Approval(ApprovalEvent::Resolved(ApprovalResolved {
        approval: ApprovalId::from_bytes(fixed_or_zero(&facts.approval)?),
        effect: EffectId(facts.effect),
        state: StoredEnum::from_stored(facts.state)?,
        by: by.transpose()?,
        via: if facts.via == 0 { None } else { Some(StoredEnum::from_stored(facts.via)?) },
        edited_digest: ContentDigest(fixed_or_zero(&facts.edited_digest)?),
        edited: payload.edited.map(Redacted::from_stored),
        note: Redacted::from_stored(payload.note),
    })))
}

pub(super) fn encode_grant(stored: &StoredGrant) -> EncodedParts {
    pair(
        &store::GrantStoredFacts {
            version: VERSION,
            grant: unless_zero(&stored.grant.to_bytes()),
            principal: unless_zero(&stored.principal.to_bytes()),
            approval: unless_zero(&stored.approval.to_bytes()),
            granted_by: unless_zero(&stored.granted_by.to_bytes()),
            session: match stored.scope {
                GrantScope::Session(session) => Some(unless_zero(&session.to_bytes())),
                GrantScope::Principal | GrantScope::Everywhere => None,
            },
            expires: stored.expires.map(|time| time.0),
            uses_max: stored.uses_max,
            any_workspace: stored.scope == GrantScope::Everywhere,
            tool_version: stored.bounds.tool_version,
        },
        &store::GrantStoredPayload {
            tool: stored.tool.expose().clone(),
            matcher: stored.matcher.iter().map(rule_to_stored).collect(),
            workspace: stored
                .bounds
                .workspace
                .as_ref()
                .map(|root| root.expose().as_os_str().as_bytes().to_vec()),
            programs: stored.bounds.programs.map(Vec::from),
        },
    )
}

pub(super) fn decode_grant(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::GrantStoredFacts::decode(facts)?;
    let payload = store::GrantStoredPayload::decode(payload)?;
    let session = facts.session.map(|session| fixed_or_zero(&session).map(SessionId::from_bytes));
    Ok(TapeEvent::Approval(ApprovalEvent::GrantStored(StoredGrant {
        grant: StoredGrantId::from_bytes(fixed_or_zero(&facts.grant)?),
        principal: PrincipalId::from_bytes(fixed_or_zero(&facts.principal)?),
        approval: ApprovalId::from_bytes(fixed_or_zero(&facts.approval)?),
        granted_by: PrincipalId::from_bytes(fixed_or_zero(&facts.granted_by)?),
        scope: match (session.transpose()?, facts.any_workspace) {
            (Some(session), _) => GrantScope::Session(session),
            (None, true) => GrantScope::Everywhere,
            (None, false) => GrantScope::Principal,
        },
        expires: facts.expires.map(Timestamp),
        uses_max: facts.uses_max,
        tool: Redacted::from_stored(payload.tool),
        matcher: payload.matcher.into_iter().map(rule_from_stored).collect::<ReadResult<_>>()?,
        bounds: GrantBounds {
            workspace: payload
                .workspace
                .map(|root| Redacted::from_stored(PathBuf::from(OsString::from_vec(root)))),
            tool_version: facts.tool_version,
            programs: payload.programs.map(|programs| fixed_or_zero(&programs)).transpose()?,
        },
    })))
}

fn rule_to_stored(rule: &ArgumentRule) -> store::ArgumentRule {
    use store::argument_rule::Shape;
    let shape = match &rule.shape {
        ArgumentShape::Equal(value) => Shape::Equal(value.expose().clone()),
        ArgumentShape::Beneath(path) => Shape::Beneath(path.expose().clone()),
        ArgumentShape::Origin(origin) => Shape::Origin(origin.expose().clone()),
        ArgumentShape::Any => Shape::Any(store::Anything {}),
    };
    store::ArgumentRule { argument: rule.argument.expose().clone(), shape: Some(shape) }
}

/// A shape that is not known must not become a wider one.
fn rule_from_stored(rule: store::ArgumentRule) -> ReadResult<ArgumentRule> {
    use store::argument_rule::Shape;
    let shape = match rule.shape.ok_or(UnreadableEvent::Newer)? {
        Shape::Equal(value) => ArgumentShape::Equal(Redacted::from_stored(value)),
        Shape::Beneath(path) => ArgumentShape::Beneath(Redacted::from_stored(path)),
        Shape::Origin(origin) => ArgumentShape::Origin(Redacted::from_stored(origin)),
        Shape::Any(store::Anything {}) => ArgumentShape::Any,
    };
    Ok(ArgumentRule { argument: Redacted::from_stored(rule.argument), shape })
}

pub(super) fn encode_grant_revoked(grant: StoredGrantId, by: PrincipalId) -> EncodedParts {
    facts_only(&store::GrantRevokedFacts {
        version: VERSION,
        grant: unless_zero(&grant.to_bytes()),
        by: unless_zero(&by.to_bytes()),
    })
}

pub(super) fn decode_grant_revoked(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::GrantRevokedFacts::decode(facts)?;
    Ok(JournalEvent::Policy(PolicyEvent::GrantRevoked {
        grant: StoredGrantId::from_bytes(fixed_or_zero(&facts.grant)?),
        by: PrincipalId::from_bytes(fixed_or_zero(&facts.by)?),
    }))
}
