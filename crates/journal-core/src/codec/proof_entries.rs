//! Stored forms of entries that concern the log's proofs: erasures, and the end of one log in another.

use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::proof::{ErasureReason, ReopenReason, SeqRange, TreeHead};
use palyra_types::{LogId, PrincipalId, Seq};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, VERSION, facts_only, fixed, fixed_or_zero, unless_zero};
use super::stored_enums::StoredEnum;

pub(super) fn encode_erased(
    authoriser: PrincipalId,
    reason: ErasureReason,
    ranges: &[SeqRange],
) -> EncodedParts {
    let ranges = ranges.iter().map(|range| store::SeqRange { first: range.first.0, last: range.last.0 });
    facts_only(&store::ErasedFacts {
        version: VERSION,
        authoriser: unless_zero(&authoriser.to_bytes()),
        reason: reason.to_stored(),
        ranges: ranges.collect(),
    })
}

pub(super) fn decode_erased(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::ErasedFacts::decode(facts)?;
    let ranges = facts.ranges.iter().map(|range| SeqRange { first: Seq(range.first), last: Seq(range.last) });
    Ok(JournalEvent::Log(LogEvent::Erased {
        authoriser: PrincipalId::from_bytes(fixed_or_zero(&facts.authoriser)?),
        reason: ErasureReason::from_stored(facts.reason)?,
        ranges: ranges.collect(),
    }))
}

pub(super) fn encode_reopened(
    log_id: LogId,
    nonce: &[u8; 32],
    key: &[u8; 32],
    abandoned: TreeHead,
    reason: ReopenReason,
) -> EncodedParts {
    facts_only(&store::LogReopenedFacts {
        version: VERSION,
        log_id: log_id.0.to_vec(),
        nonce: nonce.to_vec(),
        key: key.to_vec(),
        abandoned_size: abandoned.size,
        abandoned_root: abandoned.root.to_vec(),
        reason: reason.to_stored(),
    })
}

pub(super) fn decode_reopened(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::LogReopenedFacts::decode(facts)?;
    Ok(JournalEvent::Log(LogEvent::Reopened {
        log_id: LogId(fixed(&facts.log_id)?),
        nonce: fixed(&facts.nonce)?,
        key: fixed(&facts.key)?,
        abandoned: TreeHead { size: facts.abandoned_size, root: fixed(&facts.abandoned_root)? },
        reason: ReopenReason::from_stored(facts.reason)?,
    }))
}
