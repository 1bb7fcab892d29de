//! Stored forms of entries about skills: installed, switched on and off, quarantined, removed.

use palyra_types::event::JournalEvent;
use palyra_types::skill::{ActivatedSkill, InstalledSkill, SkillEvent, SkillFault};
use palyra_types::tool::ToolName;
use palyra_types::{AgentId, Redacted, SkillId};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, UnreadableEvent, VERSION, facts_only, fixed, pair};

pub(super) fn encode(event: &SkillEvent) -> EncodedParts {
    match event {
        SkillEvent::Installed(installed) => encode_installed(installed),
        SkillEvent::Enabled { skill, agent } => {
            let (version, skill, agent) = (VERSION, skill.to_bytes().to_vec(), agent.to_bytes().to_vec());
            facts_only(&store::SkillEnabledFacts { version, skill, agent })
        }
        SkillEvent::Disabled { skill, agent } => {
            let (version, skill, agent) = (VERSION, skill.to_bytes().to_vec(), agent.to_bytes().to_vec());
            facts_only(&store::SkillDisabledFacts { version, skill, agent })
        }
        SkillEvent::Quarantined { skill, fault } => encode_quarantined(*skill, *fault),
        SkillEvent::Removed { skill } => {
            let facts = store::SkillRemovedFacts { version: VERSION, skill: skill.to_bytes().to_vec() };
            facts_only(&facts)
        }
    }
}

fn encode_installed(installed: &InstalledSkill) -> EncodedParts {
    let InstalledSkill { skill, sha256, files, bytes, name, description, allowed_tools, source } = installed;
    pair(
        &store::SkillInstalledFacts {
            version: VERSION,
            skill: skill.to_bytes().to_vec(),
            sha256: sha256.to_vec(),
            files: *files,
            bytes: *bytes,
        },
        &store::SkillInstalledPayload {
            name: name.expose().clone(),
            description: description.expose().clone(),
            allowed_tools: allowed_tools.as_ref().map(|tools| store::ToolNames {
                names: tools.iter().map(|tool| tool.as_str().to_owned()).collect(),
            }),
            source: source.expose().clone(),
        },
    )
}

pub(super) fn decode_installed(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SkillInstalledFacts::decode(facts)?;
    let payload = store::SkillInstalledPayload::decode(payload)?;
    let names = payload.allowed_tools.map(|tools| tools.names);
    Ok(JournalEvent::Skill(SkillEvent::Installed(InstalledSkill {
        skill: skill_id(&facts.skill)?,
        sha256: fixed(&facts.sha256)?,
        files: facts.files,
        bytes: facts.bytes,
        name: Redacted::from_stored(payload.name),
        description: Redacted::from_stored(payload.description),
        allowed_tools: names.map(|names| names.iter().map(|name| ToolName::new(name)).collect()),
        source: Redacted::from_stored(payload.source),
    })))
}

pub(super) fn decode_enabled(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SkillEnabledFacts::decode(facts)?;
    let (skill, agent) = (skill_id(&facts.skill)?, AgentId::from_bytes(fixed(&facts.agent)?));
    Ok(JournalEvent::Skill(SkillEvent::Enabled { skill, agent }))
}

pub(super) fn decode_disabled(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SkillDisabledFacts::decode(facts)?;
    let (skill, agent) = (skill_id(&facts.skill)?, AgentId::from_bytes(fixed(&facts.agent)?));
    Ok(JournalEvent::Skill(SkillEvent::Disabled { skill, agent }))
}

fn encode_quarantined(skill: SkillId, fault: SkillFault) -> EncodedParts {
    let (fault, found) = match fault {
        SkillFault::Changed { found } => (store::SkillFault::Changed, found.to_vec()),
        SkillFault::Missing => (store::SkillFault::Missing, Vec::new()),
        SkillFault::Unreadable => (store::SkillFault::Unreadable, Vec::new()),
    };
    facts_only(&store::SkillQuarantinedFacts {
        version: VERSION,
        skill: skill.to_bytes().to_vec(),
        fault: fault.into(),
        found,
    })
}

pub(super) fn decode_quarantined(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SkillQuarantinedFacts::decode(facts)?;
    let fault = match store::SkillFault::try_from(facts.fault) {
        Ok(store::SkillFault::Changed) => SkillFault::Changed { found: fixed(&facts.found)? },
        Ok(store::SkillFault::Missing) => SkillFault::Missing,
        Ok(store::SkillFault::Unreadable) => SkillFault::Unreadable,
        Ok(store::SkillFault::Unspecified) => return Err(UnreadableEvent::Malformed),
        Err(_) => return Err(UnreadableEvent::Newer),
    };
    Ok(JournalEvent::Skill(SkillEvent::Quarantined { skill: skill_id(&facts.skill)?, fault }))
}

pub(super) fn decode_removed(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SkillRemovedFacts::decode(facts)?;
    Ok(JournalEvent::Skill(SkillEvent::Removed { skill: skill_id(&facts.skill)? }))
}

fn skill_id(bytes: &[u8]) -> ReadResult<SkillId> {
    Ok(SkillId::from_bytes(fixed(bytes)?))
}

pub(super) fn activated_to_stored(skills: &[ActivatedSkill]) -> Vec<store::ActivatedSkill> {
    let to_stored = |at_work: &ActivatedSkill| store::ActivatedSkill {
        skill: at_work.skill.to_bytes().to_vec(),
        sha256: at_work.sha256.to_vec(),
    };
    skills.iter().map(to_stored).collect()
}

pub(super) fn activated_from_stored(skills: &[store::ActivatedSkill]) -> ReadResult<Vec<ActivatedSkill>> {
    let from_stored = |at_work: &store::ActivatedSkill| {
        Ok(ActivatedSkill { skill: skill_id(&at_work.skill)?, sha256: fixed(&at_work.sha256)? })
    };
    skills.iter().map(from_stored).collect()
}
