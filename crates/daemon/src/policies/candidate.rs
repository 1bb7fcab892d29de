//! Policies that are tried out beside those in force: read from a folder of their own, behind the shipped ones.
//!
//! Invariant: whatever is wrong with them is told and keeps nothing else from happening; a set with a mistake is not
//! compared at all, so that nobody takes an older one for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_admin::health::{CheckLevel, HealthCheck};
use palyra_policy::{CandidatePolicies, PolicyFile, ToolCallPolicySnapshot};

use super::{LoadPoliciesError, PolicySource, own, read_folder};
use crate::config::Config;

const CHECK_NAME: &str = "policy_shadow";

/// What a configuration wants to have in force, and beside it.
pub(crate) struct LoadedPolicies {
    /// What calls are judged by, with what is asked beside it.
    pub(crate) snapshot: Arc<ToolCallPolicySnapshot>,
    /// What is told of the policies that are tried out; none where none are wanted.
    pub(crate) check: Option<HealthCheck>,
}

impl PolicySource {
    /// Puts the policies that are to be tried out beside a snapshot.
    pub(super) fn beside(&self, snapshot: ToolCallPolicySnapshot, config: &Config) -> LoadedPolicies {
        let folder = match config.policy_shadow_dir() {
            "" => return LoadedPolicies { snapshot: Arc::new(snapshot), check: None },
            named => PathBuf::from(named),
        };
        match self.candidate(&folder) {
            Ok(candidate) => {
                let digest: String = candidate.digest().iter().take(6).map(|b| format!("{b:02x}")).collect();
                let count = candidate.policies().len();
                let found =
                    format!("{count} policies are tried out from {}, digest {digest}", folder.display());
                let check = HealthCheck { name: CHECK_NAME, level: CheckLevel::Ok, found, mend: "" };
                let snapshot = Arc::new(snapshot.beside(Some(Arc::new(candidate))));
                LoadedPolicies { snapshot, check: Some(check) }
            }
            Err(error) => {
                tracing::warn!(code = %error.code(), "the policies in policy.shadow_dir are not tried out: {error}");
                let found = format!("nothing is tried out, [{}] {error}", error.code());
                let mend =
                    "correct it until `palyra policy check DIR` passes, then run `palyra config reload`";
                let check = HealthCheck { name: CHECK_NAME, level: CheckLevel::Warning, found, mend };
                LoadedPolicies { snapshot: Arc::new(snapshot), check: Some(check) }
            }
        }
    }

    /// Reads and compiles the policies of a folder behind the shipped ones.
    fn candidate(&self, folder: &Path) -> Result<CandidatePolicies, LoadPoliciesError> {
        let own = read_folder(folder)?;
        if own.is_empty() {
            let what = "there is no file *.cedar".to_owned();
            return Err(LoadPoliciesError::Unreadable { folder: folder.to_owned(), what });
        }
        let files: Vec<PolicyFile> = self.shipped.files.iter().cloned().chain(own).collect();
        let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
        CandidatePolicies::compile(&files, &self.tools.catalog(), digest).map_err(|mistakes| {
            LoadPoliciesError::Invalid { mistakes: mistakes.0.iter().map(ToString::to_string).collect() }
        })
    }
}

/// Adds the folder of policies that are tried out to what belongs to the daemon.
pub(super) fn add_own(paths: &mut Vec<String>, config: &Config) {
    let named = Some(config.policy_shadow_dir()).filter(|named| !named.is_empty());
    own::add(paths, named.map(PathBuf::from));
}
