//! The operator's policies: read from a folder, put behind the shipped ones, compiled as a whole.
//!
//! Owns where they lie and what is told when they are not valid. What a policy says, and every mistake in one, is the
//! policy crate's. Invariant: a set that cannot be read or has a mistake never comes into force, and a daemon that has
//! no other denies everything. Begin at [`PolicySource::load`].

use std::io::Read;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_admin::health::{CheckLevel, HealthCheck};
use palyra_policy::{
    CompilePolicyError, POLICY_FILE_BYTES_MAX, PolicyFile, ToolCallPolicySnapshot, ToolPolicyRules,
};
use palyra_ports::ToolRuntime;
use palyra_types::ErrorCode;
use palyra_types::posture::Posture;
use palyra_types::tool::ToolName;

use crate::config::Config;
use crate::trusted_place;

mod candidate;
pub(crate) mod own;

pub(crate) use candidate::LoadedPolicies;

/// The folder of policies below the configuration's.
pub(crate) const POLICIES_FOLDER: &str = "policies";
/// Files of policies, at most.
const POLICY_FILES_MAX: usize = 256;
/// How the name of a file of policies ends.
const POLICY_FILE_ENDING: &str = "cedar";

/// Where policies come from.
#[derive(Clone)]
pub(crate) struct PolicySource {
    /// What ships, and what belongs to the daemon itself.
    pub(crate) shipped: ToolPolicyRules,
    /// Whoever has the tools there are.
    pub(crate) tools: Arc<dyn ToolRuntime>,
    /// The folder beside the configuration file; `None` where there is no place for one.
    pub(crate) folder: Option<PathBuf>,
}

/// Why policies do not come into force.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LoadPoliciesError {
    /// The folder or a file cannot be read.
    #[error("the policies in {} cannot be read: {what}", .folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// What went wrong.
        what: String,
    },
    /// They have mistakes.
    #[error("the policies are refused: {}", .mistakes.join("; "))]
    Invalid {
        /// Each with its place and its mend.
        mistakes: Vec<String>,
    },
}

impl LoadPoliciesError {
    /// Returns the stable code.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Unreadable { .. } => ErrorCode::PolicyUnreadable,
            Self::Invalid { .. } => ErrorCode::PolicyInvalid,
        }
    }

    /// Returns what is wrong, line by line.
    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            Self::Unreadable { .. } => vec![self.to_string()],
            Self::Invalid { mistakes } => mistakes.clone(),
        }
    }
}

impl PolicySource {
    /// Reads and compiles what a configuration wants.
    pub(crate) fn load(&self, config: &Config) -> Result<LoadedPolicies, LoadPoliciesError> {
        let mut rules = self.shipped.clone();
        candidate::add_own(&mut rules.own_paths, config);
        if let Some(folder) = self.folder_of(config) {
            if !config.policy_dir().is_empty() && !folder.is_dir() {
                let what = "`policy.dir` names it, and it is not a folder".to_owned();
                return Err(LoadPoliciesError::Unreadable { folder, what });
            }
            let files = read_folder(&folder)?;
            let places = files.iter().map(|file| folder.join(&file.name));
            own::add(&mut rules.own_paths, iter::once(folder.clone()).chain(places));
            rules.files.extend(files);
        }
        let mut unknown = Vec::new();
        let catalog = self.tools.catalog();
        for (key, posture) in POSTURES {
            for name in config.posture_tools(key) {
                let tool = ToolName::new(name);
                if catalog.get(&tool).is_none() {
                    unknown.push(format!(
                        "`{key}` names `{name}`, which is not a tool; `palyra tools list` lists them"
                    ));
                }
                rules.postures = rules.postures.with(&tool, posture);
            }
        }
        if !unknown.is_empty() {
            return Err(LoadPoliciesError::Invalid { mistakes: unknown });
        }
        Ok(self.beside(self.compile(rules)?, config))
    }

    /// Returns what holds when nothing else does: every call is denied.
    pub(crate) fn closed(&self) -> Result<LoadedPolicies, LoadPoliciesError> {
        let snapshot = self.compile(ToolPolicyRules { files: Vec::new(), ..self.shipped.clone() })?;
        Ok(LoadedPolicies { snapshot: Arc::new(snapshot), check: None })
    }

    fn compile(&self, rules: ToolPolicyRules) -> Result<ToolCallPolicySnapshot, LoadPoliciesError> {
        let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
        let files = rules.files.clone();
        let compiled = ToolCallPolicySnapshot::compile(self.tools.catalog(), rules, digest);
        let compiled = compiled.map_err(|error| LoadPoliciesError::Invalid {
            mistakes: match error {
                CompilePolicyError::Policies(mistakes) => {
                    mistakes.0.iter().map(ToString::to_string).collect()
                }
                error @ (CompilePolicyError::Name { .. } | CompilePolicyError::Schema { .. }) => {
                    vec![error.to_string()]
                }
            },
        })?;
        let wrong = compiled.policies().wrong_words(&files);
        if wrong.is_empty() {
            return Ok(compiled);
        }
        Err(LoadPoliciesError::Invalid { mistakes: wrong.iter().map(ToString::to_string).collect() })
    }

    /// Says whether the folder that the configuration names is there. One beside the configuration need not be.
    pub(crate) fn folder_check(&self, config: &Config) -> HealthCheck {
        let name = "policy_dir";
        match (config.policy_dir(), self.folder_of(config)) {
            ("", _) | (_, None) => {
                let found = "the usual folder, beside the configuration".to_owned();
                HealthCheck { name, level: CheckLevel::Ok, found, mend: "" }
            }
            (_, Some(folder)) if folder.is_dir() => {
                HealthCheck { name, level: CheckLevel::Ok, found: folder.display().to_string(), mend: "" }
            }
            (_, Some(folder)) => HealthCheck {
                name,
                level: CheckLevel::Error,
                found: format!(
                    "policy.dir names {}, which is not a folder: none of its policies applies",
                    folder.display()
                ),
                mend: "make the folder or correct policy.dir, then `palyra config reload`",
            },
        }
    }

    fn folder_of(&self, config: &Config) -> Option<PathBuf> {
        match config.policy_dir() {
            "" => self.folder.clone(),
            named => Some(PathBuf::from(named)),
        }
    }
}

/// The settings that name tools, in the order in which they are heard: the last one wins.
const POSTURES: [(&str, Posture); 3] = [
    ("policy.always_allow", Posture::AlwaysAllow),
    ("policy.ask", Posture::Ask),
    ("policy.disabled", Posture::Disabled),
];

/// Reads every file of policies, in order of name; a folder that does not exist has none.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<PolicyFile>, LoadPoliciesError> {
    let unreadable = |what: String| LoadPoliciesError::Unreadable { folder: folder.to_owned(), what };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    trusted_place::check(folder).map_err(|error| unreadable(error.to_string()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(error.to_string()))?.path();
        if path.extension().is_some_and(|ending| ending == POLICY_FILE_ENDING) {
            names.push(path);
        }
        if names.len() > POLICY_FILES_MAX {
            return Err(unreadable(format!("it has more than {POLICY_FILES_MAX} files")));
        }
    }
    names.sort();
    let unreadable_file = |path: &Path, what: String| unreadable(format!("{}: {what}", path.display()));
    names.iter().map(|path| read_file(path).map_err(|what| unreadable_file(path, what))).collect()
}

fn read_file(path: &Path) -> Result<PolicyFile, String> {
    trusted_place::check(path).map_err(|error| error.to_string())?;
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("its name is not text")?;
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let limit = POLICY_FILE_BYTES_MAX as u64 + 1;
    file.take(limit).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() > POLICY_FILE_BYTES_MAX {
        return Err(format!("it has more than {POLICY_FILE_BYTES_MAX} bytes"));
    }
    Ok(PolicyFile::new(name, &text))
}

const CHECK_NAME: &str = "policy";

/// Says which policies are in force.
pub(crate) fn in_force_check(policy: &ToolCallPolicySnapshot) -> HealthCheck {
    let digest: String = policy.digest().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let found = format!(
        "{} policies in {} files, digest {digest}",
        policy.policies().len(),
        policy.rules().files.len()
    );
    HealthCheck { name: CHECK_NAME, level: CheckLevel::Ok, found, mend: "" }
}

/// Returns why every call is denied, where that is so.
pub(crate) fn denial_of_all(checks: &[HealthCheck]) -> Option<&str> {
    let check = checks.iter().find(|check| check.name == CHECK_NAME && check.level == CheckLevel::Error)?;
    Some(&check.found)
}

/// Says that a daemon began without policies, and denies everything.
pub(crate) fn closed_check(error: &LoadPoliciesError) -> HealthCheck {
    HealthCheck {
        name: CHECK_NAME,
        level: CheckLevel::Error,
        found: format!("every tool call is denied until this is mended: [{}] {error}", error.code()),
        mend: "correct it until `palyra policy check` passes, then run `palyra config reload`",
    }
}

#[cfg(test)]
mod tests;
