//! Skills: what was installed, for which agents it is switched on, and whether it is still what it was.
//!
//! Owns the values; what a skill leaves of the tools is policy's. Invariant: an id names one installation, whose
//! bytes and whose words never change.

use crate::content_walk::ContentClass::{Identity, Prose};
use crate::content_walk::content_rows;
use crate::tool::ToolName;
use crate::{AgentId, PrincipalId, Redacted, Seq, SkillId, Timestamp};

/// What becomes of an installed skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillEvent {
    /// Its folder was copied and its bytes are pinned; nothing uses it yet.
    Installed(InstalledSkill),
    /// A person switched it on for the runs of an agent, and lifted a quarantine with that.
    Enabled {
        /// The skill.
        skill: SkillId,
        /// The agent.
        agent: AgentId,
    },
    /// A person switched it off for the runs of an agent.
    Disabled {
        /// The skill.
        skill: SkillId,
        /// The agent.
        agent: AgentId,
    },
    /// Its copy is not what was pinned; no run uses it until a person enables it again.
    Quarantined {
        /// The skill.
        skill: SkillId,
        /// What was found.
        fault: SkillFault,
    },
    /// It was removed, or another one of its name took its place.
    Removed {
        /// The skill.
        skill: SkillId,
    },
}

impl SkillEvent {
    /// Returns which skill it is about.
    #[must_use]
    pub fn skill(&self) -> SkillId {
        match self {
            Self::Installed(installed) => installed.skill,
            Self::Enabled { skill, .. }
            | Self::Disabled { skill, .. }
            | Self::Quarantined { skill, .. }
            | Self::Removed { skill } => *skill,
        }
    }
}

/// A skill as it was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledSkill {
    /// Its id.
    pub skill: SkillId,
    /// SHA-256 of the canonical text of its folder.
    pub sha256: [u8; 32],
    /// Files in it.
    pub files: u32,
    /// Their bytes together.
    pub bytes: u64,
    /// Its name; empty once its content was erased.
    pub name: Redacted<String>,
    /// What it is for.
    pub description: Redacted<String>,
    /// The tools that it leaves; `None` when it says nothing of them.
    pub allowed_tools: Option<Vec<ToolName>>,
    /// The folder it was copied from.
    pub source: Redacted<String>,
}

impl InstalledSkill {
    /// Returns whether its content was erased: nobody knows any more what it left of the tools.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.name.expose().is_empty()
    }
}

/// Why a copy is not what was pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkillFault {
    /// It has other bytes, names or modes.
    Changed {
        /// SHA-256 of the canonical text of what is there.
        found: [u8; 32],
    },
    /// It is not there.
    Missing,
    /// It cannot be read whole: a link, a special file, too much, or an error of the disk.
    Unreadable,
}

/// A skill at work in a run, as its first entry names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ActivatedSkill {
    /// The skill.
    pub skill: SkillId,
    /// The digest it was pinned with.
    pub sha256: [u8; 32],
}

/// A skill as the journal knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRecord {
    /// As it was installed.
    pub installed: InstalledSkill,
    /// Who installed it.
    pub by: PrincipalId,
    /// When.
    pub created: Timestamp,
    /// The agents it is switched on for, in order of id.
    pub agents: Vec<AgentId>,
    /// Whether it may take part.
    pub quarantine: Option<SkillQuarantine>,
    /// When it was removed.
    pub removed: Option<Timestamp>,
    /// The entry that installed it.
    pub seq: Seq,
}

/// Since when a skill takes no part, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillQuarantine {
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub fault: SkillFault,
}

content_rows! {
    fn skill_event(walk, event: SkillEvent) {
        match event {
            SkillEvent::Installed(installed) => {
                let InstalledSkill {
                    skill: _, sha256: _, files: _, bytes: _, name, description, allowed_tools, source,
                } = installed;
                walk.text(Identity, "name", name);
                walk.text(Prose, "description", description);
                walk.maybe(allowed_tools, |walk, tools| {
                    walk.each(tools, |walk, tool| walk.text(Identity, "allowed_tools", tool));
                });
                walk.text(Prose, "source", source);
            }
            SkillEvent::Enabled { skill: _, agent: _ }
            | SkillEvent::Disabled { skill: _, agent: _ }
            | SkillEvent::Quarantined { skill: _, fault: _ }
            | SkillEvent::Removed { skill: _ } => {}
        }
    }
}
