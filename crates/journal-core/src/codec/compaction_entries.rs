//! Stored forms of compactions: made and reverted; and of the one that a run reads.

use palyra_types::compaction::{CompactedSpan, CompactionRead, SessionCompaction};
use palyra_types::event::{ContentDigest, JournalEvent, SessionEvent};
use palyra_types::tool::Taints;
use palyra_types::{Redacted, RunId, Seq, SessionId};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, VERSION, facts_only, fixed, fixed_or_zero, pair, redacted_model_name,
    redacted_model_ref, unless_zero,
};
use super::stored_enums::StoredEnum;

pub(super) fn read_to_stored(read: CompactionRead) -> store::CompactionRead {
    store::CompactionRead { compaction: read.compaction.0, upto: read.upto.0 }
}

pub(super) fn read_from_stored(read: store::CompactionRead) -> CompactionRead {
    CompactionRead { compaction: Seq(read.compaction), upto: Seq(read.upto) }
}

pub(super) fn encode_made(made: &SessionCompaction) -> EncodedParts {
    let spans = made.spans.iter().map(|span| store::CompactedSpan {
        session: span.session.to_bytes().to_vec(),
        first: span.first.0,
        last: span.last.0,
    });
    pair(
        &store::CompactedFacts {
            version: VERSION,
            session: made.session.to_bytes().to_vec(),
            spans: spans.collect(),
            first_run: made.first_run.to_bytes().to_vec(),
            last_run: made.last_run.to_bytes().to_vec(),
            runs: made.runs,
            replaces: made.replaces.map(|older| older.0),
            taints: made.taints.0,
            author: made.author.to_stored(),
            refused: made.refused.map(StoredEnum::to_stored),
            cause: made.cause.to_stored(),
            source_bytes: made.source_bytes,
            summary_bytes: made.summary_bytes,
            source_digest: made.source_digest.0.to_vec(),
        },
        &store::CompactedPayload {
            summary: made.summary.expose().clone(),
            model: redacted_model_name(&made.model),
            salt: unless_zero(made.salt.expose()),
        },
    )
}

pub(super) fn decode_made(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::CompactedFacts::decode(facts)?;
    let payload = store::CompactedPayload::decode(payload)?;
    let spans = facts.spans.iter().map(|span| {
        let session = SessionId::from_bytes(fixed(&span.session)?);
        Ok(CompactedSpan { session, first: Seq(span.first), last: Seq(span.last) })
    });
    let made = SessionCompaction {
        session: SessionId::from_bytes(fixed(&facts.session)?),
        spans: spans.collect::<ReadResult<_>>()?,
        first_run: RunId::from_bytes(fixed(&facts.first_run)?),
        last_run: RunId::from_bytes(fixed(&facts.last_run)?),
        runs: facts.runs,
        replaces: facts.replaces.map(Seq),
        taints: Taints(facts.taints),
        author: StoredEnum::from_stored(facts.author)?,
        refused: facts.refused.map(StoredEnum::from_stored).transpose()?,
        cause: StoredEnum::from_stored(facts.cause)?,
        source_bytes: facts.source_bytes,
        summary_bytes: facts.summary_bytes,
        source_digest: ContentDigest(fixed(&facts.source_digest)?),
        model: redacted_model_ref(payload.model.as_ref()),
        salt: Redacted::from_stored(fixed_or_zero(&payload.salt)?),
        summary: Redacted::from_stored(payload.summary),
    };
    Ok(SessionEvent::Compacted(Box::new(made)).into())
}

pub(super) fn encode_reverted(made: Seq) -> EncodedParts {
    facts_only(&store::CompactionRevertedFacts { version: VERSION, compaction: made.0 })
}

pub(super) fn decode_reverted(facts: &[u8]) -> ReadResult<JournalEvent> {
    let reverted = store::CompactionRevertedFacts::decode(facts)?.compaction;
    Ok(SessionEvent::CompactionReverted(Seq(reverted)).into())
}
