//! The bunch of keys to what people decide outside of runs.

use crate::access::AccessHandle;
use crate::components::ComponentsHandle;
use crate::erasure::ErasureHandle;
use crate::grants::GrantsHandle;
use crate::memories::MemoriesHandle;
use crate::project_rules::ProjectRulesHandle;
use crate::rules::PolicyHandle;
use crate::skills::SkillsHandle;
use crate::usage::UsageHandle;
use crate::vault::VaultHandle;

/// Everything that transports may touch of it, and nothing more. A handler takes the one handle it needs.
#[derive(Clone)]
pub struct AdminHandles {
    /// Principals and tokens.
    pub access: AccessHandle,
    /// Secrets.
    pub vault: VaultHandle,
    /// Skills.
    pub skills: SkillsHandle,
    /// Components.
    pub components: ComponentsHandle,
    /// The rules and settings by which calls are judged.
    pub policy: PolicyHandle,
    /// Stored grants.
    pub grants: GrantsHandle,
    /// What people accepted of what projects say.
    pub project_rules: ProjectRulesHandle,
    /// Erasing content.
    pub erasures: ErasureHandle,
    /// Usage of models.
    pub usage: UsageHandle,
    /// What is remembered for a principal.
    pub memories: MemoriesHandle,
}
