//! A tool's standing setting: always, ask, never.
//!
//! Owns which of several settings holds for a call, and the words that say so. Invariants: `disabled` wins wherever it
//! stands; of two settings of one place the one that leaves less holds; nothing here lifts a denial; what could not be
//! read disables everything, and a setting whose content was erased disables every tool where it held.

mod display;

use std::collections::BTreeMap;

use palyra_types::posture::{Posture, PostureRecord, PostureScope};
use palyra_types::session::SessionRef;
use palyra_types::tool::ToolName;
use palyra_types::{AgentId, PrincipalId, Seq, Timestamp};
use serde::{Deserialize, Serialize};

pub use display::posture_name;

/// Stands for every tool: what is left of a setting that was erased.
const EVERY_TOOL: &str = "";

/// All settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostureRegistry {
    /// As they were read, by tool.
    Known(BTreeMap<ToolName, Vec<PostureSetting>>),
    /// They could not be read, so nobody knows what is disabled.
    Unreadable,
}

impl Default for PostureRegistry {
    fn default() -> Self {
        Self::Known(BTreeMap::new())
    }
}

/// One setting of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostureSetting {
    /// Where it holds.
    pub scope: PostureScope,
    /// What is set.
    pub posture: Posture,
    /// Who set it.
    pub origin: PostureOrigin,
}

/// Who made a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostureOrigin {
    /// The configuration names it.
    Configuration,
    /// A person set it, by an entry of the journal.
    Person {
        /// The entry.
        entry: Seq,
        /// Who.
        by: PrincipalId,
        /// When.
        at: Timestamp,
    },
    /// A person set it, and its content was erased.
    Erased {
        /// The entry.
        entry: Seq,
    },
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

/// Where the setting that holds for a call comes from. Its members are in order of name, as those of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PostureFrom {
    /// When it was set, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<PrincipalId>,
    /// The entry of the journal; none for what the configuration says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<u64>,
    /// `global`, `agent`, `workspace` or `session`.
    place: String,
}

/// Where a call comes from, as far as settings care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosturePlace<'a> {
    /// The agent.
    pub agent: AgentId,
    /// The workspace's absolute path, where it is known.
    pub workspace: Option<&'a str>,
    /// The conversation.
    pub session: SessionRef,
}

impl PostureRegistry {
    /// Returns these settings and one more of the configuration, which holds everywhere.
    #[must_use]
    pub fn with(self, tool: &ToolName, posture: Posture) -> Self {
        let (scope, origin) = (PostureScope::Global, PostureOrigin::Configuration);
        self.and(tool.clone(), PostureSetting { scope, posture, origin })
    }

    /// Returns these settings and those that the journal has.
    #[must_use]
    pub fn with_stored(self, records: &[PostureRecord]) -> Self {
        records.iter().fold(self, |registry, record| match setting_of(record) {
            Some((tool, setting)) => registry.and(tool, setting),
            None => registry,
        })
    }

    fn and(self, tool: ToolName, setting: PostureSetting) -> Self {
        match self {
            Self::Known(mut settings) => {
                settings.entry(tool).or_default().push(setting);
                Self::Known(settings)
            }
            Self::Unreadable => Self::Unreadable,
        }
    }

    /// Returns what holds for calls of `tool` from `place`.
    #[must_use]
    pub fn standing(&self, tool: &ToolName, place: PosturePlace<'_>) -> StandingPosture {
        self.holds(tool, place).0
    }

    /// Returns what holds for calls of `tool` from `place`, and whose setting that is.
    pub(crate) fn holds(
        &self,
        tool: &ToolName,
        place: PosturePlace<'_>,
    ) -> (StandingPosture, Option<PostureFrom>) {
        let settings = match self {
            Self::Known(settings) => settings,
            Self::Unreadable => return (StandingPosture::Unreadable, None),
        };
        if settings.is_empty() {
            return (StandingPosture::Unset, None);
        }
        let of = |tool: &ToolName| settings.get(tool).into_iter().flatten();
        let of_all = of(tool).chain(of(&ToolName::new(EVERY_TOOL)));
        let holding = of_all.filter_map(|setting| Some((closeness(setting, place)?, setting)));
        // The most specific one; of those of one place, and against all others when it disables, what leaves less.
        let ranked = holding.max_by_key(|(closeness, setting)| {
            (setting.posture == Posture::Disabled, *closeness, setting.posture)
        });
        match ranked {
            Some((_, setting)) => (StandingPosture::Set(setting.posture), Some(PostureFrom::of(setting))),
            None => (StandingPosture::Unset, None),
        }
    }

    /// Returns the settings, in order of tool.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolName, &PostureSetting)> {
        let settings = match self {
            Self::Known(settings) => Some(settings),
            Self::Unreadable => None,
        };
        let settings = settings.into_iter().flatten();
        settings.flat_map(|(tool, settings)| settings.iter().map(move |setting| (tool, setting)))
    }

    /// Returns a canonical text of the settings, the same for equal ones. Those of the journal are named by their
    /// entries, where what they are about can be erased.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        if *self == Self::Unreadable {
            return "posture unreadable\n".to_owned();
        }
        let line = |(tool, setting): (&ToolName, &PostureSetting)| match setting.origin {
            PostureOrigin::Configuration => format!("posture {tool} {:?}\n", setting.posture),
            PostureOrigin::Person { entry, .. } => format!("posture entry {entry} {:?}\n", setting.posture),
            PostureOrigin::Erased { entry } => format!("posture entry {entry} erased\n"),
        };
        self.iter().map(line).collect()
    }
}

/// What a record sets, and for which tool. What was erased disables, unless it only widened; then it is void.
fn setting_of(record: &PostureRecord) -> Option<(ToolName, PostureSetting)> {
    let (change, entry) = (&record.change, record.seq);
    let scope = change.scope.clone();
    match change.posture? {
        Posture::AlwaysAllow if record.is_erased() => None,
        _ if record.is_erased() => {
            let origin = PostureOrigin::Erased { entry };
            let setting = PostureSetting { scope, posture: Posture::Disabled, origin };
            Some((ToolName::new(EVERY_TOOL), setting))
        }
        posture @ (Posture::Ask | Posture::AlwaysAllow | Posture::Disabled) => {
            let origin = PostureOrigin::Person { entry, by: change.by, at: record.set };
            Some((ToolName::new(change.tool.expose()), PostureSetting { scope, posture, origin }))
        }
    }
}

/// How closely a setting is about a place, as (kind of scope, bytes of its path); `None` where it does not hold.
fn closeness(setting: &PostureSetting, place: PosturePlace<'_>) -> Option<(u8, usize)> {
    match &setting.scope {
        PostureScope::Global => Some((0, 0)),
        PostureScope::Agent(agent) => (*agent == place.agent).then_some((1, 0)),
        PostureScope::Workspace(path) if matches!(setting.origin, PostureOrigin::Erased { .. }) => {
            Some((2, path.expose().len()))
        }
        PostureScope::Workspace(path) => {
            let (path, workspace) = (path.expose().as_str(), place.workspace?);
            let below = workspace.strip_prefix(path.trim_end_matches('/'));
            let below = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let holds = match setting.posture {
                // What widens is for this folder and no other.
                Posture::AlwaysAllow => workspace == path,
                Posture::Ask | Posture::Disabled => below,
            };
            holds.then_some((2, path.len()))
        }
        PostureScope::Session(session) => (*session == place.session).then_some((3, 0)),
    }
}

#[cfg(test)]
mod tests;
