//! Stored forms of a run's own entries: start, input, loop guard, cancel, end.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use palyra_types::event::{HeldCause, LoopGuard, RunEvent, RunFinished, RunStarted, TapeEvent};
use palyra_types::model::{ResponseFormat, TokenUsage};
use palyra_types::run::{CancelReason, IdempotencyDigest, InputDelivery, RunLimits, UserInput};
use palyra_types::tool::Taints;
use palyra_types::{AgentId, PrincipalId, Redacted};
use palyra_wire::store;
use prost::Message;

use super::attachments;
use super::compaction_entries::{read_from_stored, read_to_stored};
use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, error_code, error_number, facts_only, fixed,
    fixed_or_zero, micros, model_name, model_ref, pair, redacted_model_name, redacted_model_ref, unless_zero,
};
use super::memory_entries::{recall_from_stored, recall_to_stored, recalled_from_stored, recalled_to_stored};
use super::project_entries::{files_from_stored, files_to_stored};
use super::sampling::{sampling_from_stored, sampling_to_stored};
use super::skill_entries::{activated_from_stored, activated_to_stored};
use super::stored_enums::StoredEnum;

pub(super) fn encode_started(started: &RunStarted) -> EncodedParts {
    let limits = &started.limits;
    pair(
        &store::RunStartedFacts {
            version: VERSION,
            agent: started.agent.to_bytes().to_vec(),
            surface: started.surface.to_stored(),
            limits: Some(store::RunLimits {
                turns_max: limits.turns_max,
                tool_calls_max: limits.tool_calls_max,
                active_time_max: micros(limits.active_time_max),
                parallel_tools_max: limits.parallel_tools_max,
                output_tokens_max: limits.output_tokens_max,
            }),
            config_digest: unless_zero(&started.config_digest),
            idempotency: idempotency_to_stored(started.idempotency),
            delivery: started.delivery.to_stored(),
            approvers: started.approvers.to_stored(),
            taints: started.taints.0,
            skills: activated_to_stored(&started.skills),
            sampling: sampling_to_stored(&started.sampling),
            compaction: started.compaction.map(read_to_stored),
            recall: started.recall.map(recall_to_stored),
        },
        &store::RunStartedPayload {
            input: started.input.text.expose().clone(),
            workspace_root: started.workspace_root.expose().as_os_str().as_bytes().to_vec(),
            model: redacted_model_name(&started.model),
            run_salt: unless_zero(started.run_salt.expose()),
            attachments: attachments::to_stored(&started.input.attachments),
            fallbacks: started.fallbacks.expose().iter().map(model_name).collect(),
            response_schema: started
                .response_format
                .as_ref()
                .map(|format| format.schema.expose().as_ref().to_owned()),
            stop: started.sampling.stop.iter().map(|text| text.expose().clone()).collect(),
            project_files: files_to_stored(&started.project_files),
            recalled: recalled_to_stored(&started.recalled),
        },
    )
}

pub(super) fn decode_started(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::RunStartedFacts::decode(facts)?;
    let payload = store::RunStartedPayload::decode(payload)?;
    let limits = facts.limits.ok_or(UnreadableEvent::Malformed)?;
    Ok(TapeEvent::Run(RunEvent::Started(RunStarted {
        agent: AgentId::from_bytes(fixed(&facts.agent)?),
        surface: StoredEnum::from_stored(facts.surface)?,
        limits: RunLimits {
            turns_max: limits.turns_max,
            tool_calls_max: limits.tool_calls_max,
            active_time_max: Duration::from_micros(limits.active_time_max),
            parallel_tools_max: limits.parallel_tools_max,
            output_tokens_max: limits.output_tokens_max,
        },
        config_digest: fixed_or_zero(&facts.config_digest)?,
        idempotency: idempotency_from_stored(&facts.idempotency)?,
        delivery: StoredEnum::from_stored(facts.delivery)?,
        approvers: StoredEnum::from_stored(facts.approvers)?,
        taints: Taints(facts.taints),
        skills: activated_from_stored(&facts.skills)?,
        input: UserInput {
            text: Redacted::from_stored(payload.input),
            attachments: attachments::from_stored(payload.attachments)?,
        },
        workspace_root: Redacted::from_stored(PathBuf::from(OsString::from_vec(payload.workspace_root))),
        project_files: files_from_stored(payload.project_files)?,
        recalled: recalled_from_stored(payload.recalled)?,
        compaction: facts.compaction.map(read_from_stored),
        recall: facts.recall.map(recall_from_stored).transpose()?,
        model: redacted_model_ref(payload.model.as_ref()),
        run_salt: Redacted::from_stored(fixed_or_zero(&payload.run_salt)?),
        fallbacks: Redacted::from_stored(payload.fallbacks.iter().map(model_ref).collect()),
        response_format: payload
            .response_schema
            .map(|schema| ResponseFormat { schema: Redacted::from_stored(schema.into()) }),
        sampling: Box::new(sampling_from_stored(facts.sampling.unwrap_or_default(), payload.stop)?),
    })))
}

pub(super) fn encode_input(
    input: &UserInput,
    delivery: InputDelivery,
    idempotency: Option<IdempotencyDigest>,
) -> EncodedParts {
    pair(
        &store::InputReceivedFacts {
            version: VERSION,
            delivery: delivery.to_stored(),
            idempotency: idempotency_to_stored(idempotency),
        },
        &store::InputReceivedPayload {
            input: input.text.expose().clone(),
            attachments: attachments::to_stored(&input.attachments),
        },
    )
}

pub(super) fn decode_input(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::InputReceivedFacts::decode(facts)?;
    let payload = store::InputReceivedPayload::decode(payload)?;
    Ok(TapeEvent::Run(RunEvent::InputReceived {
        input: UserInput {
            text: Redacted::from_stored(payload.input),
            attachments: attachments::from_stored(payload.attachments)?,
        },
        delivery: StoredEnum::from_stored(facts.delivery)?,
        idempotency: idempotency_from_stored(&facts.idempotency)?,
    }))
}

pub(super) fn idempotency_to_stored(digest: Option<IdempotencyDigest>) -> Vec<u8> {
    digest.map_or_else(Vec::new, |digest| digest.0.to_vec())
}

pub(super) fn idempotency_from_stored(digest: &[u8]) -> ReadResult<Option<IdempotencyDigest>> {
    match digest {
        [] => Ok(None),
        digest => Ok(Some(IdempotencyDigest(fixed(digest)?))),
    }
}

pub(super) fn encode_loop(guard: LoopGuard, repeats: u32) -> EncodedParts {
    facts_only(&store::LoopDetectedFacts { version: VERSION, guard: guard.to_stored(), repeats })
}

pub(super) fn decode_loop(facts: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::LoopDetectedFacts::decode(facts)?;
    Ok(TapeEvent::Run(RunEvent::LoopDetected {
        guard: StoredEnum::from_stored(facts.guard)?,
        repeats: facts.repeats,
    }))
}

pub(super) fn encode_hold(cause: HeldCause) -> EncodedParts {
    facts_only(&store::RunHeldFacts { version: VERSION, cause: cause.to_stored() })
}

pub(super) fn decode_hold(facts: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::RunHeldFacts::decode(facts)?;
    Ok(TapeEvent::Run(RunEvent::Held { cause: StoredEnum::from_stored(facts.cause)? }))
}

pub(super) fn encode_cancel(actor: PrincipalId, reason: CancelReason) -> EncodedParts {
    facts_only(&store::CancelRequestedFacts {
        version: VERSION,
        actor: unless_zero(&actor.to_bytes()),
        reason: reason.to_stored(),
    })
}

pub(super) fn decode_cancel(facts: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::CancelRequestedFacts::decode(facts)?;
    Ok(TapeEvent::Run(RunEvent::CancelRequested {
        actor: PrincipalId::from_bytes(fixed_or_zero(&facts.actor)?),
        reason: StoredEnum::from_stored(facts.reason)?,
    }))
}

pub(super) fn encode_finished(finished: &RunFinished) -> EncodedParts {
    pair(
        &store::RunFinishedFacts {
            version: VERSION,
            state: finished.state.to_stored(),
            reason: finished.reason.to_stored(),
            error: error_number(finished.error),
            turns: finished.turns,
            tool_calls: finished.tool_calls,
            usage: Some(usage_to_stored(finished.usage)),
            active_time: micros(finished.active_time),
        },
        &store::RunFinishedPayload { message: finished.message.expose().clone() },
    )
}

pub(super) fn decode_finished(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::RunFinishedFacts::decode(facts)?;
    let payload = store::RunFinishedPayload::decode(payload)?;
    Ok(TapeEvent::Run(RunEvent::Finished(RunFinished {
        state: StoredEnum::from_stored(facts.state)?,
        reason: StoredEnum::from_stored(facts.reason)?,
        error: error_code(facts.error)?,
        turns: facts.turns,
        tool_calls: facts.tool_calls,
        usage: usage_from_stored(facts.usage)?,
        active_time: Duration::from_micros(facts.active_time),
        message: Redacted::from_stored(payload.message),
    })))
}

pub(super) fn usage_to_stored(usage: TokenUsage) -> store::Usage {
    store::Usage {
        input_tokens: usage.input_tokens,
        cached_input_tokens: usage.cached_input_tokens,
        output_tokens: usage.output_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        source: usage.source.to_stored(),
    }
}

pub(super) fn usage_from_stored(usage: Option<store::Usage>) -> ReadResult<TokenUsage> {
    let usage = usage.ok_or(UnreadableEvent::Malformed)?;
    Ok(TokenUsage {
        input_tokens: usage.input_tokens,
        cached_input_tokens: usage.cached_input_tokens,
        output_tokens: usage.output_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        source: StoredEnum::from_stored(usage.source)?,
    })
}
