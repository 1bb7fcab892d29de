//! What calls are judged against: a catalogue, its compiled schemas, policies, postures, and a digest of it all.
//!
//! Invariant: immutable, and the digest covers everything that can change a verdict.

use std::collections::BTreeMap;
use std::sync::Arc;

use palyra_types::tool::{ToolCatalog, ToolName, ToolSpec};

use crate::policies::{PolicyMistakes, PolicySet};
use crate::rules::ToolPolicyRules;
use crate::schema::ArgumentsSchema;

const TOOL_NAME_BYTES_MAX: usize = 64;

/// Why a catalogue cannot be judged by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompilePolicyError {
    /// A name is not `[a-z][a-z0-9_]*` of at most 64 characters.
    #[error("`{tool}` is not a tool name: `[a-z][a-z0-9_]*`, at most 64 characters")]
    Name {
        /// The name.
        tool: ToolName,
    },
    /// A schema is not a JSON Schema, or refers to something outside itself.
    #[error("the argument schema of `{tool}` does not compile: {reason}")]
    Schema {
        /// The tool.
        tool: ToolName,
        /// What the compiler says.
        reason: String,
    },
    /// The policies have mistakes.
    #[error(transparent)]
    Policies(#[from] PolicyMistakes),
}

/// One immutable state of policy; every decision carries its digest.
#[derive(Debug)]
pub struct ToolCallPolicySnapshot {
    catalog: Arc<ToolCatalog>,
    schemas: BTreeMap<ToolName, ArgumentsSchema>,
    rules: ToolPolicyRules,
    policies: PolicySet,
    canonical_text: String,
    digest: [u8; 32],
}

impl ToolCallPolicySnapshot {
    /// Compiles every schema and every policy once; `digest_of` hashes the canonical text (this crate knows no hash).
    ///
    /// # Errors
    /// A tool whose name or schema is not valid, or a mistake in a file of policies, spoils the whole snapshot: half a
    /// policy is none.
    pub fn compile(
        catalog: Arc<ToolCatalog>,
        rules: ToolPolicyRules,
        digest_of: impl FnOnce(&str) -> [u8; 32],
    ) -> Result<Self, CompilePolicyError> {
        let mut schemas = BTreeMap::new();
        for tool in catalog.iter() {
            if !is_tool_name(tool.name.as_str()) {
                return Err(CompilePolicyError::Name { tool: tool.name.clone() });
            }
            let schema = ArgumentsSchema::compile(&tool.schema)
                .map_err(|reason| CompilePolicyError::Schema { tool: tool.name.clone(), reason })?;
            schemas.insert(tool.name.clone(), schema);
        }
        let policies = PolicySet::compile(&rules.files, &catalog)?;
        let canonical_text = canonical_text(&catalog, &rules);
        let digest = digest_of(&canonical_text);
        Ok(Self { catalog, schemas, rules, policies, canonical_text, digest })
    }

    /// Returns the tools that calls may name.
    #[must_use]
    pub fn catalog(&self) -> &Arc<ToolCatalog> {
        &self.catalog
    }

    /// Returns the policies, ready to be asked.
    #[must_use]
    pub fn policies(&self) -> &PolicySet {
        &self.policies
    }

    /// Returns what it was made of.
    #[must_use]
    pub fn rules(&self) -> &ToolPolicyRules {
        &self.rules
    }

    /// Returns the text whose digest names this snapshot, the same for equal catalogues and rules.
    #[must_use]
    pub fn canonical_text(&self) -> &str {
        &self.canonical_text
    }

    /// Returns the digest of the canonical text.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Returns a tool and its schema by exact name.
    pub(crate) fn tool(&self, name: &ToolName) -> Option<(&ToolSpec, &ArgumentsSchema)> {
        Some((self.catalog.get(name)?, self.schemas.get(name)?))
    }
}

fn is_tool_name(name: &str) -> bool {
    name.len() <= TOOL_NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn canonical_text(catalog: &ToolCatalog, rules: &ToolPolicyRules) -> String {
    let mut text = String::from("palyra tool policy 2\n");
    for file in &rules.files {
        // With its length in front, no file can pose as the beginning of the next.
        text.push_str(&format!("file {:?} {}\n{}\n", file.name, file.text.len(), file.text));
    }
    text.push_str(&rules.postures.canonical_text());
    for path in &rules.own_paths {
        text.push_str(&format!("own {path:?}\n"));
    }
    text.push_str(&catalog.canonical_text());
    text
}
