//! A tool's standing setting: always, ask, never.
//!
//! Owns which of several settings holds. Invariants: `disabled` wins wherever it stands; nothing here lifts a denial;
//! a registry that could not be read disables everything.

use std::collections::BTreeMap;

use palyra_types::tool::ToolName;
use palyra_types::{AgentId, SessionId};
use serde::{Deserialize, Serialize};

/// How calls of a tool are treated beside what policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Posture {
    /// What policy would ask about runs at once, unless its risk is critical or its rule wants more than one plain yes.
    AlwaysAllow,
    /// What policy would let run unattended is asked about.
    Ask,
    /// Denied.
    Disabled,
}

/// Where a setting holds; later ones are more specific.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PostureScope {
    /// Everywhere.
    Global,
    /// For one agent.
    Agent(AgentId),
    /// In one workspace, by its absolute path.
    Workspace(String),
    /// In one conversation.
    Session(SessionId),
}

/// All settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostureRegistry {
    /// As they were read.
    Known(BTreeMap<(ToolName, PostureScope), Posture>),
    /// They could not be read, so nobody knows what is disabled.
    Unreadable,
}

impl Default for PostureRegistry {
    fn default() -> Self {
        Self::Known(BTreeMap::new())
    }
}

/// What the settings say about one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandingPosture {
    /// Nothing is set.
    #[default]
    Unset,
    /// This is set.
    Set(Posture),
    /// They could not be read.
    Unreadable,
}

/// Where a call comes from, as far as settings care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosturePlace<'a> {
    /// The agent.
    pub agent: AgentId,
    /// The workspace's absolute path, where it is known.
    pub workspace: Option<&'a str>,
    /// The conversation.
    pub session: SessionId,
}

impl PostureRegistry {
    /// Returns these settings and one more.
    #[must_use]
    pub fn with(self, tool: &ToolName, scope: PostureScope, posture: Posture) -> Self {
        match self {
            Self::Known(mut settings) => {
                settings.insert((tool.clone(), scope), posture);
                Self::Known(settings)
            }
            Self::Unreadable => Self::Unreadable,
        }
    }

    /// Returns what holds for calls of `tool` from `place`.
    #[must_use]
    pub fn standing(&self, tool: &ToolName, place: PosturePlace<'_>) -> StandingPosture {
        let settings = match self {
            Self::Known(settings) => settings,
            Self::Unreadable => return StandingPosture::Unreadable,
        };
        if settings.is_empty() {
            return StandingPosture::Unset;
        }
        let workspace = place.workspace.map(|path| PostureScope::Workspace(path.to_owned()));
        let scopes = [
            Some(PostureScope::Session(place.session)),
            workspace,
            Some(PostureScope::Agent(place.agent)),
            Some(PostureScope::Global),
        ];
        let set: Vec<Posture> = scopes
            .into_iter()
            .flatten()
            .filter_map(|scope| settings.get(&(tool.clone(), scope)).copied())
            .collect();
        if set.contains(&Posture::Disabled) {
            return StandingPosture::Set(Posture::Disabled);
        }
        set.first().map_or(StandingPosture::Unset, |posture| StandingPosture::Set(*posture))
    }

    /// Returns a canonical text of the settings, the same for equal ones.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        match self {
            Self::Known(settings) => settings
                .iter()
                .map(|((tool, scope), posture)| format!("posture {tool} {scope:?} {posture:?}\n"))
                .collect(),
            Self::Unreadable => "posture unreadable\n".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: u64 = 1;
    const SESSION: u64 = 2;

    fn check(settings: &[(PostureScope, Posture)], expect: StandingPosture) {
        let tool = ToolName::new("read_file");
        let registry = settings.iter().fold(PostureRegistry::default(), |registry, (scope, posture)| {
            registry.with(&tool, scope.clone(), *posture)
        });
        let place = PosturePlace {
            agent: AgentId::from_parts(AGENT, 1),
            workspace: Some("/work"),
            session: SessionId::from_parts(SESSION, 1),
        };
        assert_eq!(registry.standing(&tool, place), expect, "{settings:?}");
        assert_eq!(registry.standing(&ToolName::new("other"), place), StandingPosture::Unset);
    }

    #[test]
    fn the_most_specific_wins_and_disabled_always() {
        use Posture::{AlwaysAllow, Ask, Disabled};
        let global = PostureScope::Global;
        let agent = PostureScope::Agent(AgentId::from_parts(AGENT, 1));
        let workspace = PostureScope::Workspace("/work".to_owned());
        let session = PostureScope::Session(SessionId::from_parts(SESSION, 1));
        let elsewhere = PostureScope::Workspace("/other".to_owned());
        let set = StandingPosture::Set;
        check(&[], StandingPosture::Unset);
        check(&[(elsewhere, Disabled)], StandingPosture::Unset);
        check(&[(global.clone(), Ask)], set(Ask));
        check(&[(global.clone(), Ask), (agent.clone(), AlwaysAllow)], set(AlwaysAllow));
        check(&[(agent.clone(), AlwaysAllow), (workspace.clone(), Ask)], set(Ask));
        check(&[(workspace, Ask), (session.clone(), AlwaysAllow)], set(AlwaysAllow));
        check(&[(global, Disabled), (session.clone(), AlwaysAllow)], set(Disabled));
        check(&[(agent, AlwaysAllow), (session, Disabled)], set(Disabled));
    }

    #[test]
    fn what_cannot_be_read_stays_so() {
        let registry =
            PostureRegistry::Unreadable.with(&ToolName::new("a"), PostureScope::Global, Posture::AlwaysAllow);
        let place = PosturePlace { agent: AgentId::NIL, workspace: None, session: SessionId::NIL };
        assert_eq!(registry.standing(&ToolName::new("a"), place), StandingPosture::Unreadable);
    }
}
