//! Creating, changing and archiving agents.
//!
//! Invariant: the agents that ship keep their names and are never archived, and a workspace root is a real folder that may be
//! one at the time it is saved.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_types::agent::{AgentProfile, AgentRecord, DEFAULT_AGENT_NAME, TOOLLESS_AGENT_NAME};
use palyra_types::event::AgentEvent;
use palyra_types::model::ModelRef;
use palyra_types::recall::RecallSwitch;
use palyra_types::tool::ToolName;
use palyra_types::{AgentId, Content, Redacted};

use super::{AgentRegistry, is_live_named};
use crate::caller::Caller;
use crate::error::AdminError;
use crate::identity::check_identity;

/// Agents that are not archived, at most.
pub const AGENTS_MAX: usize = 1_000;
/// Characters of an agent's name, at most.
pub const AGENT_NAME_CHARS_MAX: usize = 64;
/// Bytes of an agent's instructions, at most.
pub const INSTRUCTIONS_BYTES_MAX: usize = 64 * 1024;
/// Workspace roots of an agent, at most.
pub const WORKSPACE_ROOTS_MAX: usize = 16;

/// What a person wants an agent to be; a field that is `None` stays as it is, or takes its default in a new agent.
#[derive(Debug, Clone, Default)]
pub struct AgentChange {
    /// Its name.
    pub name: Option<String>,
    /// Its instructions.
    pub instructions: Option<Content<String>>,
    /// The model it prefers; `Some(None)` takes the configured default.
    pub model: Option<Option<ModelRef>>,
    /// The tools it may use; `Some(None)` for all.
    pub tools: Option<Option<Vec<ToolName>>>,
    /// Where its runs work that come from another surface than the daemon's socket.
    pub workspace_roots: Option<Vec<PathBuf>>,
    /// Whether its runs are given items of memory unasked; `Some(None)` leaves it to the configuration.
    pub recall: Option<Option<RecallSwitch>>,
}

impl AgentRegistry {
    /// Makes an agent.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] for a name that is missing, taken or not one, and for what else cannot be used;
    /// [`AdminError::SecretInIdentity`]; [`AdminError::Append`].
    pub async fn create(&self, caller: Caller, change: AgentChange) -> Result<AgentRecord, AdminError> {
        let _saving = self.saving.lock().await;
        let agents = self.snapshot();
        if agents.iter().filter(|agent| agent.archived.is_none()).count() >= AGENTS_MAX {
            return refuse(format!(
                "there are {AGENTS_MAX} agents, the most there can be; archive one first"
            ));
        }
        let nameless = AgentProfile { name: "".into(), instructions: "".into(), ..AgentProfile::default() };
        let profile = self.changed(caller, nameless, change)?;
        if profile.name.expose().is_empty() {
            return refuse("an agent needs a name".to_owned());
        }
        let agent = self.ports.entropy.new_id(self.ports.clock.wall());
        self.save(caller, AgentRecord { id: agent, profile, archived: None }).await
    }

    /// Changes an agent; runs that begin from now on have it as it is then.
    ///
    /// # Errors
    /// [`AdminError::AgentNotFound`], also for an archived one; those of [`Self::create`].
    pub async fn update(
        &self,
        caller: Caller,
        id: AgentId,
        change: AgentChange,
    ) -> Result<AgentRecord, AdminError> {
        let _saving = self.saving.lock().await;
        let before = self.live(id)?;
        let name = before.profile.name.expose();
        if is_shipped(name) && change.name.as_ref().is_some_and(|new| new != name) {
            return refuse(format!("the agent `{name}` keeps its name"));
        }
        if name == TOOLLESS_AGENT_NAME
            && change.tools.as_ref().is_some_and(|tools| *tools != Some(Vec::new()))
        {
            return refuse(format!("the agent `{name}` has no tools; create another one that has"));
        }
        let profile = self.changed(caller, before.profile.clone(), change)?;
        if profile == before.profile {
            return Ok(before);
        }
        self.save(caller, AgentRecord { profile, ..before }).await
    }

    /// Archives an agent: its sessions go on, and no new one begins with it. Archiving twice is not an error.
    ///
    /// # Errors
    /// [`AdminError::AgentNotFound`]; [`AdminError::InvalidArgument`] for one that ships; [`AdminError::Append`].
    pub async fn archive(&self, caller: Caller, id: AgentId) -> Result<AgentRecord, AdminError> {
        let _saving = self.saving.lock().await;
        let before = self.by_id(id).ok_or(AdminError::AgentNotFound)?;
        if before.archived.is_some() {
            return Ok(before);
        }
        let name = before.profile.name.expose();
        if is_shipped(name) {
            return refuse(format!("the agent `{name}` is always there and cannot be archived"));
        }
        let event = AgentEvent::Archived { agent: id };
        let actor = caller.actor;
        let (_, time) = self.ports.recorder.record_act_now(actor, actor.principal, event).await?;
        let archived = AgentRecord { archived: Some(time), ..before };
        self.put(archived.clone());
        Ok(archived)
    }

    fn live(&self, id: AgentId) -> Result<AgentRecord, AdminError> {
        self.by_id(id).filter(|agent| agent.archived.is_none()).ok_or(AdminError::AgentNotFound)
    }

    async fn save(&self, caller: Caller, record: AgentRecord) -> Result<AgentRecord, AdminError> {
        let event = AgentEvent::Saved { agent: record.id, profile: record.profile.clone() };
        self.ports.recorder.record_act_now(caller.actor, caller.actor.principal, event).await?;
        self.put(record.clone());
        Ok(record)
    }

    fn put(&self, record: AgentRecord) {
        self.agents.send_modify(|agents| {
            let agents = Arc::make_mut(agents);
            agents.retain(|agent| agent.id != record.id);
            agents.push(record);
            agents.sort_by_key(|agent| agent.id);
        });
    }

    /// Returns a profile with a change in it that was checked.
    fn changed(
        &self,
        caller: Caller,
        mut profile: AgentProfile,
        change: AgentChange,
    ) -> Result<AgentProfile, AdminError> {
        let ports = &self.ports;
        let by = caller.actor.principal;
        if let Some(name) = change.name.filter(|name| name != profile.name.expose()) {
            check_name(&name)?;
            if self.snapshot().iter().any(|agent| is_live_named(agent, &name)) {
                return refuse(format!("there is an agent `{name}` already"));
            }
            profile.name = check_identity(&ports.recorder, by, "the name of the agent", &name)?;
        }
        if let Some(instructions) = change.instructions {
            let bytes = instructions.expose().len();
            if bytes > INSTRUCTIONS_BYTES_MAX {
                let most = INSTRUCTIONS_BYTES_MAX;
                return refuse(format!("the instructions have {bytes} bytes; at most {most} are taken"));
            }
            profile.instructions = ports.redactor.redact(instructions).text;
        }
        if let Some(model) = change.model {
            if let Some(model) = &model {
                check_identity(&ports.recorder, by, "the model of the agent", &model.to_string())?;
            }
            profile.model = model;
        }
        if let Some(tools) = change.tools {
            let catalog = ports.tools.catalog();
            for tool in tools.iter().flatten() {
                if catalog.get(tool).is_none() {
                    let what = format!("there is no tool `{tool}`; `palyra tools list` shows what there is");
                    return refuse(what);
                }
            }
            profile.tools = tools;
        }
        if let Some(roots) = change.workspace_roots {
            if roots.len() > WORKSPACE_ROOTS_MAX {
                return refuse(format!("an agent has at most {WORKSPACE_ROOTS_MAX} workspace roots"));
            }
            let checked = roots.iter().map(|root| self.checked_root(caller, root));
            profile.workspace_roots = checked.collect::<Result<_, _>>()?;
        }
        if let Some(recall) = change.recall {
            profile.recall = recall;
        }
        Ok(profile)
    }

    fn checked_root(&self, caller: Caller, root: &Path) -> Result<Redacted<PathBuf>, AdminError> {
        self.checked_path(caller, root.to_owned())?;
        let refused = |why: &str| AdminError::InvalidArgument {
            what: format!("`{}` cannot be a workspace root: {why}", root.display()),
        };
        if !root.is_absolute() {
            return Err(refused("it is not an absolute path"));
        }
        let real = self.ports.workspaces.real_folder(root).map_err(|why| refused(&why.to_string()))?;
        self.checked_path(caller, real)
    }

    fn checked_path(&self, caller: Caller, path: PathBuf) -> Result<Redacted<PathBuf>, AdminError> {
        let checked = self.ports.recorder.check(caller.actor.principal, Content::new(path));
        checked.map_err(|_| AdminError::SecretInIdentity { field: "the path of the workspace root" })
    }
}

fn is_shipped(name: &str) -> bool {
    [DEFAULT_AGENT_NAME, TOOLLESS_AGENT_NAME].contains(&name)
}

fn check_name(name: &str) -> Result<(), AdminError> {
    let fine = name.len() <= AGENT_NAME_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if fine {
        return Ok(());
    }
    refuse(format!(
        "an agent's name begins with a letter and has 1 to {AGENT_NAME_CHARS_MAX} of the characters a-z 0-9 -"
    ))
}

fn refuse<T>(what: String) -> Result<T, AdminError> {
    Err(AdminError::InvalidArgument { what })
}
