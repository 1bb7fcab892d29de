//! Single stored values: ids, digests, spans, model names, and the two ways in which bytes cannot be read.

use std::time::Duration;

use palyra_types::model::ModelRef;
use palyra_types::{ErrorCode, Redacted};
use palyra_wire::store;
use prost::Message;

/// The newest version of every kind's facts and payload; kinds will get their own when the first one changes.
pub(crate) const VERSION: u32 = 1;

/// Why stored bytes yield no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadableEvent {
    /// A newer version wrote them: the event is unknown, not broken.
    Newer,
    /// They are not what any version writes.
    Malformed,
}

/// Stored bytes that no version of this program writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored bytes are not what any version writes")]
pub struct MalformedEvent;

impl From<prost::DecodeError> for UnreadableEvent {
    fn from(_: prost::DecodeError) -> Self {
        Self::Malformed
    }
}

pub(crate) type ReadResult<T> = Result<T, UnreadableEvent>;

/// Looks at the version that all facts begin with.
pub(super) fn check_version(facts: &[u8]) -> ReadResult<()> {
    match store::FactsHead::decode(facts)?.version {
        VERSION => Ok(()),
        0 => Err(UnreadableEvent::Malformed),
        _ => Err(UnreadableEvent::Newer),
    }
}

/// Reads bytes of a fixed length.
pub(super) fn fixed<const N: usize>(bytes: &[u8]) -> ReadResult<[u8; N]> {
    bytes.try_into().map_err(|_| UnreadableEvent::Malformed)
}

/// Reads bytes of a fixed length, or none at all for zeros.
pub(super) fn fixed_or_zero<const N: usize>(bytes: &[u8]) -> ReadResult<[u8; N]> {
    if bytes.is_empty() { Ok([0; N]) } else { fixed(bytes) }
}

/// Returns bytes, or none at all when they are zeros.
pub(super) fn unless_zero<const N: usize>(bytes: &[u8; N]) -> Vec<u8> {
    if *bytes == [0; N] { Vec::new() } else { bytes.to_vec() }
}

pub(super) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

pub(super) fn error_number(code: Option<ErrorCode>) -> u32 {
    code.map_or(0, |code| u32::from(code.number()))
}

pub(super) fn error_code(number: u32) -> ReadResult<Option<ErrorCode>> {
    if number == 0 {
        return Ok(None);
    }
    let known = ErrorCode::ALL.iter().find(|code| u32::from(code.number()) == number);
    known.copied().map(Some).ok_or(UnreadableEvent::Newer)
}

pub(super) fn model_name(model: &ModelRef) -> store::ModelName {
    store::ModelName { provider: model.provider.as_str().to_owned(), model: model.model.as_str().to_owned() }
}

pub(super) fn model_ref(name: &store::ModelName) -> ModelRef {
    ModelRef::new(&name.provider, &name.model)
}

pub(super) fn redacted_model_name(model: &Redacted<Option<ModelRef>>) -> Option<store::ModelName> {
    model.expose().as_ref().map(model_name)
}

pub(super) fn redacted_model_ref(name: Option<&store::ModelName>) -> Redacted<Option<ModelRef>> {
    Redacted::from_stored(name.map(model_ref))
}

/// Encoded facts and payload of one event.
pub(super) type EncodedParts = (Vec<u8>, Vec<u8>);

pub(super) fn pair(facts: &impl Message, payload: &impl Message) -> EncodedParts {
    (facts.encode_to_vec(), payload.encode_to_vec())
}

pub(super) fn facts_only(facts: &impl Message) -> EncodedParts {
    (facts.encode_to_vec(), Vec::new())
}
