//! Stored forms of entries about policy: standing settings of tools, and what a candidate would have decided.

use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::posture::{Posture, PostureChanged, PostureScope};
use palyra_types::session::SessionRef;
use palyra_types::shadow::{ShadowCounts, ShadowExample};
use palyra_types::{AgentId, EffectId, PrincipalId, Redacted, RunId, Seq, SessionId, Timestamp};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, facts_only, fixed, fixed_or_zero, pair, unless_zero,
};
use super::stored_enums::StoredEnum;

pub(super) fn encode_posture(changed: &PostureChanged) -> EncodedParts {
    let mut place = store::PosturePlace::Global;
    let mut agent = Vec::new();
    let mut session = None;
    let mut workspace = String::new();
    match &changed.scope {
        PostureScope::Global => {}
        PostureScope::Agent(id) => {
            place = store::PosturePlace::Agent;
            agent = unless_zero(&id.to_bytes());
        }
        PostureScope::Workspace(path) => {
            place = store::PosturePlace::Workspace;
            workspace = path.expose().clone();
        }
        PostureScope::Session(of) => {
            place = store::PosturePlace::Session;
            session = Some(*of);
        }
    }
    pair(
        &store::PostureChangedFacts {
            version: VERSION,
            replaces: changed.replaces.map(|seq| seq.0),
            place: place.into(),
            agent,
            session_principal: session.map_or_else(Vec::new, |of| unless_zero(&of.principal.to_bytes())),
            session: session.map_or_else(Vec::new, |of| unless_zero(&of.id.to_bytes())),
            posture: changed.posture.map_or(0, Posture::to_stored),
            by: unless_zero(&changed.by.to_bytes()),
            via: changed.via.to_stored(),
        },
        &store::PostureChangedPayload { tool: changed.tool.expose().clone(), workspace },
    )
}

pub(super) fn decode_posture(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::PostureChangedFacts::decode(facts)?;
    let payload = store::PostureChangedPayload::decode(payload)?;
    let scope = match store::PosturePlace::try_from(facts.place) {
        Ok(store::PosturePlace::Global) => PostureScope::Global,
        Ok(store::PosturePlace::Agent) => {
            PostureScope::Agent(AgentId::from_bytes(fixed_or_zero(&facts.agent)?))
        }
        Ok(store::PosturePlace::Workspace) => {
            PostureScope::Workspace(Redacted::from_stored(payload.workspace))
        }
        Ok(store::PosturePlace::Session) => PostureScope::Session(SessionRef {
            principal: PrincipalId::from_bytes(fixed_or_zero(&facts.session_principal)?),
            id: SessionId::from_bytes(fixed_or_zero(&facts.session)?),
        }),
        Ok(store::PosturePlace::Unspecified) => return Err(UnreadableEvent::Malformed),
        Err(_) => return Err(UnreadableEvent::Newer),
    };
    Ok(JournalEvent::Policy(PolicyEvent::PostureChanged(PostureChanged {
        replaces: facts.replaces.map(Seq),
        scope,
        posture: if facts.posture == 0 { None } else { Some(Posture::from_stored(facts.posture)?) },
        by: PrincipalId::from_bytes(fixed_or_zero(&facts.by)?),
        via: StoredEnum::from_stored(facts.via)?,
        tool: Redacted::from_stored(payload.tool),
    })))
}

pub(super) fn encode_shadow(counts: &ShadowCounts) -> EncodedParts {
    let example = |example: &ShadowExample| store::ShadowExample {
        run: unless_zero(&example.run.to_bytes()),
        effect: example.effect.0,
        was: example.was.to_stored(),
        would_be: example.would_be.to_stored(),
    };
    facts_only(&store::ShadowCountedFacts {
        version: VERSION,
        candidate: counts.candidate.to_vec(),
        since: counts.since.0,
        judged: counts.judged,
        same: counts.same,
        newly_allowed: counts.newly_allowed,
        newly_asked: counts.newly_asked,
        newly_denied: counts.newly_denied,
        missed: counts.missed,
        examples: counts.examples.iter().map(example).collect(),
    })
}

pub(super) fn decode_shadow(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::ShadowCountedFacts::decode(facts)?;
    let example = |example: &store::ShadowExample| {
        Ok(ShadowExample {
            run: RunId::from_bytes(fixed_or_zero(&example.run)?),
            effect: EffectId(example.effect),
            was: StoredEnum::from_stored(example.was)?,
            would_be: StoredEnum::from_stored(example.would_be)?,
        })
    };
    Ok(JournalEvent::Policy(PolicyEvent::ShadowCounted(ShadowCounts {
        candidate: fixed(&facts.candidate)?,
        since: Timestamp(facts.since),
        judged: facts.judged,
        same: facts.same,
        newly_allowed: facts.newly_allowed,
        newly_asked: facts.newly_asked,
        newly_denied: facts.newly_denied,
        missed: facts.missed,
        examples: facts.examples.iter().map(example).collect::<ReadResult<_>>()?,
    })))
}
