//! `SkillsService`: what is installed, and what the owner decides about it.

use std::path::PathBuf;

use palyra_admin::skills::{SkillInstallation, SkillNovelty, SkillView};
use palyra_runtime::Caller;
use palyra_types::Content;
use palyra_types::skill::{SkillFault, SkillRecord};
use palyra_types::tool::ToolName;
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

/// An empty name means the agent that always exists.
fn agent(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}

fn skill(view: &SkillView) -> v1::Skill {
    let SkillRecord { installed, by, created, quarantine, .. } = &view.record;
    let found = match quarantine.map(|quarantine| quarantine.fault) {
        Some(SkillFault::Changed { found }) => translate::hex(&found),
        Some(SkillFault::Missing | SkillFault::Unreadable) | None => String::new(),
    };
    v1::Skill {
        skill_id: installed.skill.to_string(),
        name: installed.name.expose().clone(),
        description: installed.description.expose().clone(),
        sha256: translate::hex(&installed.sha256),
        files: installed.files,
        bytes: installed.bytes,
        narrows: installed.allowed_tools.is_some(),
        allowed_tools: names(installed.allowed_tools.as_deref().unwrap_or_default()),
        unknown_tools: view
            .unknown_tools
            .iter()
            .map(|unknown| v1::UnknownTool {
                name: unknown.name.to_string(),
                near: unknown.near.as_ref().map(ToString::to_string).unwrap_or_default(),
            })
            .collect(),
        source: installed.source.expose().clone(),
        installed: translate::timestamp(*created),
        installed_by: by.to_string(),
        state: state(&view.record).into(),
        agents: view
            .agents
            .iter()
            .map(|(agent, left)| v1::SkillAgent { agent: agent.clone(), tools_left: names(left) })
            .collect(),
        quarantined: quarantine.and_then(|quarantine| translate::timestamp(quarantine.since)),
        fault: quarantine.map(|quarantine| fault(quarantine.fault)).unwrap_or_default().into(),
        found_sha256: found,
    }
}

fn names(tools: &[ToolName]) -> Vec<String> {
    tools.iter().map(ToString::to_string).collect()
}

fn state(record: &SkillRecord) -> v1::SkillState {
    if record.quarantine.is_some() {
        v1::SkillState::Quarantined
    } else if record.agents.is_empty() {
        v1::SkillState::Disabled
    } else {
        v1::SkillState::Enabled
    }
}

fn fault(fault: SkillFault) -> v1::SkillFault {
    match fault {
        SkillFault::Changed { .. } => v1::SkillFault::Changed,
        SkillFault::Missing => v1::SkillFault::Missing,
        SkillFault::Unreadable => v1::SkillFault::Unreadable,
    }
}

impl OperationHandlers {
    /// Answers `ListSkills`.
    pub async fn list_skills(
        &self,
        caller: Caller,
        _message: v1::ListSkillsRequest,
    ) -> Result<v1::ListSkillsResponse, ApiError> {
        let skills = self.state.admin.skills.list(caller)?;
        Ok(v1::ListSkillsResponse { skills: skills.iter().map(skill).collect() })
    }

    /// Answers `GetSkill`.
    pub async fn get_skill(
        &self,
        caller: Caller,
        message: v1::GetSkillRequest,
    ) -> Result<v1::GetSkillResponse, ApiError> {
        let view = self.state.admin.skills.get(caller, &message.name)?;
        let text = view.text.clone().unwrap_or_default();
        Ok(v1::GetSkillResponse { skill: Some(skill(&view)), text })
    }

    /// Answers `InstallSkill`.
    pub async fn install_skill(
        &self,
        caller: Caller,
        message: v1::InstallSkillRequest,
    ) -> Result<v1::InstallSkillResponse, ApiError> {
        let source = Content::new(PathBuf::from(message.path));
        let installed = self.state.admin.skills.install(caller, source).await?;
        let SkillInstallation { skill: view, replaced, novelty } = installed;
        Ok(v1::InstallSkillResponse {
            skill: Some(skill(&view)),
            text: view.text.unwrap_or_default(),
            replaced: replaced.map(|skill| skill.to_string()).unwrap_or_default(),
            repaired: novelty == SkillNovelty::Repaired,
        })
    }

    /// Answers `EnableSkill`.
    pub async fn enable_skill(
        &self,
        caller: Caller,
        message: v1::EnableSkillRequest,
    ) -> Result<v1::EnableSkillResponse, ApiError> {
        let enabled = self.state.admin.skills.enable(caller, &message.name, agent(&message.agent)).await;
        let view = enabled?;
        Ok(v1::EnableSkillResponse { skill: Some(skill(&view)) })
    }

    /// Answers `DisableSkill`.
    pub async fn disable_skill(
        &self,
        caller: Caller,
        message: v1::DisableSkillRequest,
    ) -> Result<v1::DisableSkillResponse, ApiError> {
        let disabled = self.state.admin.skills.disable(caller, &message.name, agent(&message.agent)).await;
        let view = disabled?;
        Ok(v1::DisableSkillResponse { skill: Some(skill(&view)) })
    }

    /// Answers `RemoveSkill`.
    pub async fn remove_skill(
        &self,
        caller: Caller,
        message: v1::RemoveSkillRequest,
    ) -> Result<v1::RemoveSkillResponse, ApiError> {
        let removed = self.state.admin.skills.remove(caller, &message.name).await?;
        let (skill_id, name) = (removed.installed.skill.to_string(), removed.installed.name.into_exposed());
        Ok(v1::RemoveSkillResponse { skill_id, name })
    }

    /// Answers `VerifySkills`.
    pub async fn verify_skills(
        &self,
        caller: Caller,
        _message: v1::VerifySkillsRequest,
    ) -> Result<v1::VerifySkillsResponse, ApiError> {
        let found = self.state.admin.skills.verify(caller).await?;
        let skills = found
            .iter()
            .map(|(view, outcome)| v1::VerifiedSkill { skill: Some(skill(view)), whole: outcome.is_ok() });
        Ok(v1::VerifySkillsResponse { skills: skills.collect() })
    }
}
