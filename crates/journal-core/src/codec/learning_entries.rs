//! Stored forms of entries about learning: found, and changed.

use palyra_types::event::JournalEvent;
use palyra_types::learning::{CandidateChanged, CandidateProposed, CitedEntry, LearningEvent};
use palyra_types::tool::Taints;
use palyra_types::{CandidateId, MemoryId, Redacted, RunId, TapeSeq};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, VERSION, fixed, pair};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &LearningEvent) -> EncodedParts {
    match event {
        LearningEvent::Proposed(proposed) => encode_proposed(proposed),
        LearningEvent::Changed(changed) => encode_changed(changed),
    }
}

fn encode_proposed(proposed: &CandidateProposed) -> EncodedParts {
    let CandidateProposed {
        candidate,
        kind,
        confidence_bps,
        state,
        held_back,
        author,
        evidence,
        taints,
        via,
        memory,
        supersedes,
        text,
    } = proposed;
    let evidence = evidence
        .iter()
        .map(|cited| store::CitedEntry { run: cited.run.to_bytes().to_vec(), tape_seq: cited.tape_seq.0 });
    pair(
        &store::LearningProposedFacts {
            version: VERSION,
            candidate: candidate.to_bytes().to_vec(),
            kind: kind.to_stored(),
            confidence_bps: *confidence_bps,
            state: state.to_stored(),
            held_back: held_back.map(StoredEnum::to_stored),
            author: author.to_stored(),
            evidence: evidence.collect(),
            taints: taints.0,
            via: via.to_stored(),
            memory: memory.map_or_else(Vec::new, |memory| memory.to_bytes().to_vec()),
            supersedes: supersedes.map_or_else(Vec::new, |older| older.to_bytes().to_vec()),
        },
        &store::LearningProposedPayload { text: text.expose().clone() },
    )
}

fn encode_changed(changed: &CandidateChanged) -> EncodedParts {
    let CandidateChanged { candidate, state, memory, text } = changed;
    pair(
        &store::LearningChangedFacts {
            version: VERSION,
            candidate: candidate.to_bytes().to_vec(),
            state: state.to_stored(),
            memory: memory.map_or_else(Vec::new, |memory| memory.to_bytes().to_vec()),
        },
        &store::LearningChangedPayload { text: text.expose().clone() },
    )
}

pub(super) fn decode_proposed(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::LearningProposedFacts::decode(facts)?;
    let payload = store::LearningProposedPayload::decode(payload)?;
    let evidence = facts.evidence.iter().map(|cited| {
        Ok(CitedEntry { run: RunId::from_bytes(fixed(&cited.run)?), tape_seq: TapeSeq(cited.tape_seq) })
    });
    let supersedes = match facts.supersedes.as_slice() {
        [] => None,
        older => Some(CandidateId::from_bytes(fixed(older)?)),
    };
    let proposed = CandidateProposed {
        candidate: CandidateId::from_bytes(fixed(&facts.candidate)?),
        kind: StoredEnum::from_stored(facts.kind)?,
        confidence_bps: facts.confidence_bps,
        state: StoredEnum::from_stored(facts.state)?,
        held_back: facts.held_back.map(StoredEnum::from_stored).transpose()?,
        author: StoredEnum::from_stored(facts.author)?,
        evidence: evidence.collect::<ReadResult<_>>()?,
        taints: Taints(facts.taints),
        via: StoredEnum::from_stored(facts.via)?,
        memory: memory(&facts.memory)?,
        supersedes,
        text: Redacted::from_stored(payload.text),
    };
    Ok(LearningEvent::Proposed(Box::new(proposed)).into())
}

pub(super) fn decode_changed(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::LearningChangedFacts::decode(facts)?;
    let payload = store::LearningChangedPayload::decode(payload)?;
    let changed = CandidateChanged {
        candidate: CandidateId::from_bytes(fixed(&facts.candidate)?),
        state: StoredEnum::from_stored(facts.state)?,
        memory: memory(&facts.memory)?,
        text: Redacted::from_stored(payload.text),
    };
    Ok(LearningEvent::Changed(changed).into())
}

fn memory(bytes: &[u8]) -> ReadResult<Option<MemoryId>> {
    match bytes {
        [] => Ok(None),
        bytes => Ok(Some(MemoryId::from_bytes(fixed(bytes)?))),
    }
}
