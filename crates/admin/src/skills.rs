//! Skills, for callers: looking, installing, switching on and off, removing, comparing.
//!
//! Owns who may decide and in which order a change reaches disk, journal and memory. Nothing that runs on behalf of a
//! run has this handle. Invariant: what is switched on was compared with what was pinned in the same step. Begin at
//! [`SkillsHandle::install`].

use std::path::PathBuf;
use std::sync::Arc;

use palyra_policy::{UnknownTool, unknown_tools};
use palyra_types::agent::AgentRecord;
use palyra_types::skill::{ActivatedSkill, InstalledSkill, SkillEvent, SkillFault, SkillRecord};
use palyra_types::tool::ToolName;
use palyra_types::{AgentId, Content, SkillId};

use crate::agents::AgentRegistry;
use crate::caller::Caller;
use crate::error::AdminError;
use crate::identity::check_identity;
use crate::parts::AdminPorts;
use crate::skill_registry::{KnownSkill, SkillRegistry, append, copy_name, digest_of, pin, tools_left};
use crate::views::AdminViews;

pub use crate::skill_registry::{
    SKILL_TEXT_BYTES_MAX, SKILL_TEXTS_BYTES_MAX, SKILLS_INSTALLED_MAX, SKILLS_OF_AGENT_MAX, SkillError,
    fault_text,
};

/// Decides about skills on behalf of the owner.
#[derive(Clone)]
pub struct SkillsHandle {
    ports: Arc<AdminPorts>,
    skills: Arc<SkillRegistry>,
    agents: AgentRegistry,
}

/// A skill as people are shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillView {
    /// What the journal says.
    pub record: SkillRecord,
    /// Tools that it names and that do not exist.
    pub unknown_tools: Vec<UnknownTool>,
    /// Its words, where its copy is what was pinned.
    pub text: Option<String>,
    /// The names of the agents it is switched on for, with the tools that all their skills leave.
    pub agents: Vec<(String, Vec<ToolName>)>,
}

/// What an installation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillInstallation {
    /// The skill.
    pub skill: SkillView,
    /// The one of the same name that it replaced.
    pub replaced: Option<SkillId>,
    /// Whether it was there.
    pub novelty: SkillNovelty,
}

/// Whether something was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillNovelty {
    /// It is new.
    New,
    /// The same bytes were installed already; their copy was written again.
    Repaired,
}

impl SkillsHandle {
    /// Makes a handle that changes what `views` shows to runs.
    #[must_use]
    pub fn new(ports: Arc<AdminPorts>, views: &AdminViews) -> Self {
        let skills = Arc::clone(&views.skills);
        Self { ports, skills, agents: views.agents.clone() }
    }

    /// Lists the skills that are installed, by name.
    ///
    /// # Errors
    /// [`SkillError::NotAPerson`].
    pub fn list(&self, caller: Caller) -> Result<Vec<SkillView>, AdminError> {
        caller.check_owner(SkillError::NotAPerson)?;
        let mut installed = self.installed();
        installed.sort_by(|a, b| a.record.installed.name.expose().cmp(b.record.installed.name.expose()));
        Ok(installed.iter().map(|known| self.view(known)).collect())
    }

    /// Returns an installed skill by name or id.
    ///
    /// # Errors
    /// [`SkillError::NotAPerson`], [`SkillError::NotFound`].
    pub fn get(&self, caller: Caller, name: &str) -> Result<SkillView, AdminError> {
        caller.check_owner(SkillError::NotAPerson)?;
        Ok(self.view(&self.named(name)?))
    }

    /// Copies a folder and pins its bytes; nothing uses it until it is enabled. Another skill of its name is removed.
    ///
    /// # Errors
    /// [`AdminError::Skill`] says what is wrong with the folder; nothing was installed then.
    /// [`AdminError::Append`].
    pub async fn install(
        &self,
        caller: Caller,
        source: Content<PathBuf>,
    ) -> Result<SkillInstallation, AdminError> {
        caller.check_person(SkillError::NotAPerson)?;
        if !source.expose().is_absolute() {
            return Err(AdminError::InvalidArgument {
                what: "the folder has to be an absolute path".to_owned(),
            });
        }
        let ports = &self.ports;
        let _changing = self.skills.changing.lock().await;
        let files = ports.skills.read(source.clone()).await.map_err(SkillError::from)?;
        let pinned = pin(&files)?;
        let recorder = &ports.recorder;
        let by = caller.actor.principal;
        let name = check_identity(recorder, by, "the name of the skill", &pinned.manifest.name)?;
        for tool in pinned.manifest.allowed_tools.iter().flatten() {
            check_identity(recorder, by, "a tool that the skill allows", tool.as_str())?;
        }
        let there = self.installed();
        let same_name =
            there.iter().find(|known| *known.record.installed.name.expose() == pinned.manifest.name);
        if same_name.is_none() && there.len() >= SKILLS_INSTALLED_MAX {
            return Err(SkillError::TooManyInstalled.into());
        }
        let copy = copy_name(&pinned.sha256);
        ports.skills.keep(copy.clone(), files).await.map_err(SkillError::from)?;
        let kept = ports.skills.kept(copy).await.map_err(SkillError::from)?;
        if digest_of(&kept) != pinned.sha256 {
            return Err(SkillError::System { what: "the copy differs from what was read".to_owned() }.into());
        }
        if let Some(same) = same_name.filter(|known| known.record.installed.sha256 == pinned.sha256) {
            let skill = same.record.installed.skill;
            // The copy is whole again; only a person's yes lifts a quarantine.
            self.skills.check(skill).await?.map_err(|fault| SkillError::Changed { fault })?;
            return Ok(SkillInstallation {
                skill: self.view_of(skill)?,
                replaced: None,
                novelty: SkillNovelty::Repaired,
            });
        }
        let clean = |text: String| ports.redactor.redact(text.into()).text;
        let installed = InstalledSkill {
            skill: ports.entropy.new_id(ports.clock.wall()),
            sha256: pinned.sha256,
            files: pinned.files,
            bytes: pinned.bytes,
            name,
            description: clean(pinned.manifest.description),
            allowed_tools: pinned.manifest.allowed_tools.map(|tools| tools.into_iter().collect()),
            source: clean(source.expose().display().to_string()),
        };
        let replaced = same_name.map(|known| known.record.installed.skill);
        self.record_installed(caller, installed.clone(), replaced).await?;
        if let Some(old) = same_name {
            // What is left of it is removed at the next start.
            let _ = ports.skills.discard(copy_name(&old.record.installed.sha256)).await;
        }
        Ok(SkillInstallation { skill: self.view_of(installed.skill)?, replaced, novelty: SkillNovelty::New })
    }

    async fn record_installed(
        &self,
        caller: Caller,
        installed: InstalledSkill,
        replaced: Option<SkillId>,
    ) -> Result<(), AdminError> {
        let (ports, skills) = (&self.ports, &self.skills);
        let mut events: Vec<_> = replaced.map(|skill| SkillEvent::Removed { skill }).into_iter().collect();
        events.push(SkillEvent::Installed(installed.clone()));
        let behind = events.len() as u64 - 1;
        let first = append(ports, Some(caller.actor), events).await?;
        let created = ports.clock.wall();
        if let Some(old) = replaced {
            skills.change(old, |known| {
                (known.text, known.record.removed) = (None, Some(created));
                known.record.agents.clear();
            });
        }
        let (skill, seq) = (installed.skill, palyra_types::Seq(first.0 + behind));
        let (agents, by) = (Vec::new(), caller.actor.principal);
        let record = SkillRecord { installed, by, created, agents, quarantine: None, removed: None, seq };
        skills.insert(KnownSkill { record, text: None });
        skills.check(skill).await?.map_err(|fault| SkillError::Changed { fault })?;
        Ok(())
    }

    /// Switches a skill on for runs of an agent that begin from now on, and lifts its quarantine, if its copy is what was
    /// pinned.
    ///
    /// # Errors
    /// [`SkillError::Changed`] when it is not: it stays in quarantine. Whatever else [`SkillError`] names;
    /// [`AdminError::AgentNotFound`]; [`AdminError::Append`].
    pub async fn enable(
        &self,
        caller: Caller,
        name: &str,
        agent: Option<&str>,
    ) -> Result<SkillView, AdminError> {
        caller.check_person(SkillError::NotAPerson)?;
        let agent = self.agents.by_name(agent)?.id;
        let (ports, skills) = (&self.ports, &self.skills);
        let _changing = skills.changing.lock().await;
        let known = self.named(name)?;
        let skill = known.record.installed.skill;
        if known.record.installed.is_erased() {
            return Err(SkillError::Erased.into());
        }
        skills.check(skill).await?.map_err(|fault| SkillError::Changed { fault })?;
        let on = known.record.agents.contains(&agent);
        if on && known.record.quarantine.is_none() {
            return self.view_of(skill);
        }
        if !on {
            self.check_room(&known, agent)?;
        }
        append(ports, Some(caller.actor), vec![SkillEvent::Enabled { skill, agent }]).await?;
        skills.change(skill, |known| {
            known.record.quarantine = None;
            if let Err(place) = known.record.agents.binary_search(&agent) {
                known.record.agents.insert(place, agent);
            }
        });
        skills.check(skill).await?.map_err(|fault| SkillError::Changed { fault })?;
        self.view_of(skill)
    }

    /// Returns whether one more fits beside those of an agent.
    fn check_room(&self, more: &KnownSkill, agent: AgentId) -> Result<(), SkillError> {
        let enabled = self.skills.enabled_for(agent);
        if enabled.len() >= SKILLS_OF_AGENT_MAX {
            return Err(SkillError::TooManyEnabled);
        }
        let text = |known: &KnownSkill| known.text.as_ref().map_or(0, |text| text.len());
        let bytes = enabled.iter().map(text).sum::<usize>()
            + self.skills.get(more.record.installed.skill).as_ref().map_or(0, text);
        if bytes > SKILL_TEXTS_BYTES_MAX { Err(SkillError::TextsTooLong { bytes }) } else { Ok(()) }
    }

    /// Switches a skill off for runs of an agent that begin from now on. What is off stays so.
    ///
    /// # Errors
    /// [`SkillError::NotAPerson`], [`SkillError::NotFound`]; [`AdminError::AgentNotFound`];
    /// [`AdminError::Append`].
    pub async fn disable(
        &self,
        caller: Caller,
        name: &str,
        agent: Option<&str>,
    ) -> Result<SkillView, AdminError> {
        caller.check_person(SkillError::NotAPerson)?;
        let agent = self.agents.by_name(agent)?.id;
        let skills = &self.skills;
        let _changing = skills.changing.lock().await;
        let known = self.named(name)?;
        let skill = known.record.installed.skill;
        if known.record.agents.contains(&agent) {
            let event = SkillEvent::Disabled { skill, agent };
            append(&self.ports, Some(caller.actor), vec![event]).await?;
            skills.change(skill, |known| known.record.agents.retain(|enabled| *enabled != agent));
        }
        self.view_of(skill)
    }

    /// Removes a skill and its copy. Runs that began with it stay as narrow as it made them.
    ///
    /// # Errors
    /// [`SkillError::NotAPerson`], [`SkillError::NotFound`]; [`AdminError::Append`].
    pub async fn remove(&self, caller: Caller, name: &str) -> Result<SkillRecord, AdminError> {
        caller.check_person(SkillError::NotAPerson)?;
        let (ports, skills) = (&self.ports, &self.skills);
        let _changing = skills.changing.lock().await;
        let known = self.named(name)?;
        let installed = &known.record.installed;
        append(ports, Some(caller.actor), vec![SkillEvent::Removed { skill: installed.skill }]).await?;
        let removed = ports.clock.wall();
        skills.change(installed.skill, |known| {
            (known.text, known.record.removed) = (None, Some(removed));
            known.record.agents.clear();
        });
        // What is left of it is removed at the next start.
        let _ = ports.skills.discard(copy_name(&installed.sha256)).await;
        Ok(skills.get(installed.skill).map_or(known.record, |known| known.record))
    }

    /// Compares every copy with what was pinned; what differs is put into quarantine. Returns what was found now.
    ///
    /// # Errors
    /// [`SkillError::NotAPerson`]; [`SkillError::System`] when a copy could not be read this time.
    pub async fn verify(
        &self,
        caller: Caller,
    ) -> Result<Vec<(SkillView, Result<(), SkillFault>)>, AdminError> {
        caller.check_person(SkillError::NotAPerson)?;
        let _changing = self.skills.changing.lock().await;
        let mut found = Vec::new();
        for view in self.list(caller)? {
            let skill = view.record.installed.skill;
            let outcome = self.skills.check(skill).await?;
            found.push((self.view_of(skill)?, outcome));
        }
        Ok(found)
    }

    fn installed(&self) -> Vec<KnownSkill> {
        let mut all = self.skills.all();
        all.retain(|known| known.record.removed.is_none());
        all
    }

    fn named(&self, name: &str) -> Result<KnownSkill, SkillError> {
        let is_meant = |known: &KnownSkill| {
            let installed = &known.record.installed;
            (!installed.is_erased() && installed.name.expose() == name) || installed.skill.to_string() == name
        };
        self.installed().into_iter().find(is_meant).ok_or(SkillError::NotFound)
    }

    fn view_of(&self, skill: SkillId) -> Result<SkillView, AdminError> {
        let known = self.skills.get(skill).ok_or(SkillError::NotFound)?;
        Ok(self.view(&known))
    }

    fn view(&self, known: &KnownSkill) -> SkillView {
        let record = known.record.clone();
        let catalog = self.ports.tools.catalog();
        let named = record.installed.allowed_tools.iter().flatten();
        SkillView {
            unknown_tools: unknown_tools(named, &catalog),
            text: known.text.as_ref().map(|text| text.as_ref().to_owned()),
            agents: record.agents.iter().filter_map(|agent| self.left_of(*agent)).collect(),
            record,
        }
    }

    /// Returns an agent's name and the tools that its skills leave.
    fn left_of(&self, agent: AgentId) -> Option<(String, Vec<ToolName>)> {
        let AgentRecord { profile, .. } = self.agents.by_id(agent)?;
        let enabled = self.skills.enabled_for(agent);
        let activated: Vec<_> = enabled
            .iter()
            .map(|known| &known.record.installed)
            .map(|skill| ActivatedSkill { skill: skill.skill, sha256: skill.sha256 })
            .collect();
        let active = self.skills.active(&activated);
        let catalog = self.ports.tools.catalog();
        let left: Vec<_> =
            tools_left(&catalog, profile.tools.as_deref(), &active).map(|tool| tool.name.clone()).collect();
        Some((profile.name.into_exposed(), left))
    }
}
