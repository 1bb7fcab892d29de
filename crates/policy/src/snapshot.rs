//! What calls are judged against: a catalogue, its compiled schemas, policies, postures, and a digest of it all.
//!
//! Invariant: immutable, and the digest covers everything that can change a verdict.

use std::collections::BTreeMap;
use std::sync::Arc;

use palyra_types::posture::PostureRecord;
use palyra_types::tool::{ToolCatalog, ToolName, ToolSpec};

use crate::policies::{PolicyFile, PolicyMistakes, PolicySet};
use crate::posture::PostureRegistry;
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
    schemas: Arc<BTreeMap<ToolName, ArgumentsSchema>>,
    rules: ToolPolicyRules,
    policies: Arc<PolicySet>,
    candidate: Option<Arc<CandidatePolicies>>,
    /// Its own text first, then the one that it refers to, if any.
    texts: Vec<SnapshotText>,
}

/// A text and the digest that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotText {
    /// The digest.
    pub digest: [u8; 32],
    /// The text.
    pub text: Arc<str>,
}

/// Policies that are asked beside those in force, and change nothing.
#[derive(Debug)]
pub struct CandidatePolicies {
    policies: PolicySet,
    digest: [u8; 32],
}

impl CandidatePolicies {
    /// Compiles them for the tools that there are; `digest_of` hashes the text that names them.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn compile(
        files: &[PolicyFile],
        catalog: &ToolCatalog,
        digest_of: impl FnOnce(&str) -> [u8; 32],
    ) -> Result<Self, PolicyMistakes> {
        let policies = PolicySet::compile(files, catalog)?;
        let digest = digest_of(&files_text("palyra candidate policies 1\n", files));
        Ok(Self { policies, digest })
    }

    /// Returns the policies, ready to be asked.
    #[must_use]
    pub fn policies(&self) -> &PolicySet {
        &self.policies
    }

    /// Returns the digest of their files.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }
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
        let policies = Arc::new(PolicySet::compile(&rules.files, &catalog)?);
        let text: Arc<str> = canonical_text(&catalog, &rules).into();
        let texts = vec![SnapshotText { digest: digest_of(&text), text }];
        Ok(Self { catalog, schemas: Arc::new(schemas), rules, policies, candidate: None, texts })
    }

    /// Returns this snapshot with policies that are asked beside it; no verdict depends on them.
    #[must_use]
    pub fn beside(self, candidate: Option<Arc<CandidatePolicies>>) -> Self {
        Self { candidate, ..self }
    }

    /// Returns this snapshot with the settings that the journal has, under a digest that covers them; `None` says that
    /// they cannot be read, which disables everything.
    #[must_use]
    pub fn with_stored_postures(
        &self,
        records: Option<&[PostureRecord]>,
        digest_of: impl FnOnce(&str) -> [u8; 32],
    ) -> Self {
        let beside = |registry: PostureRegistry| match records {
            Some(records) => registry.with_stored(records),
            None => PostureRegistry::Unreadable,
        };
        let (stored, postures) = (beside(PostureRegistry::default()), beside(self.rules.postures.clone()));
        let rules = ToolPolicyRules { postures, ..self.rules.clone() };
        let mut texts = self.texts.clone();
        if records.is_none_or(|records| !records.is_empty()) {
            let base: String = self.digest().iter().map(|byte| format!("{byte:02x}")).collect();
            let text: Arc<str> = format!("{HEADING}beside {base}\n{}", stored.canonical_text()).into();
            texts.insert(0, SnapshotText { digest: digest_of(&text), text });
        }
        Self {
            catalog: Arc::clone(&self.catalog),
            schemas: Arc::clone(&self.schemas),
            rules,
            policies: Arc::clone(&self.policies),
            candidate: self.candidate.clone(),
            texts,
        }
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

    /// Returns the policies that are asked beside those in force.
    #[must_use]
    pub fn candidate(&self) -> Option<&Arc<CandidatePolicies>> {
        self.candidate.as_ref()
    }

    /// Returns the text whose digest names this snapshot, the same for equal catalogues and rules.
    #[must_use]
    pub fn canonical_text(&self) -> &str {
        self.texts.first().map_or("", |text| &text.text)
    }

    /// Returns the text whose digest names this snapshot; then the text that
    /// it refers to, where it is only what was added to another snapshot.
    #[must_use]
    pub fn texts(&self) -> &[SnapshotText] {
        &self.texts
    }

    /// Returns the digest that names it.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.texts.first().map(|text| text.digest).unwrap_or_default()
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

/// What the texts of snapshots begin with.
const HEADING: &str = "palyra tool policy 2\n";

fn files_text(heading: &str, files: &[PolicyFile]) -> String {
    let mut text = heading.to_owned();
    for file in files {
        // With its length in front, no file can pose as the beginning of the next.
        text.push_str(&format!("file {:?} {}\n{}\n", file.name, file.text.len(), file.text));
    }
    text
}

fn canonical_text(catalog: &ToolCatalog, rules: &ToolPolicyRules) -> String {
    let mut text = files_text(HEADING, &rules.files);
    text.push_str(&rules.postures.canonical_text());
    for path in &rules.own_paths {
        text.push_str(&format!("own {path:?}\n"));
    }
    text.push_str(&catalog.canonical_text());
    text
}
