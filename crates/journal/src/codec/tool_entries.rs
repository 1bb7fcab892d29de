//! Stored forms of a tool call's stations.

use std::time::Duration;

use palyra_types::Attempt;
use palyra_types::EffectId;
use palyra_types::event::{
    ContentDigest, TapeEvent, ToolDecided, ToolFinished, ToolProposed, UnknownOutcomeCause,
};
use palyra_types::tool::EffectContract;
use palyra_wire::store;
use prost::Message;

use super::field::{
    Pair, Read, VERSION, error_code, error_number, facts_only, fixed_or_zero, micros, pair, unless_zero,
};
use super::stored_enums::StoredEnum;

pub(super) fn encode_proposed(proposed: &ToolProposed) -> Pair {
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

pub(super) fn decode_proposed(facts: &[u8], payload: &[u8]) -> Read<TapeEvent> {
    let facts = store::ToolProposedFacts::decode(facts)?;
    let payload = store::ToolProposedPayload::decode(payload)?;
    Ok(TapeEvent::ToolProposed(ToolProposed {
        effect: EffectId(facts.effect),
        attempt: Attempt(facts.attempt),
        call_digest: ContentDigest(fixed_or_zero(&facts.call_digest)?),
        tool: payload.tool.into(),
        arguments: payload.arguments.into(),
        model_call_id: payload.model_call_id.into(),
    }))
}

pub(super) fn encode_decided(decided: &ToolDecided) -> Pair {
    pair(
        &store::ToolDecidedFacts {
            version: VERSION,
            effect: decided.effect.0,
            verdict: decided.verdict.to_stored(),
            reason: decided.reason.to_stored(),
            decided_by: decided.decided_by.to_stored(),
            policy_digest: unless_zero(&decided.policy_digest),
            contract: decided.contract.to_stored(),
            overlap: decided.parallelism.to_stored(),
            deadline: micros(decided.deadline),
            output_bytes_max: decided.output_bytes_max,
        },
        &store::ToolDecidedPayload { explanation: decided.explanation.expose().clone() },
    )
}

pub(super) fn decode_decided(facts: &[u8], payload: &[u8]) -> Read<TapeEvent> {
    let facts = store::ToolDecidedFacts::decode(facts)?;
    let payload = store::ToolDecidedPayload::decode(payload)?;
    Ok(TapeEvent::ToolDecided(ToolDecided {
        effect: EffectId(facts.effect),
        verdict: StoredEnum::from_stored(facts.verdict)?,
        reason: StoredEnum::from_stored(facts.reason)?,
        decided_by: StoredEnum::from_stored(facts.decided_by)?,
        policy_digest: fixed_or_zero(&facts.policy_digest)?,
        contract: StoredEnum::from_stored(facts.contract)?,
        parallelism: StoredEnum::from_stored(facts.overlap)?,
        deadline: Duration::from_micros(facts.deadline),
        output_bytes_max: facts.output_bytes_max,
        explanation: payload.explanation.into(),
    }))
}

pub(super) fn encode_started(effect: EffectId, contract: EffectContract, deadline: Duration) -> Pair {
    facts_only(&store::ToolStartedFacts {
        version: VERSION,
        effect: effect.0,
        contract: contract.to_stored(),
        deadline: micros(deadline),
    })
}

pub(super) fn decode_started(facts: &[u8]) -> Read<TapeEvent> {
    let facts = store::ToolStartedFacts::decode(facts)?;
    Ok(TapeEvent::ToolStarted {
        effect: EffectId(facts.effect),
        contract: StoredEnum::from_stored(facts.contract)?,
        deadline: Duration::from_micros(facts.deadline),
    })
}

pub(super) fn encode_finished(finished: &ToolFinished) -> Pair {
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
        },
        &store::ToolFinishedPayload { output: finished.output.expose().clone() },
    )
}

pub(super) fn decode_finished(facts: &[u8], payload: &[u8]) -> Read<TapeEvent> {
    let facts = store::ToolFinishedFacts::decode(facts)?;
    let payload = store::ToolFinishedPayload::decode(payload)?;
    Ok(TapeEvent::ToolFinished(ToolFinished {
        effect: EffectId(facts.effect),
        failure: error_code(facts.failure)?,
        output_digest: ContentDigest(fixed_or_zero(&facts.output_digest)?),
        output_bytes_total: facts.output_bytes_total,
        duration: Duration::from_micros(facts.duration),
        executor: StoredEnum::from_stored(facts.executor)?,
        isolation: StoredEnum::from_stored(facts.isolation)?,
        output: payload.output.into(),
    }))
}

pub(super) fn encode_unknown(effect: EffectId, cause: UnknownOutcomeCause) -> Pair {
    facts_only(&store::ToolOutcomeUnknownFacts {
        version: VERSION,
        effect: effect.0,
        cause: cause.to_stored(),
    })
}

pub(super) fn decode_unknown(facts: &[u8]) -> Read<TapeEvent> {
    let facts = store::ToolOutcomeUnknownFacts::decode(facts)?;
    Ok(TapeEvent::ToolOutcomeUnknown {
        effect: EffectId(facts.effect),
        cause: StoredEnum::from_stored(facts.cause)?,
    })
}
