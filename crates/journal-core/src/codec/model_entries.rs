//! Stored forms of what passes between a run and a model.

use palyra_types::event::{
    AbandonCause, ContextPlan, DropReason, ModelEvent, ModelMessage, ModelRequested, ModelRouting,
    NextAttempt, PassedOver, PlannedSource, TapeEvent,
};
use palyra_types::model::ProviderContinuation;
use palyra_types::{Attempt, Redacted, Seq, TapeSeq, Timestamp};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, fixed_or_zero, model_name, model_ref, pair,
    redacted_model_name, redacted_model_ref, unless_zero,
};
use super::run_entries::{usage_from_stored, usage_to_stored};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &ModelEvent) -> EncodedParts {
    match event {
        ModelEvent::Requested(requested) => encode_requested(requested),
        ModelEvent::Text { attempt, text } => encode_text(*attempt, text),
        ModelEvent::Reasoning { attempt, text } => encode_reasoning(*attempt, text),
        ModelEvent::Switched { attempt, passed_over, model } => pair(
            &store::ModelSwitchedFacts { version: VERSION, attempt: attempt.0, passed_over: *passed_over },
            &store::ModelSwitchedPayload { model: redacted_model_name(model) },
        ),
        ModelEvent::Message(message) => encode_message(message),
        ModelEvent::AttemptAbandoned { attempt, text_from, text_to, cause, next, retry_at, detail } => {
            let abandoned = AbandonedFields {
                attempt: *attempt,
                text: (*text_from, *text_to),
                cause: *cause,
                next: *next,
                retry_at: *retry_at,
                detail,
            };
            encode_abandoned(&abandoned)
        }
    }
}

fn encode_requested(requested: &ModelRequested) -> EncodedParts {
    let context = &requested.context;
    pair(
        &store::ModelRequestedFacts {
            version: VERSION,
            attempt: requested.attempt.0,
            turn: requested.turn,
            messages_kept: context.messages_kept,
            messages_dropped: context.messages_dropped,
            dropped_because: context.dropped_because.map_or(0, StoredEnum::to_stored),
            oldest_seq: context.oldest_seq.map(|seq| seq.0),
            tokens_estimated: context.tokens_estimated,
            instructions_digest: unless_zero(&context.instructions_digest),
            catalog_digest: unless_zero(&context.catalog_digest),
            sources: context.sources.iter().map(encode_source).collect(),
            routing: requested.routing.reasons.iter().map(|reason| reason.to_stored()).collect(),
        },
        &store::ModelRequestedPayload {
            model: redacted_model_name(&requested.model),
            passed_over: requested.routing.passed_over.expose().iter().map(encode_passed_over).collect(),
        },
    )
}

fn encode_passed_over(passed: &PassedOver) -> store::PassedOverModel {
    store::PassedOverModel {
        model: Some(model_name(&passed.model)),
        causes: passed.causes.iter().map(|cause| cause.to_stored()).collect(),
    }
}

fn decode_passed_over(passed: &store::PassedOverModel) -> ReadResult<PassedOver> {
    let model = passed.model.as_ref().map(model_ref).ok_or(UnreadableEvent::Malformed)?;
    let causes = passed.causes.iter().map(|cause| StoredEnum::from_stored(*cause));
    Ok(PassedOver { model, causes: causes.collect::<ReadResult<_>>()? })
}

pub(super) fn decode_requested(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ModelRequestedFacts::decode(facts)?;
    let payload = store::ModelRequestedPayload::decode(payload)?;
    let reasons = facts.routing.iter().map(|reason| StoredEnum::from_stored(*reason));
    let passed_over = payload.passed_over.iter().map(decode_passed_over);
    Ok(TapeEvent::Model(ModelEvent::Requested(ModelRequested {
        attempt: Attempt(facts.attempt),
        turn: facts.turn,
        context: ContextPlan {
            messages_kept: facts.messages_kept,
            messages_dropped: facts.messages_dropped,
            dropped_because: drop_reason(facts.dropped_because)?,
            oldest_seq: facts.oldest_seq.map(Seq),
            tokens_estimated: facts.tokens_estimated,
            instructions_digest: fixed_or_zero(&facts.instructions_digest)?,
            catalog_digest: fixed_or_zero(&facts.catalog_digest)?,
            sources: facts.sources.iter().map(decode_source).collect::<ReadResult<_>>()?,
        },
        model: redacted_model_ref(payload.model.as_ref()),
        routing: ModelRouting {
            reasons: reasons.collect::<ReadResult<_>>()?,
            passed_over: Redacted::from_stored(passed_over.collect::<ReadResult<_>>()?),
        },
    })))
}

fn encode_source(planned: &PlannedSource) -> store::PlannedSource {
    store::PlannedSource {
        source: planned.source.to_stored(),
        kept: planned.kept,
        dropped: planned.dropped,
        tokens_kept: planned.tokens_kept,
        tokens_dropped: planned.tokens_dropped,
        dropped_because: planned.dropped_because.map_or(0, StoredEnum::to_stored),
    }
}

fn decode_source(planned: &store::PlannedSource) -> ReadResult<PlannedSource> {
    Ok(PlannedSource {
        source: StoredEnum::from_stored(planned.source)?,
        kept: planned.kept,
        dropped: planned.dropped,
        tokens_kept: planned.tokens_kept,
        tokens_dropped: planned.tokens_dropped,
        dropped_because: drop_reason(planned.dropped_because)?,
    })
}

fn drop_reason(number: i32) -> ReadResult<Option<DropReason>> {
    if number == 0 { Ok(None) } else { StoredEnum::from_stored(number).map(Some) }
}

fn encode_text(attempt: Attempt, text: &Redacted<String>) -> EncodedParts {
    pair(
        &store::ModelTextFacts { version: VERSION, attempt: attempt.0 },
        &store::ModelTextPayload { text: text.expose().clone() },
    )
}

pub(super) fn decode_text(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ModelTextFacts::decode(facts)?;
    let payload = store::ModelTextPayload::decode(payload)?;
    Ok(TapeEvent::Model(ModelEvent::Text {
        attempt: Attempt(facts.attempt),
        text: Redacted::from_stored(payload.text),
    }))
}

fn encode_reasoning(attempt: Attempt, text: &Redacted<String>) -> EncodedParts {
    pair(
        &store::ModelReasoningFacts { version: VERSION, attempt: attempt.0 },
        &store::ModelReasoningPayload { text: text.expose().clone() },
    )
}

pub(super) fn decode_reasoning(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ModelReasoningFacts::decode(facts)?;
    let payload = store::ModelReasoningPayload::decode(payload)?;
    Ok(TapeEvent::Model(ModelEvent::Reasoning {
        attempt: Attempt(facts.attempt),
        text: Redacted::from_stored(payload.text),
    }))
}

pub(super) fn decode_switched(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ModelSwitchedFacts::decode(facts)?;
    let payload = store::ModelSwitchedPayload::decode(payload)?;
    Ok(TapeEvent::Model(ModelEvent::Switched {
        attempt: Attempt(facts.attempt),
        passed_over: facts.passed_over,
        model: redacted_model_ref(payload.model.as_ref()),
    }))
}

fn encode_message(message: &ModelMessage) -> EncodedParts {
    pair(
        &store::ModelMessageFacts {
            version: VERSION,
            attempt: message.attempt.0,
            text_from: message.text_from.0,
            text_to: message.text_to.0,
            proposals: message.proposals,
            finish: message.finish.to_stored(),
            usage: Some(usage_to_stored(message.usage)),
        },
        &store::ModelMessagePayload {
            model: redacted_model_name(&message.model),
            response_id: message.response_id.expose().clone(),
            continuation: message.continuation.as_ref().map(|kept| store::Continuation {
                model: Some(model_name(&kept.model)),
                format: kept.format.clone(),
                body: kept.body.expose().clone(),
            }),
        },
    )
}

pub(super) fn decode_message(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ModelMessageFacts::decode(facts)?;
    let payload = store::ModelMessagePayload::decode(payload)?;
    Ok(TapeEvent::Model(ModelEvent::Message(ModelMessage {
        attempt: Attempt(facts.attempt),
        text_from: TapeSeq(facts.text_from),
        text_to: TapeSeq(facts.text_to),
        proposals: facts.proposals,
        finish: StoredEnum::from_stored(facts.finish)?,
        usage: usage_from_stored(facts.usage)?,
        model: redacted_model_ref(payload.model.as_ref()),
        response_id: Redacted::from_stored(payload.response_id),
        continuation: payload.continuation.map(continuation_from_stored).transpose()?,
    })))
}

fn continuation_from_stored(stored: store::Continuation) -> ReadResult<ProviderContinuation> {
    Ok(ProviderContinuation {
        model: model_ref(&stored.model.ok_or(UnreadableEvent::Malformed)?),
        format: stored.format,
        body: Redacted::from_stored(stored.body),
    })
}

/// The fields of an abandoned attempt.
pub(super) struct AbandonedFields<'a> {
    pub(super) attempt: Attempt,
    pub(super) text: (TapeSeq, TapeSeq),
    pub(super) cause: AbandonCause,
    pub(super) next: NextAttempt,
    pub(super) retry_at: Option<Timestamp>,
    pub(super) detail: &'a Redacted<String>,
}

fn encode_abandoned(abandoned: &AbandonedFields<'_>) -> EncodedParts {
    let (cause, failure) = match abandoned.cause {
        AbandonCause::Restart => (store::Abandon::Restart, 0),
        AbandonCause::Failure(class) => (store::Abandon::Failure, class.to_stored()),
        AbandonCause::Cancelled => (store::Abandon::Cancelled, 0),
    };
    pair(
        &store::ModelAttemptAbandonedFacts {
            version: VERSION,
            attempt: abandoned.attempt.0,
            text_from: abandoned.text.0.0,
            text_to: abandoned.text.1.0,
            cause: cause as i32,
            failure,
            next: abandoned.next.to_stored(),
            retry_at: abandoned.retry_at.map(|time| time.0),
        },
        &store::ModelAttemptAbandonedPayload { detail: abandoned.detail.expose().clone() },
    )
}

pub(super) fn decode_abandoned(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ModelAttemptAbandonedFacts::decode(facts)?;
    let payload = store::ModelAttemptAbandonedPayload::decode(payload)?;
    let cause = match (store::Abandon::try_from(facts.cause), facts.failure) {
        (Ok(store::Abandon::Restart), 0) => AbandonCause::Restart,
        (Ok(store::Abandon::Cancelled), 0) => AbandonCause::Cancelled,
        (Ok(store::Abandon::Failure), class) => AbandonCause::Failure(StoredEnum::from_stored(class)?),
        (Ok(_), _) => return Err(UnreadableEvent::Malformed),
        (Err(_), _) => return Err(UnreadableEvent::Newer),
    };
    Ok(TapeEvent::Model(ModelEvent::AttemptAbandoned {
        attempt: Attempt(facts.attempt),
        text_from: TapeSeq(facts.text_from),
        text_to: TapeSeq(facts.text_to),
        cause,
        next: StoredEnum::from_stored(facts.next)?,
        retry_at: facts.retry_at.map(Timestamp),
        detail: Redacted::from_stored(payload.detail),
    }))
}
