//! What the policies that are tried out would have decided, for callers.

use palyra_policy::{CandidatePolicies, PolicyDiff};
use palyra_types::shadow::{ShadowCounts, ShadowExample};
use palyra_types::tool::ToolName;
use palyra_types::{Redacted, Timestamp};

use crate::error::AdminError;
use crate::rules::{PolicyHandle, RecordedDecision};
use crate::shadow::by_policy;

/// What was counted of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowReport {
    /// Whether it is still compared.
    pub comparing: bool,
    /// The counts.
    pub counts: ShadowCounts,
    /// The examples, with what their decisions say.
    pub examples: Vec<ShadowedDecision>,
}

/// A decision that a candidate would have made otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowedDecision {
    /// Which, and how.
    pub example: ShadowExample,
    /// When it was made; `None` when it is not there any more.
    pub time: Option<Timestamp>,
    /// The tool; empty where it is not known any more.
    pub tool: Redacted<String>,
    /// The candidate's policies that decide, where it is still compared.
    pub policies: Vec<String>,
}

impl PolicyHandle {
    /// Returns what was counted of the candidate that is compared, or else of the one that was compared last.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn shadow(&self) -> Result<Option<ShadowReport>, AdminError> {
        let candidate = self.snapshot().candidate().cloned();
        let Some(counts) = self.shadow.counts(candidate.clone()).await else { return Ok(None) };
        let mut examples = Vec::new();
        for example in &counts.examples {
            let found = self.decision(example.run, example.effect).await?;
            examples.push(shadowed(*example, found.as_ref(), candidate.as_deref()));
        }
        Ok(Some(ShadowReport { comparing: candidate.is_some(), counts, examples }))
    }
}

fn shadowed(
    example: ShadowExample,
    found: Option<&RecordedDecision>,
    candidate: Option<&CandidatePolicies>,
) -> ShadowedDecision {
    let recorded = found.and_then(|found| by_policy(&found.decided));
    let tool = recorded.and_then(|recorded| palyra_policy::PolicyRequest::from_json(recorded.request).ok());
    let again = recorded
        .zip(candidate)
        .and_then(|(recorded, candidate)| PolicyDiff::new(candidate.policies()).take(recorded));
    ShadowedDecision {
        example,
        time: found.map(|found| found.time),
        tool: tool.map(|request| (&ToolName::new(request.tool())).into()).unwrap_or_default(),
        policies: again.map(|change| change.policies).unwrap_or_default(),
    }
}
