//! From the files of a folder to what pins them and what they say.

use palyra_policy::{
    FileMode, SKILL_FILE_NAME, SkillFolderFile, SkillManifest, SkillText, check_folder, folder_text,
    read_skill,
};
use palyra_ports::{SkillFile, SkillFileMode};

use super::{SKILL_TEXT_BYTES_MAX, SkillError};

/// A folder that is a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PinnedSkill {
    pub(crate) sha256: [u8; 32],
    pub(crate) files: u32,
    pub(crate) bytes: u64,
    pub(crate) manifest: SkillManifest,
    /// What stands behind the front matter.
    pub(crate) text: String,
}

/// Reads a folder as a skill.
pub(crate) fn pin(files: &[SkillFile]) -> Result<PinnedSkill, SkillError> {
    check_folder(files.iter().map(|file| file.path.as_str()))?;
    let skill = files.iter().find(|file| file.path == SKILL_FILE_NAME).map_or(&[][..], |file| &file.bytes);
    if skill.len() > SKILL_TEXT_BYTES_MAX {
        return Err(SkillError::TextTooLong { bytes: skill.len() });
    }
    let SkillText { manifest, body } =
        read_skill(std::str::from_utf8(skill).map_err(|_| SkillError::NotText)?)?;
    Ok(PinnedSkill {
        sha256: digest_of(files),
        files: u32::try_from(files.len()).unwrap_or(u32::MAX),
        bytes: files.iter().map(|file| file.bytes.len() as u64).sum(),
        manifest,
        text: body.trim().to_owned(),
    })
}

/// Returns the digest that pins a folder of a skill.
#[must_use]
pub fn digest_of(files: &[SkillFile]) -> [u8; 32] {
    let pinned: Vec<_> = files
        .iter()
        .map(|file| SkillFolderFile {
            path: &file.path,
            mode: match file.mode {
                SkillFileMode::Plain => FileMode::Plain,
                SkillFileMode::Executable => FileMode::Executable,
            },
            bytes: file.bytes.len() as u64,
            sha256: palyra_ledger::sha256(&file.bytes),
        })
        .collect();
    palyra_ledger::sha256(folder_text(&pinned).as_bytes())
}

/// Returns the name under which a copy is kept.
pub(crate) fn copy_name(sha256: &[u8; 32]) -> String {
    sha256.iter().map(|byte| format!("{byte:02x}")).collect()
}
