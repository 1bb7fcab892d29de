//! What another set of policies would have decided about recorded decisions.
//!
//! Owns the comparison and its counts, for whoever has decisions: a journal that is read, or calls as they are decided.
//! Reads no journal itself. Invariant: the other set is asked the recorded words, so whatever differs is due to the
//! policies alone.

use palyra_types::approval::ApproverPresence;
use palyra_types::tool::{DecisionReason, ToolVerdict};

use crate::policies::PolicySet;
use crate::request::PolicyRequest;
use crate::rules::Reevaluation;

/// A decision as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedDecision<'r> {
    /// What was decided.
    pub verdict: ToolVerdict,
    /// Why.
    pub reason: DecisionReason,
    /// What policy was asked, word for word; empty where it was not.
    pub request: &'r str,
}

/// A decision that the other set makes otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedDecision {
    /// The tool.
    pub tool: String,
    /// What policy said of it when it was made.
    pub was: ToolVerdict,
    /// What the other set says.
    pub would_be: ToolVerdict,
    /// The policies of the other set that decide.
    pub policies: Vec<String>,
}

/// How many decisions were compared, and how they came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecisionCounts {
    /// Decisions compared.
    pub judged: u64,
    /// Of those, the same.
    pub same: u64,
    /// Newly allowed.
    pub newly_allowed: u64,
    /// Newly asked.
    pub newly_asked: u64,
    /// Newly denied.
    pub newly_denied: u64,
    /// Not compared: their content was erased, or no policy was asked about them.
    pub skipped: u64,
}

/// A comparison of recorded decisions with what one set of policies says.
#[derive(Debug)]
pub struct PolicyDiff<'p> {
    again: Reevaluation<'p>,
    counts: DecisionCounts,
}

impl<'p> PolicyDiff<'p> {
    /// Begins with nothing compared.
    #[must_use]
    pub fn new(policies: &'p PolicySet) -> Self {
        Self { again: Reevaluation::new(policies), counts: DecisionCounts::default() }
    }

    /// Compares one decision and counts it; returns the difference, if there is one.
    pub fn take(&mut self, decision: RecordedDecision<'_>) -> Option<ChangedDecision> {
        let Ok(request) = PolicyRequest::from_json(decision.request) else {
            self.counts.skipped += 1;
            return None;
        };
        let again = self.again.judge(&request);
        self.counts.judged += 1;
        let was = policy_verdict(decision, &request);
        if again.verdict == was {
            self.counts.same += 1;
            return None;
        }
        match again.verdict {
            ToolVerdict::Allow => self.counts.newly_allowed += 1,
            ToolVerdict::Ask => self.counts.newly_asked += 1,
            ToolVerdict::Deny => self.counts.newly_denied += 1,
        }
        let tool = request.tool().to_owned();
        Some(ChangedDecision { tool, was, would_be: again.verdict, policies: again.policies })
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> DecisionCounts {
        self.counts
    }
}

/// What policy said. A call that it wanted to ask about is denied where too many questions wait already; with somebody
/// there to answer, policy itself never gives that reason.
fn policy_verdict(decision: RecordedDecision<'_>, request: &PolicyRequest) -> ToolVerdict {
    let bounded = decision.reason == DecisionReason::NoApprovalChannel
        && request.approvers() == ApproverPresence::Inbox;
    if bounded { ToolVerdict::Ask } else { decision.verdict }
}
