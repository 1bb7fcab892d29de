//! Stored forms of what the references of an input became.
//!
//! Kinds and calls are facts, so that a run whose content was erased still knows which calls were of references.

use palyra_types::context_reference::{
    ExpandedReference, ReferenceError, ReferenceKind, ReferenceLimits, ReferenceMeans, ReferencesExpanded,
};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::{EffectId, Redacted, TapeSeq};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, UnreadableEvent, VERSION, pair};
use super::stored_enums::StoredEnum;

pub(super) fn encode_expanded(expanded: &ReferencesExpanded) -> EncodedParts {
    pair(
        &store::ReferencesExpandedFacts {
            version: VERSION,
            input: expanded.input.0,
            items: expanded.items.iter().copied().map(item_to_stored).collect(),
            surplus: expanded.surplus,
            item_tokens: expanded.limits.item_tokens,
            total_tokens: expanded.limits.total_tokens,
        },
        &store::ReferencesExpandedPayload {
            written: expanded.written.iter().map(|written| written.expose().clone()).collect(),
        },
    )
}

pub(super) fn decode_expanded(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ReferencesExpandedFacts::decode(facts)?;
    let payload = store::ReferencesExpandedPayload::decode(payload)?;
    Ok(TapeEvent::Run(RunEvent::ReferencesExpanded(ReferencesExpanded {
        input: TapeSeq(facts.input),
        items: facts.items.into_iter().map(item_from_stored).collect::<ReadResult<_>>()?,
        surplus: facts.surplus,
        limits: ReferenceLimits { item_tokens: facts.item_tokens, total_tokens: facts.total_tokens },
        written: payload.written.into_iter().map(Redacted::from_stored).collect(),
    })))
}

fn item_to_stored(item: ExpandedReference) -> store::ExpandedReference {
    let stored = store::ExpandedReference { kind: item.kind.to_stored(), ..Default::default() };
    match item.means {
        ReferenceMeans::Call(effect) => store::ExpandedReference { effect: effect.0, ..stored },
        ReferenceMeans::SameAs(place) => {
            store::ExpandedReference { same_as: place.saturating_add(1), ..stored }
        }
        ReferenceMeans::Refused(error) => store::ExpandedReference { refused: error.to_stored(), ..stored },
    }
}

fn item_from_stored(stored: store::ExpandedReference) -> ReadResult<ExpandedReference> {
    let means = match (stored.effect, stored.same_as, stored.refused) {
        (0, 0, refused) => ReferenceMeans::Refused(ReferenceError::from_stored(refused)?),
        (0, number, 0) => ReferenceMeans::SameAs(number - 1),
        (effect, 0, 0) => ReferenceMeans::Call(EffectId(effect)),
        _ => return Err(UnreadableEvent::Malformed),
    };
    Ok(ExpandedReference { kind: ReferenceKind::from_stored(stored.kind)?, means })
}
