//! What a schedule does: its times, rules, action and provenance, and whether an occurrence may still run.
//!
//! Owns the comparison of what was approved with what is there now. Begin at [`ScheduleDefinition::check_occurrence`].

use palyra_types::AgentId;
use palyra_types::digest::ContentDigest;
pub use palyra_types::schedule::{OccurrenceRefusal, ScheduleProvenance};

use crate::rules::ScheduleRules;
use crate::spec::ScheduleSpec;

/// What a person approved when the schedule was made or last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleDefinition {
    /// When it is due.
    pub spec: ScheduleSpec,
    /// What becomes of missed and overlapping occurrences.
    pub rules: ScheduleRules,
    /// What an occurrence does.
    pub action: ScheduleAction,
    /// Where the schedule comes from.
    pub provenance: ScheduleProvenance,
}

/// What an occurrence does. Texts are content and are stored beside; here are their digests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleAction {
    /// A text is delivered; no model is asked.
    Reminder {
        /// Digest of the text.
        text: ContentDigest,
    },
    /// A run starts.
    Run(ApprovedRun),
}

/// The parts of a run that were approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedRun {
    /// The agent.
    pub agent: AgentId,
    /// Digest of the agent's profile.
    pub agent_profile: ContentDigest,
    /// Digest of the prompt.
    pub prompt: ContentDigest,
    /// Digest of the place that answers go to.
    pub target: ContentDigest,
}

/// What is there now, read by the caller when an occurrence is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OccurrenceFacts {
    /// Whether the creator exists and may start runs.
    pub creator_allowed: bool,
    /// Digest of the agent's profile; `None` if the agent is gone.
    pub agent_profile: Option<ContentDigest>,
    /// Digest of the prompt or text; `None` if it was erased.
    pub text: Option<ContentDigest>,
    /// Digest of the target; `None` if it is gone.
    pub target: Option<ContentDigest>,
    /// Whether the policy of now allows the start.
    pub policy_allows: bool,
}

impl ScheduleDefinition {
    /// Compares what was approved with what is there now.
    ///
    /// # Errors
    /// [`OccurrenceRefusal`]: the occurrence is skipped with this reason.
    pub fn check_occurrence(&self, facts: &OccurrenceFacts) -> Result<(), OccurrenceRefusal> {
        if !facts.creator_allowed {
            return Err(OccurrenceRefusal::Creator);
        }
        match &self.action {
            ScheduleAction::Reminder { text } => {
                require(facts.text == Some(*text), OccurrenceRefusal::PromptChanged)?;
            }
            ScheduleAction::Run(run) => {
                require(facts.agent_profile.is_some(), OccurrenceRefusal::AgentGone)?;
                require(facts.agent_profile == Some(run.agent_profile), OccurrenceRefusal::AgentChanged)?;
                require(facts.text == Some(run.prompt), OccurrenceRefusal::PromptChanged)?;
                require(facts.target == Some(run.target), OccurrenceRefusal::TargetChanged)?;
            }
        }
        require(facts.policy_allows, OccurrenceRefusal::Policy)
    }
}

fn require(holds: bool, refusal: OccurrenceRefusal) -> Result<(), OccurrenceRefusal> {
    if holds { Ok(()) } else { Err(refusal) }
}

#[cfg(test)]
mod tests;
