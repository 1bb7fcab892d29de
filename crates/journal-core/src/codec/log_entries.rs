//! Stored forms of entries outside runs: the log itself, agents.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use palyra_types::agent::AgentProfile;
use palyra_types::event::{AgentEvent, EpochSealing, JournalEvent, LogEvent};
use palyra_types::tool::ToolName;
use palyra_types::{AgentId, Epoch, LogId, Redacted};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, MalformedEvent, ReadResult, VERSION, facts_only, fixed, model_name, model_ref, pair,
};
use super::stored_enums::StoredEnum;

/// How EpochStarted says that its payloads are not sealed.
const SEALING_OFF: u32 = 1;
/// How it says that they are.
const SEALING_ON: u32 = 2;

pub(super) fn encode_opened(log_id: LogId, nonce: &[u8; 32], first_key: &[u8; 32]) -> EncodedParts {
    facts_only(&store::LogOpenedFacts {
        version: VERSION,
        log_id: log_id.0.to_vec(),
        nonce: nonce.to_vec(),
        first_key: first_key.to_vec(),
    })
}

pub(super) fn decode_opened(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::LogOpenedFacts::decode(facts)?;
    Ok(JournalEvent::Log(LogEvent::Opened {
        log_id: LogId(fixed(&facts.log_id)?),
        nonce: fixed(&facts.nonce)?,
        first_key: fixed(&facts.first_key)?,
    }))
}

pub(super) fn encode_epoch(epoch: Epoch, key: &[u8; 32], sealing: Option<EpochSealing>) -> EncodedParts {
    let sealing = match sealing {
        None => 0,
        Some(EpochSealing::Off) => SEALING_OFF,
        Some(EpochSealing::On) => SEALING_ON,
    };
    facts_only(&store::EpochStartedFacts { version: VERSION, epoch: epoch.0, key: key.to_vec(), sealing })
}

pub(super) fn decode_epoch(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::EpochStartedFacts::decode(facts)?;
    let sealing = match facts.sealing {
        SEALING_OFF => Some(EpochSealing::Off),
        SEALING_ON => Some(EpochSealing::On),
        _ => None,
    };
    Ok(JournalEvent::Log(LogEvent::EpochStarted {
        epoch: Epoch(facts.epoch),
        key: fixed(&facts.key)?,
        sealing,
    }))
}

pub(super) fn encode_agent(agent: AgentId, profile: &AgentProfile) -> EncodedParts {
    pair(
        &store::AgentSavedFacts {
            version: VERSION,
            agent: agent.to_bytes().to_vec(),
            recall: profile.recall.map(StoredEnum::to_stored),
        },
        &profile_to_stored(profile),
    )
}

pub(super) fn decode_agent(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::AgentSavedFacts::decode(facts)?;
    let recall = facts.recall.map(StoredEnum::from_stored).transpose()?;
    let profile = AgentProfile { recall, ..profile_from_stored(store::AgentSavedPayload::decode(payload)?) };
    Ok(JournalEvent::Agent(AgentEvent::Saved { agent: AgentId::from_bytes(fixed(&facts.agent)?), profile }))
}

pub(super) fn encode_agent_archived(agent: AgentId) -> EncodedParts {
    facts_only(&store::AgentArchivedFacts { version: VERSION, agent: agent.to_bytes().to_vec() })
}

pub(super) fn decode_agent_archived(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::AgentArchivedFacts::decode(facts)?;
    Ok(JournalEvent::Agent(AgentEvent::Archived { agent: AgentId::from_bytes(fixed(&facts.agent)?) }))
}

/// Returns the content of a profile; what it says about recall is a fact.
pub fn agent_profile_to_bytes(profile: &AgentProfile) -> Vec<u8> {
    profile_to_stored(profile).encode_to_vec()
}

/// Reads the content of a profile.
pub fn agent_profile_from_bytes(bytes: &[u8]) -> Result<AgentProfile, MalformedEvent> {
    store::AgentSavedPayload::decode(bytes).map(profile_from_stored).map_err(|_| MalformedEvent)
}

fn path_bytes(path: &Redacted<PathBuf>) -> Vec<u8> {
    path.expose().as_os_str().as_bytes().to_vec()
}

fn stored_path(bytes: Vec<u8>) -> Redacted<PathBuf> {
    Redacted::from_stored(PathBuf::from(OsString::from_vec(bytes)))
}

fn profile_to_stored(profile: &AgentProfile) -> store::AgentSavedPayload {
    store::AgentSavedPayload {
        name: profile.name.expose().clone(),
        instructions: profile.instructions.expose().clone(),
        model: profile.model.as_ref().map(model_name),
        tools: profile.tools.as_ref().map(|tools| store::ToolNames {
            names: tools.iter().map(|tool| tool.as_str().to_owned()).collect(),
        }),
        workspace_roots: profile.workspace_roots.iter().map(path_bytes).collect(),
    }
}

fn profile_from_stored(stored: store::AgentSavedPayload) -> AgentProfile {
    AgentProfile {
        name: Redacted::from_stored(stored.name),
        instructions: Redacted::from_stored(stored.instructions),
        model: stored.model.as_ref().map(model_ref),
        tools: stored.tools.map(|tools| tools.names.iter().map(|name| ToolName::new(name)).collect()),
        workspace_roots: stored.workspace_roots.into_iter().map(stored_path).collect(),
        recall: None,
    }
}
