//! A file of policies, and one policy as people refer to it. Owns what ships.

use cedar_policy::Policy;

use super::terms::PolicyAnnotations;

/// How long a file of policies may be, in bytes.
pub const POLICY_FILE_BYTES_MAX: usize = 1024 * 1024;

/// A file of policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// Its name, for people.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl PolicyFile {
    /// Makes a file.
    #[must_use]
    pub fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned() }
    }

    /// Returns the policies that ship.
    #[must_use]
    pub fn shipped() -> Vec<Self> {
        vec![
            Self::new("reads.cedar", include_str!("../../policies/reads.cedar")),
            Self::new("changes.cedar", include_str!("../../policies/changes.cedar")),
            Self::new("never.cedar", include_str!("../../policies/never.cedar")),
        ]
    }
}

/// One policy, as people refer to it.
#[derive(Debug, Clone)]
pub(crate) struct KnownPolicy {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) annotations: PolicyAnnotations,
    pub(crate) policy: Policy,
}
