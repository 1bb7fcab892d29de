//! `SkillsService`: what is installed, and what the owner decides about it.

use std::path::PathBuf;

use palyra_runtime::skills::{Installed, Novelty, SkillView, SkillsHandle};
use palyra_types::Redacted;
use palyra_types::skill::{SkillFault, SkillRecord};
use palyra_types::tool::ToolName;
use palyra_wire::v1;
use palyra_wire::v1::skills_service_server::SkillsService;
use tonic::{Request, Response, Status};

use crate::auth;
use crate::status::Refusal;
use crate::translate;

/// Answers `palyra.v1.SkillsService`.
pub(crate) struct SkillsServiceImpl {
    skills: SkillsHandle,
}

impl SkillsServiceImpl {
    pub(crate) fn new(skills: SkillsHandle) -> Self {
        Self { skills }
    }
}

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
        state: state(&view.record).to_owned(),
        agents: view
            .agents
            .iter()
            .map(|(agent, left)| v1::SkillAgent { agent: agent.clone(), tools_left: names(left) })
            .collect(),
        quarantined: quarantine.and_then(|quarantine| translate::timestamp(quarantine.since)),
        fault: quarantine.map_or("", |quarantine| fault(quarantine.fault)).to_owned(),
        found_sha256: found,
    }
}

fn names(tools: &[ToolName]) -> Vec<String> {
    tools.iter().map(ToString::to_string).collect()
}

fn state(record: &SkillRecord) -> &'static str {
    if record.quarantine.is_some() {
        "quarantined"
    } else if record.agents.is_empty() {
        "disabled"
    } else {
        "enabled"
    }
}

fn fault(fault: SkillFault) -> &'static str {
    match fault {
        SkillFault::Changed { .. } => "changed",
        SkillFault::Missing => "missing",
        SkillFault::Unreadable => "unreadable",
    }
}

#[tonic::async_trait]
impl SkillsService for SkillsServiceImpl {
    async fn list_skills(
        &self,
        request: Request<v1::ListSkillsRequest>,
    ) -> Result<Response<v1::ListSkillsResponse>, Status> {
        let (caller, _) = auth::open(request)?;
        let skills = self.skills.list(caller).map_err(Refusal::from)?;
        Ok(Response::new(v1::ListSkillsResponse { skills: skills.iter().map(skill).collect() }))
    }

    async fn get_skill(
        &self,
        request: Request<v1::GetSkillRequest>,
    ) -> Result<Response<v1::GetSkillResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let view = self.skills.get(caller, &message.name).map_err(Refusal::from)?;
        let text = view.text.clone().unwrap_or_default();
        Ok(Response::new(v1::GetSkillResponse { skill: Some(skill(&view)), text }))
    }

    async fn install_skill(
        &self,
        request: Request<v1::InstallSkillRequest>,
    ) -> Result<Response<v1::InstallSkillResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let source = Redacted::new(PathBuf::from(message.path));
        let installed = self.skills.install(caller, source).await.map_err(Refusal::from)?;
        let Installed { skill: view, replaced, novelty } = installed;
        Ok(Response::new(v1::InstallSkillResponse {
            skill: Some(skill(&view)),
            text: view.text.unwrap_or_default(),
            replaced: replaced.map(|skill| skill.to_string()).unwrap_or_default(),
            repaired: novelty == Novelty::Repaired,
        }))
    }

    async fn enable_skill(
        &self,
        request: Request<v1::EnableSkillRequest>,
    ) -> Result<Response<v1::EnableSkillResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let enabled = self.skills.enable(caller, &message.name, agent(&message.agent)).await;
        let view = enabled.map_err(Refusal::from)?;
        Ok(Response::new(v1::EnableSkillResponse { skill: Some(skill(&view)) }))
    }

    async fn disable_skill(
        &self,
        request: Request<v1::DisableSkillRequest>,
    ) -> Result<Response<v1::DisableSkillResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let disabled = self.skills.disable(caller, &message.name, agent(&message.agent)).await;
        let view = disabled.map_err(Refusal::from)?;
        Ok(Response::new(v1::DisableSkillResponse { skill: Some(skill(&view)) }))
    }

    async fn remove_skill(
        &self,
        request: Request<v1::RemoveSkillRequest>,
    ) -> Result<Response<v1::RemoveSkillResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let removed = self.skills.remove(caller, &message.name).await.map_err(Refusal::from)?;
        let (skill_id, name) = (removed.installed.skill.to_string(), removed.installed.name.into_exposed());
        Ok(Response::new(v1::RemoveSkillResponse { skill_id, name }))
    }

    async fn verify_skills(
        &self,
        request: Request<v1::VerifySkillsRequest>,
    ) -> Result<Response<v1::VerifySkillsResponse>, Status> {
        let (caller, _) = auth::open(request)?;
        let found = self.skills.verify(caller).await.map_err(Refusal::from)?;
        let skills = found
            .iter()
            .map(|(view, outcome)| v1::VerifiedSkill { skill: Some(skill(view)), whole: outcome.is_ok() });
        Ok(Response::new(v1::VerifySkillsResponse { skills: skills.collect() }))
    }
}
