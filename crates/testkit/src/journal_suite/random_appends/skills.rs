//! Events about skills. What is installed has an id of its own; what follows names a recent one, or none at all.

use palyra_types::skill::{ActivatedSkill, InstalledSkill, SkillEvent, SkillFault};
use palyra_types::tool::ToolName;
use palyra_types::{AgentId, SkillId};

use super::RandomAppends;

impl RandomAppends {
    pub(super) fn skill_event(&mut self) -> SkillEvent {
        let agent = AgentId::from_parts(1, self.below(4).into());
        match self.below(6) {
            0 | 1 => SkillEvent::Installed(InstalledSkill {
                skill: SkillId::from_parts(8, self.made.into()),
                sha256: self.digest(),
                files: self.number(),
                bytes: self.below(9),
                name: self.text(),
                description: self.text(),
                allowed_tools: self
                    .maybe(|me| (0..me.below(3)).map(|_| ToolName::new("read_file")).collect()),
                source: self.text(),
            }),
            2 => SkillEvent::Enabled { skill: self.skill(), agent },
            3 => SkillEvent::Disabled { skill: self.skill(), agent },
            4 => SkillEvent::Quarantined { skill: self.skill(), fault: self.skill_fault() },
            _ => SkillEvent::Removed { skill: self.skill() },
        }
    }

    pub(super) fn activated(&mut self) -> ActivatedSkill {
        ActivatedSkill { skill: self.skill(), sha256: self.digest() }
    }

    fn skill(&mut self) -> SkillId {
        SkillId::from_parts(8, self.made.saturating_sub(self.below(40)).into())
    }

    fn skill_fault(&mut self) -> SkillFault {
        match self.below(3) {
            0 => SkillFault::Changed { found: self.digest() },
            1 => SkillFault::Missing,
            _ => SkillFault::Unreadable,
        }
    }
}
