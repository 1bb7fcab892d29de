//! Standing settings of tools, for callers: looking at them, making and taking them back.
//!
//! Owns that a change is in the journal before it holds, and that what cannot be read again disables everything. Only a
//! transport calls this: no run, tool or model has a way here. Begin at [`PolicyHandle::set_posture`].

use std::path::{Component, Path};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_journal_core::families::{postures, sessions};
use palyra_journal_core::family::QueryFamilies;
use palyra_policy::{PostureOrigin, PostureRegistry};
use palyra_ports::{AppendClass, NewEntry, ReadError};
use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::posture::{POSTURES_MAX, Posture, PostureChanged, PostureRecord, PostureScope};
use palyra_types::session::SessionRef;
use palyra_types::tool::ToolName;
use palyra_types::{PrincipalId, Seq, SessionId};

use crate::caller::Caller;
use crate::erasure_subscriber::ErasureSubscriber;
use crate::error::AdminError;
use crate::identity::check_identity;
use crate::rules::PolicyHandle;

/// Bytes of a workspace's path, at most.
const WORKSPACE_BYTES_MAX: usize = 4_095;

/// Where a setting is wished for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostureWhere {
    /// Everywhere.
    Global,
    /// For the agent of this name.
    Agent(String),
    /// In this workspace and, for what narrows, below it: an absolute path.
    Workspace(String),
    /// In this conversation.
    Session {
        /// Whose; the caller's where nobody is named.
        principal: Option<PrincipalId>,
        /// Its id.
        session: SessionId,
    },
}

/// Which setting to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostureToClear {
    /// That of a tool in a place.
    Of(ToolName, PostureWhere),
    /// That of an entry, such as one whose content was erased.
    Entry(Seq),
}

/// All settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingPostures {
    /// Those of the configuration.
    pub configured: Vec<(ToolName, Posture)>,
    /// Those of the journal, oldest first; `None` when they cannot be read, so that everything is disabled.
    pub stored: Option<Arc<[PostureRecord]>>,
}

impl ErasureSubscriber for PolicyHandle {
    fn forget_erased(&self) -> BoxFuture<'_, ()> {
        async {
            if let Err(error) = self.load_postures().await {
                tracing::error!(
                    "every call is denied: settings could not be read again after an erasure: {error}"
                );
            }
        }
        .boxed()
    }
}

impl PolicyHandle {
    /// Reads the settings of the journal and puts them in force; those that cannot be read disable everything.
    async fn load_postures(&self) -> Result<Arc<[PostureRecord]>, ReadError> {
        let read = self.ports.families.query(postures::records).await.map(Arc::<[PostureRecord]>::from);
        self.policy.set_postures(read.as_ref().ok().cloned());
        read
    }

    /// Returns all settings.
    #[must_use]
    pub fn postures(&self) -> StandingPostures {
        let snapshot = self.snapshot();
        let postures: &PostureRegistry = &snapshot.rules().postures;
        let configured =
            postures.iter().filter(|(_, setting)| setting.origin == PostureOrigin::Configuration);
        StandingPostures {
            configured: configured.map(|(tool, setting)| (tool.clone(), setting.posture)).collect(),
            stored: self.policy.postures(),
        }
    }

    /// Sets how calls of a tool are treated in a place; the next call is judged by it. Returns the entry's record.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] for a tool that does not exist, a path that is not absolute, or one setting too
    /// many; [`AdminError::AgentNotFound`], [`AdminError::SessionNotFound`]; [`AdminError::Append`].
    pub async fn set_posture(
        &self,
        caller: Caller,
        tool: ToolName,
        place: PostureWhere,
        posture: Posture,
    ) -> Result<PostureRecord, AdminError> {
        if self.snapshot().catalog().get(&tool).is_none() {
            return Err(invalid(format!("there is no tool `{tool}`; `palyra tools list` lists them")));
        }
        let scope = self.scope(caller, place).await?;
        let _one_at_a_time = self.policy.changing.lock().await;
        let standing = self.load_postures().await?;
        let replaced = of(&standing, &tool, &scope);
        if replaced.is_none() && standing.len() >= POSTURES_MAX {
            return Err(invalid(format!("{POSTURES_MAX} settings hold already; take one back first")));
        }
        if let Some(record) = replaced
            && record.change.posture == Some(posture)
        {
            return Ok(record.clone());
        }
        let change = PostureChanged {
            replaces: replaced.map(|record| record.seq),
            scope,
            posture: Some(posture),
            by: caller.actor.principal,
            via: caller.actor.surface,
            tool: (&tool).into(),
        };
        let record = self.append(caller, change).await?;
        self.load_postures().await?;
        Ok(record)
    }

    /// Takes a setting back. Returns what held.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] when there is none; as [`PolicyHandle::set_posture`].
    pub async fn clear_posture(
        &self,
        caller: Caller,
        wanted: PostureToClear,
    ) -> Result<PostureRecord, AdminError> {
        let of_place = match wanted {
            PostureToClear::Of(tool, place) => Ok((tool, self.scope(caller, place).await?)),
            PostureToClear::Entry(seq) => Err(seq),
        };
        let _one_at_a_time = self.policy.changing.lock().await;
        let standing = self.load_postures().await?;
        let held = match &of_place {
            Ok((tool, scope)) => of(&standing, tool, scope),
            Err(seq) => standing.iter().find(|record| record.seq == *seq),
        };
        let none = || {
            invalid(format!(
                "nothing is set there; {}",
                where_else(&standing, of_place.as_ref().ok().map(|(tool, _)| tool))
            ))
        };
        let held = held.ok_or_else(none)?.clone();
        let change = PostureChanged {
            replaces: Some(held.seq),
            posture: None,
            by: caller.actor.principal,
            via: caller.actor.surface,
            ..held.change.clone()
        };
        self.append(caller, change).await?;
        self.load_postures().await?;
        Ok(held)
    }

    /// Appends a change. After an outcome that nobody knows, what is there is read again.
    async fn append(&self, caller: Caller, change: PostureChanged) -> Result<PostureRecord, AdminError> {
        let set = self.ports.clock.wall();
        let entry = NewEntry {
            time: set,
            principal: change.by,
            session: None,
            run: None,
            event: JournalEvent::Policy(PolicyEvent::PostureChanged(change.clone())),
        };
        let recorder = &self.ports.recorder;
        match recorder.record_act(caller.actor, vec![entry], AppendClass::Ending, Vec::new()).await {
            Ok(committed) => Ok(PostureRecord { seq: committed.first_seq, set, change }),
            Err(error) => {
                self.load_postures().await?;
                Err(error.into())
            }
        }
    }

    async fn scope(&self, caller: Caller, place: PostureWhere) -> Result<PostureScope, AdminError> {
        match place {
            PostureWhere::Global => Ok(PostureScope::Global),
            PostureWhere::Agent(name) => {
                let agent = self.agents.by_name(Some(&name))?;
                Ok(PostureScope::Agent(agent.id))
            }
            PostureWhere::Workspace(path) => {
                if !is_plain_absolute(&path) {
                    let what = "a workspace is named by its absolute path, without `.` and `..`, of at most 4,095 \
                                bytes";
                    return Err(invalid(what.to_owned()));
                }
                let recorder = &self.ports.recorder;
                let path =
                    check_identity(recorder, caller.actor.principal, "the path of the workspace", &path)?;
                Ok(PostureScope::Workspace(path))
            }
            PostureWhere::Session { principal, session } => {
                let of = SessionRef { principal: principal.unwrap_or(caller.actor.principal), id: session };
                let found = self.ports.families.query(move |rows, _| sessions::record(rows, of)).await?;
                found.map(|_| PostureScope::Session(of)).ok_or(AdminError::SessionNotFound)
            }
        }
    }
}

fn of<'s>(standing: &'s [PostureRecord], tool: &ToolName, scope: &PostureScope) -> Option<&'s PostureRecord> {
    let is = |record: &&PostureRecord| {
        record.change.scope == *scope && record.change.tool.expose() == tool.as_str()
    };
    standing.iter().find(is)
}

/// Says how to find or take back what is set elsewhere; `tool` is the tool that was asked about.
fn where_else(standing: &[PostureRecord], tool: Option<&ToolName>) -> String {
    let of_tool =
        |record: &&PostureRecord| tool.is_some_and(|tool| record.change.tool.expose() == tool.as_str());
    match standing.iter().find(of_tool) {
        Some(record) => format!(
            "another place has a setting of it: `palyra policy posture clear --entry {}` takes that back, `palyra policy posture \
             list` shows all",
            record.seq
        ),
        None => "`palyra policy posture list` shows what is; settings of the configuration are changed in palyra.toml"
            .to_owned(),
    }
}

fn is_plain_absolute(path: &str) -> bool {
    let plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    let rebuilt: std::path::PathBuf = Path::new(path).components().collect();
    path.starts_with('/')
        && path.len() <= WORKSPACE_BYTES_MAX
        && Path::new(path).components().all(plain)
        && rebuilt.to_str() == Some(path)
}

fn invalid(what: String) -> AdminError {
    AdminError::InvalidArgument { what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_has_one_spelling() {
        for (path, plain) in [
            ("/", true),
            ("/a/b", true),
            ("", false),
            ("a", false),
            ("/a/", false),
            ("/a//b", false),
            ("/a/./b", false),
            ("/a/../b", false),
        ] {
            assert_eq!(is_plain_absolute(path), plain, "{path}");
        }
        assert!(!is_plain_absolute(&format!("/{}", "a".repeat(WORKSPACE_BYTES_MAX))));
    }
}
