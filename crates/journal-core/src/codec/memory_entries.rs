//! Stored forms of entries about memory: saved and forgotten; and of the items that a run was given.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use palyra_types::event::JournalEvent;
use palyra_types::memory::{MemoryEvent, MemorySaved, MemoryScope, MemorySource, RecallRole, RecalledMemory};
use palyra_types::recall::RecallSetting;
use palyra_types::tool::Taints;
use palyra_types::{MemoryId, Redacted, RunId, SessionId, TapeSeq, Timestamp};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, UnreadableEvent, VERSION, facts_only, fixed, pair};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &MemoryEvent) -> EncodedParts {
    match event {
        MemoryEvent::Saved(saved) => encode_saved(saved),
        MemoryEvent::Forgotten { memory, cause } => facts_only(&store::MemoryForgottenFacts {
            version: VERSION,
            memory: memory.to_bytes().to_vec(),
            cause: cause.to_stored(),
        }),
    }
}

pub(super) fn recall_to_stored(setting: RecallSetting) -> store::RecallSetting {
    store::RecallSetting { switch: setting.switch.to_stored(), level: setting.level.to_stored() }
}

pub(super) fn recall_from_stored(stored: store::RecallSetting) -> ReadResult<RecallSetting> {
    let switch = StoredEnum::from_stored(stored.switch)?;
    Ok(RecallSetting { switch, level: StoredEnum::from_stored(stored.level)? })
}

pub(super) fn recalled_to_stored(recalled: &[RecalledMemory]) -> Vec<store::RecalledMemory> {
    let stored = recalled.iter().map(|item| store::RecalledMemory {
        memory: item.memory.to_bytes().to_vec(),
        created: item.created.0,
        taints: item.taints.0,
        text: item.text.expose().clone(),
        is_preference: item.role == RecallRole::Preference,
    });
    stored.collect()
}

pub(super) fn recalled_from_stored(stored: Vec<store::RecalledMemory>) -> ReadResult<Vec<RecalledMemory>> {
    let recalled = stored.into_iter().map(|item| {
        Ok(RecalledMemory {
            memory: MemoryId::from_bytes(fixed(&item.memory)?),
            created: Timestamp(item.created),
            taints: Taints(item.taints),
            role: if item.is_preference { RecallRole::Preference } else { RecallRole::Related },
            text: Redacted::from_stored(item.text),
        })
    });
    recalled.collect()
}

fn encode_saved(saved: &MemorySaved) -> EncodedParts {
    let MemorySaved { memory, scope, author, via, source, taints, expires, supersedes, text } = saved;
    let mut session = Vec::new();
    let mut root = Vec::new();
    let place = match scope {
        MemoryScope::Session(id) => {
            session = id.to_bytes().to_vec();
            store::MemoryPlace::Session
        }
        MemoryScope::Principal => store::MemoryPlace::Principal,
        MemoryScope::PrincipalRoot(folder) => {
            root = folder.expose().as_os_str().as_bytes().to_vec();
            store::MemoryPlace::PrincipalRoot
        }
    };
    pair(
        &store::MemorySavedFacts {
            version: VERSION,
            memory: memory.to_bytes().to_vec(),
            place: place.into(),
            session,
            author: author.to_stored(),
            via: via.to_stored(),
            run: source.map_or_else(Vec::new, |source| source.run.to_bytes().to_vec()),
            tape_seq: source.map_or(0, |source| source.tape_seq.0),
            taints: taints.0,
            expires: expires.map(|time| time.0),
            supersedes: supersedes.map_or_else(Vec::new, |older| older.to_bytes().to_vec()),
        },
        &store::MemorySavedPayload { text: text.expose().clone(), root },
    )
}

pub(super) fn decode_saved(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::MemorySavedFacts::decode(facts)?;
    let payload = store::MemorySavedPayload::decode(payload)?;
    let scope = match store::MemoryPlace::try_from(facts.place) {
        Ok(store::MemoryPlace::Session) => {
            MemoryScope::Session(SessionId::from_bytes(fixed(&facts.session)?))
        }
        Ok(store::MemoryPlace::Principal) => MemoryScope::Principal,
        Ok(store::MemoryPlace::PrincipalRoot) => {
            let root = PathBuf::from(OsString::from_vec(payload.root));
            MemoryScope::PrincipalRoot(Redacted::from_stored(root))
        }
        Ok(store::MemoryPlace::Unspecified) => return Err(UnreadableEvent::Malformed),
        Err(_) => return Err(UnreadableEvent::Newer),
    };
    let source = match facts.run.as_slice() {
        [] => None,
        run => {
            let tape_seq = TapeSeq(facts.tape_seq);
            Some(MemorySource { run: RunId::from_bytes(fixed(run)?), tape_seq })
        }
    };
    let supersedes = match facts.supersedes.as_slice() {
        [] => None,
        older => Some(MemoryId::from_bytes(fixed(older)?)),
    };
    let saved = MemorySaved {
        memory: MemoryId::from_bytes(fixed(&facts.memory)?),
        scope,
        author: StoredEnum::from_stored(facts.author)?,
        via: StoredEnum::from_stored(facts.via)?,
        source,
        taints: Taints(facts.taints),
        expires: facts.expires.map(Timestamp),
        supersedes,
        text: Redacted::from_stored(payload.text),
    };
    Ok(MemoryEvent::Saved(saved).into())
}

pub(super) fn decode_forgotten(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::MemoryForgottenFacts::decode(facts)?;
    let memory = MemoryId::from_bytes(fixed(&facts.memory)?);
    Ok(MemoryEvent::Forgotten { memory, cause: StoredEnum::from_stored(facts.cause)? }.into())
}
