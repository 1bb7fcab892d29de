//! Why a skill is not installed, switched or used.

use palyra_policy::{SkillFolderFault, SkillManifestError};
use palyra_ports::SkillFolderError;
use palyra_types::ErrorCode;
use palyra_types::skill::SkillFault;

use super::{SKILL_TEXT_BYTES_MAX, SKILL_TEXTS_BYTES_MAX, SKILLS_INSTALLED_MAX, SKILLS_OF_AGENT_MAX};

/// Why a skill is not installed, switched or used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    /// Only the person who owns this daemon decides about skills, and only at its own socket.
    #[error("only the owner of the daemon decides about skills, over its own Unix socket")]
    NotAPerson,
    /// No skill of this name or id is installed.
    #[error("no such skill is installed")]
    NotFound,
    /// The folder is not where the caller said.
    #[error("there is no such folder, or the daemon may not enter it")]
    NoFolder,
    /// Its SKILL.md cannot be read.
    #[error(transparent)]
    Manifest(#[from] SkillManifestError),
    /// Its folder holds what is not allowed.
    #[error(transparent)]
    Folder(#[from] SkillFolderFault),
    /// Something in its folder is no file, or too large.
    #[error("{what}")]
    Refused {
        /// What, and what to do about it.
        what: String,
    },
    /// Its SKILL.md is not text.
    #[error("SKILL.md is not UTF-8 text; save it as such")]
    NotText,
    /// Its SKILL.md is too long.
    #[error(
        "SKILL.md has {bytes} bytes, at most {SKILL_TEXT_BYTES_MAX} are shown to a model; move some to other files"
    )]
    TextTooLong {
        /// Its size.
        bytes: usize,
    },
    /// Too many skills are installed.
    #[error("{SKILLS_INSTALLED_MAX} skills are installed already; remove one")]
    TooManyInstalled,
    /// Too many skills are switched on for one agent.
    #[error("{SKILLS_OF_AGENT_MAX} skills are enabled for this agent already; disable one")]
    TooManyEnabled,
    /// The texts of an agent's skills are too long together.
    #[error(
        "the skills of this agent would have {bytes} bytes of text, at most {SKILL_TEXTS_BYTES_MAX}; disable one"
    )]
    TextsTooLong {
        /// Their size.
        bytes: usize,
    },
    /// Its content was erased: nobody knows what it said.
    #[error("the content of this skill was erased; install its folder again")]
    Erased,
    /// Its copy is not what was installed.
    #[error("the installed copy {}; install its folder again, look at it, then enable it", fault_text(*.fault))]
    Changed {
        /// What was found.
        fault: SkillFault,
    },
    /// Its copy could not be read or written this time.
    #[error("the skill's folder could not be used: {what}")]
    System {
        /// What the system says.
        what: String,
    },
}

impl SkillError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotAPerson => ErrorCode::PermissionDenied,
            Self::NotFound => ErrorCode::SkillNotFound,
            Self::NoFolder
            | Self::Manifest(_)
            | Self::Folder(_)
            | Self::Refused { .. }
            | Self::NotText
            | Self::TextTooLong { .. } => ErrorCode::SkillInvalid,
            Self::TooManyInstalled | Self::TooManyEnabled | Self::TextsTooLong { .. } => {
                ErrorCode::SkillLimit
            }
            Self::Erased | Self::Changed { .. } => ErrorCode::SkillChanged,
            Self::System { .. } => ErrorCode::SkillUnreadable,
        }
    }
}

impl From<SkillFolderError> for SkillError {
    fn from(error: SkillFolderError) -> Self {
        match error {
            SkillFolderError::Missing => Self::NoFolder,
            SkillFolderError::Refused { what } => Self::Refused { what },
            SkillFolderError::System { what } => Self::System { what },
        }
    }
}

/// Returns what is wrong with a copy, in words that follow it.
#[must_use]
pub fn fault_text(fault: SkillFault) -> &'static str {
    match fault {
        SkillFault::Changed { .. } => "is not what was installed",
        SkillFault::Missing => "is gone",
        SkillFault::Unreadable => "cannot be read whole",
    }
}
