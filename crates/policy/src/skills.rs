//! Skills: what a SKILL.md says about itself, what pins its folder, and what it leaves of the tools.
//!
//! Knows no disk and no hash: bytes and digests are handed in. Invariant: a skill only ever narrows; one that cannot
//! be trusted takes part in nothing. Begin at [`read_skill`].

mod manifest;

mod folder;

mod active;

pub use active::{ActiveSkill, SkillStanding, UnknownTool, forbidding_skill, standing, unknown_tools};
pub use folder::{
    FileMode, SKILL_FILE_NAME, SKILL_PATH_BYTES_MAX, SKILL_PATH_DEPTH_MAX, SkillFolderFault, SkillFolderFile,
    check_folder, folder_text,
};
pub use manifest::{
    ALLOWED_TOOLS_MAX, FRONT_MATTER_BYTES_MAX, SkillManifest, SkillManifestError, SkillText, read_skill,
};

#[cfg(test)]
mod tests;
