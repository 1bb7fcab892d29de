//! Stored forms of entries about messages of the outbox.

use palyra_types::Redacted;
use palyra_types::delivery::{DeliveryAttemptEnded, DeliveryEvent, DeliveryKey, DeliveryPlanned};
use palyra_types::event::JournalEvent;
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, VERSION, facts_only, fixed, pair};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &DeliveryEvent) -> EncodedParts {
    match event {
        DeliveryEvent::Planned(planned) => encode_planned(planned),
        DeliveryEvent::AttemptBegun { key, attempt } => facts_only(&store::DeliveryAttemptBegunFacts {
            version: VERSION,
            key: key.0.to_vec(),
            attempt: *attempt,
        }),
        DeliveryEvent::AttemptEnded(ended) => encode_ended(ended),
    }
}

fn encode_planned(planned: &DeliveryPlanned) -> EncodedParts {
    let DeliveryPlanned { key, target_kind, target, body_bytes, body } = planned;
    pair(
        &store::DeliveryPlannedFacts {
            version: VERSION,
            key: key.0.to_vec(),
            target_kind: target_kind.to_stored(),
            body_bytes: *body_bytes,
        },
        &store::DeliveryPlannedPayload { target: target.expose().clone(), body: body.expose().clone() },
    )
}

fn encode_ended(ended: &DeliveryAttemptEnded) -> EncodedParts {
    let DeliveryAttemptEnded { key, attempt, end, explanation } = ended;
    pair(
        &store::DeliveryAttemptEndedFacts {
            version: VERSION,
            key: key.0.to_vec(),
            attempt: *attempt,
            end: end.to_stored(),
        },
        &store::DeliveryAttemptEndedPayload { explanation: explanation.expose().clone() },
    )
}

pub(super) fn decode_planned(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::DeliveryPlannedFacts::decode(facts)?;
    let payload = store::DeliveryPlannedPayload::decode(payload)?;
    let planned = DeliveryPlanned {
        key: key(&facts.key)?,
        target_kind: StoredEnum::from_stored(facts.target_kind)?,
        target: Redacted::from_stored(payload.target),
        body_bytes: facts.body_bytes,
        body: Redacted::from_stored(payload.body),
    };
    Ok(DeliveryEvent::Planned(planned).into())
}

pub(super) fn decode_begun(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::DeliveryAttemptBegunFacts::decode(facts)?;
    Ok(DeliveryEvent::AttemptBegun { key: key(&facts.key)?, attempt: facts.attempt }.into())
}

pub(super) fn decode_ended(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::DeliveryAttemptEndedFacts::decode(facts)?;
    let payload = store::DeliveryAttemptEndedPayload::decode(payload)?;
    let ended = DeliveryAttemptEnded {
        key: key(&facts.key)?,
        attempt: facts.attempt,
        end: StoredEnum::from_stored(facts.end)?,
        explanation: Redacted::from_stored(payload.explanation),
    };
    Ok(DeliveryEvent::AttemptEnded(ended).into())
}

fn key(stored: &[u8]) -> ReadResult<DeliveryKey> {
    fixed(stored).map(DeliveryKey)
}
