//! Skills at work in a run, as far as tools care.

use std::collections::BTreeSet;

use palyra_types::tool::{ToolCatalog, ToolName};

use crate::suggest::near_tool;

/// Whether a skill may take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillStanding {
    /// Its bytes are those that were installed.
    Trusted,
    /// They changed since; nobody looked at them again.
    Quarantined,
}

/// Compares the digest that was pinned at installation with that of the bytes there are now.
#[must_use]
pub fn standing(pinned: &[u8; 32], found: &[u8; 32]) -> SkillStanding {
    if pinned == found { SkillStanding::Trusted } else { SkillStanding::Quarantined }
}

/// A skill that is at work in a run, as far as tools care.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveSkill {
    /// Its name.
    pub name: String,
    /// What it leaves; `None` leaves everything.
    pub allowed_tools: Option<BTreeSet<ToolName>>,
    /// Whether it may take part.
    pub standing: SkillStanding,
}

/// Returns the first of these skills that does not include `tool`. A quarantined skill includes nothing: what it once
/// allowed is no longer known to be what it allows.
#[must_use]
pub fn forbidding_skill<'s>(skills: &'s [ActiveSkill], tool: &ToolName) -> Option<&'s str> {
    let forbids = |skill: &&ActiveSkill| match skill.standing {
        SkillStanding::Quarantined => true,
        SkillStanding::Trusted => skill.allowed_tools.as_ref().is_some_and(|tools| !tools.contains(tool)),
    };
    skills.iter().find(forbids).map(|skill| skill.name.as_str())
}

/// A tool that a skill names and that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTool {
    /// As it is named.
    pub name: ToolName,
    /// What could have been meant.
    pub near: Option<ToolName>,
}

/// Returns those of the named tools that do not exist: naming them leaves nothing of them.
#[must_use]
pub fn unknown_tools<'t>(
    named: impl IntoIterator<Item = &'t ToolName>,
    catalog: &ToolCatalog,
) -> Vec<UnknownTool> {
    let unknown = named.into_iter().filter(|name| catalog.get(name).is_none());
    unknown
        .map(|name| UnknownTool { name: name.clone(), near: near_tool(name.as_str(), catalog).cloned() })
        .collect()
}
