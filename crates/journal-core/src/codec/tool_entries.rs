//! Stored forms of a tool call's stations.

use std::time::Duration;

use palyra_types::event::{
    ApprovalAsk, CallAttestation, ContentDigest, DecidedBy, TapeEvent, ToolDecided, ToolEvent, ToolFinished,
    ToolProposed, UnknownOutcomeCause,
};
use palyra_types::tool::Taints;
use palyra_types::{ApprovalId, Attempt, EffectId, Redacted, StoredGrantId};
use palyra_wire::store;
use prost::Message;

use super::approval_entries::{terms_from_stored, terms_to_stored};
use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, error_code, error_number, facts_only, fixed,
    fixed_or_zero, micros, pair, unless_zero,
};
use super::stored_enums::StoredEnum;

pub(super) fn encode_proposed(proposed: &ToolProposed) -> EncodedParts {
    pair(
        &store::ToolProposedFacts {
            version: VERSION,
            effect: proposed.effect.0,
            attempt: proposed.attempt.0,
            call_digest: unless_zero(&proposed.call_digest.0),
        },
        &store::ToolProposedPayload {
            tool: proposed.tool.expose().clone(),
            arguments: proposed.arguments.expose().clone(),
            model_call_id: proposed.model_call_id.expose().clone(),
        },
    )
}

pub(super) fn decode_proposed(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ToolProposedFacts::decode(facts)?;
    let payload = store::ToolProposedPayload::decode(payload)?;
    Ok(TapeEvent::Tool(ToolEvent::Proposed(ToolProposed {
        effect: EffectId(facts.effect),
        attempt: Attempt(facts.attempt),
        call_digest: ContentDigest(fixed_or_zero(&facts.call_digest)?),
        tool: Redacted::from_stored(payload.tool),
        arguments: Redacted::from_stored(payload.arguments),
        model_call_id: Redacted::from_stored(payload.model_call_id),
    })))
}

pub(super) fn encode_decided(decided: &ToolDecided) -> EncodedParts {
    let (decided_by, decided_by_id) = decider_to_stored(decided.decided_by);
    pair(
        &store::ToolDecidedFacts {
            version: VERSION,
            effect: decided.effect.0,
            verdict: decided.verdict.to_stored(),
            reason: decided.reason.to_stored(),
            decided_by: decided_by.into(),
            policy_digest: unless_zero(&decided.policy_digest),
            contract: decided.contract.to_stored(),
            overlap: decided.parallelism.to_stored(),
            deadline: micros(decided.deadline),
            output_bytes_max: decided.output_bytes_max,
            conduct: decided.conduct.to_stored(),
            tool_version: decided.tool_version,
            risk: decided.risk.to_stored(),
            taints: decided.taints.0,
            ask: decided.ask.map(|ask| store::Ask {
                approval: unless_zero(&ask.approval.to_bytes()),
                terms: Some(terms_to_stored(&ask.terms)),
            }),
            decided_by_id,
        },
        &store::ToolDecidedPayload {
            explanation: decided.explanation.expose().clone(),
            request: decided.request.expose().clone(),
        },
    )
}

pub(super) fn decode_decided(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ToolDecidedFacts::decode(facts)?;
    let payload = store::ToolDecidedPayload::decode(payload)?;
    Ok(TapeEvent::Tool(ToolEvent::Decided(ToolDecided {
        effect: EffectId(facts.effect),
        verdict: StoredEnum::from_stored(facts.verdict)?,
        reason: StoredEnum::from_stored(facts.reason)?,
        decided_by: decider_from_stored(facts.decided_by, &facts.decided_by_id)?,
        policy_digest: fixed_or_zero(&facts.policy_digest)?,
        contract: StoredEnum::from_stored(facts.contract)?,
        parallelism: StoredEnum::from_stored(facts.overlap)?,
        deadline: Duration::from_micros(facts.deadline),
        output_bytes_max: facts.output_bytes_max,
        conduct: StoredEnum::from_stored(facts.conduct)?,
        tool_version: facts.tool_version,
        risk: StoredEnum::from_stored(facts.risk)?,
        taints: Taints(facts.taints),
        ask: facts.ask.as_ref().map(ask_from_stored).transpose()?,
        explanation: Redacted::from_stored(payload.explanation),
        request: Redacted::from_stored(payload.request),
    })))
}

fn ask_from_stored(ask: &store::Ask) -> ReadResult<ApprovalAsk> {
    Ok(ApprovalAsk {
        approval: ApprovalId::from_bytes(fixed_or_zero(&ask.approval)?),
        terms: terms_from_stored(ask.terms.clone())?,
    })
}

fn decider_to_stored(decided_by: DecidedBy) -> (store::DecidedBy, Vec<u8>) {
    match decided_by {
        DecidedBy::Policy => (store::DecidedBy::Policy, Vec::new()),
        DecidedBy::Budget => (store::DecidedBy::Budget, Vec::new()),
        DecidedBy::Grant(grant) => (store::DecidedBy::Grant, unless_zero(&grant.to_bytes())),
        DecidedBy::Approval(approval) => (store::DecidedBy::Approval, unless_zero(&approval.to_bytes())),
    }
}

fn decider_from_stored(number: i32, id: &[u8]) -> ReadResult<DecidedBy> {
    Ok(match store::DecidedBy::try_from(number).map_err(|_| UnreadableEvent::Newer)? {
        store::DecidedBy::Unspecified => return Err(UnreadableEvent::Malformed),
        store::DecidedBy::Policy => DecidedBy::Policy,
        store::DecidedBy::Budget => DecidedBy::Budget,
        store::DecidedBy::Grant => DecidedBy::Grant(StoredGrantId::from_bytes(fixed_or_zero(id)?)),
        store::DecidedBy::Approval => DecidedBy::Approval(ApprovalId::from_bytes(fixed_or_zero(id)?)),
    })
}

pub(super) fn encode_finished(finished: &ToolFinished) -> EncodedParts {
    pair(
        &store::ToolFinishedFacts {
            version: VERSION,
            effect: finished.effect.0,
            failure: error_number(finished.failure),
            output_digest: unless_zero(&finished.output_digest.0),
            output_bytes_total: finished.output_bytes_total,
            duration: micros(finished.duration),
            executor: finished.executor.to_stored(),
            isolation: finished.isolation.to_stored(),
            attested: attested_to_stored(&finished.attested),
            taints: finished.taints.0,
        },
        &store::ToolFinishedPayload { output: finished.output.expose().clone() },
    )
}

pub(super) fn decode_finished(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ToolFinishedFacts::decode(facts)?;
    let payload = store::ToolFinishedPayload::decode(payload)?;
    Ok(TapeEvent::Tool(ToolEvent::Finished(ToolFinished {
        effect: EffectId(facts.effect),
        attested: attested_from_stored(facts.attested)?,
        failure: error_code(facts.failure)?,
        output_digest: ContentDigest(fixed_or_zero(&facts.output_digest)?),
        output_bytes_total: facts.output_bytes_total,
        duration: Duration::from_micros(facts.duration),
        executor: StoredEnum::from_stored(facts.executor)?,
        isolation: StoredEnum::from_stored(facts.isolation)?,
        taints: Taints(facts.taints),
        output: Redacted::from_stored(payload.output),
    })))
}

fn attested_to_stored(attested: &CallAttestation) -> Option<store::Attested> {
    (*attested != CallAttestation::default()).then(|| store::Attested {
        tool_version: attested.tool_version,
        call_digest: unless_zero(&attested.call_digest.0),
        policy_digest: unless_zero(&attested.policy_digest),
        approval: attested.approval.map_or_else(Vec::new, |approval| approval.to_bytes().to_vec()),
        grant: attested.grant.map_or_else(Vec::new, |grant| grant.to_bytes().to_vec()),
    })
}

fn attested_from_stored(attested: Option<store::Attested>) -> ReadResult<CallAttestation> {
    let Some(attested) = attested else { return Ok(CallAttestation::default()) };
    let id = |bytes: &[u8]| if bytes.is_empty() { Ok(None) } else { fixed(bytes).map(Some) };
    Ok(CallAttestation {
        tool_version: attested.tool_version,
        call_digest: ContentDigest(fixed_or_zero(&attested.call_digest)?),
        policy_digest: fixed_or_zero(&attested.policy_digest)?,
        approval: id(&attested.approval)?.map(ApprovalId::from_bytes),
        grant: id(&attested.grant)?.map(StoredGrantId::from_bytes),
    })
}

pub(super) fn encode_unknown(effect: EffectId, cause: UnknownOutcomeCause) -> EncodedParts {
    facts_only(&store::ToolOutcomeUnknownFacts {
        version: VERSION,
        effect: effect.0,
        cause: cause.to_stored(),
    })
}

pub(super) fn decode_unknown(facts: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ToolOutcomeUnknownFacts::decode(facts)?;
    Ok(TapeEvent::Tool(ToolEvent::OutcomeUnknown {
        effect: EffectId(facts.effect),
        cause: StoredEnum::from_stored(facts.cause)?,
    }))
}
