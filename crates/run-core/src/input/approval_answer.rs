//! A person's answer to an approval, one type per stage: as it was said, prepared, judged.
//!
//! Invariant: a stage has all that the stages before it found out, and nothing that a later one fills in. Begin at
//! [`AnswerStage`].

use palyra_types::approval::{ApprovalDecision, StoredGrantRequest};
use palyra_types::event::ContentDigest;
use palyra_types::run::Surface;
use palyra_types::tool::ToolDecision;
use palyra_types::{ApprovalId, PrincipalId, Redacted};

use super::{PrepareRefusal, PreparedEffect};

/// A person's answer to an approval, as it was said and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalAnswer {
    /// Which approval.
    pub approval: ApprovalId,
    /// Who answers.
    pub by: PrincipalId,
    /// Where the answer came from.
    pub via: Surface,
    /// The answer.
    pub decision: ApprovalDecision,
    /// What they say with it.
    pub note: Redacted<String>,
    /// The arguments that shall run instead, with the keyed digest of the call.
    pub edited: Option<(Redacted<String>, ContentDigest)>,
    /// What shall be remembered beyond the call.
    pub remember: Option<StoredGrantRequest>,
    /// The id of the approval, should it have to be asked for again.
    pub fresh: ApprovalId,
}

/// An answer for which the tool of the call was asked again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedAnswer {
    /// The answer.
    pub answer: ApprovalAnswer,
    /// What the call would do now.
    pub prepared: Result<PreparedEffect, PrepareRefusal>,
}

/// An answer for which policy was asked again: a yes counts only so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedAnswer {
    /// The answer.
    pub answer: ApprovalAnswer,
    /// What the call would do now; `None` for a call that is not prepared.
    pub prepared: Option<Result<PreparedEffect, PrepareRefusal>>,
    /// What policy says now to what would run.
    pub judged: ToolDecision,
}

/// How far an answer is on its way into a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerStage {
    /// All that a denial needs, and a yes that comes too late.
    Said(Box<ApprovalAnswer>),
    /// What would run is known.
    Prepared(Box<PreparedAnswer>),
    /// What would run may run, or may not.
    Judged(Box<JudgedAnswer>),
}

impl AnswerStage {
    /// Returns what was said.
    #[must_use]
    pub fn answer(&self) -> &ApprovalAnswer {
        match self {
            Self::Said(answer) => answer,
            Self::Prepared(prepared) => &prepared.answer,
            Self::Judged(judged) => &judged.answer,
        }
    }

    /// Returns what was said, to change it.
    pub fn answer_mut(&mut self) -> &mut ApprovalAnswer {
        match self {
            Self::Said(answer) => answer,
            Self::Prepared(prepared) => &mut prepared.answer,
            Self::Judged(judged) => &mut judged.answer,
        }
    }

    /// Returns what the call would do, where its tool was asked.
    #[must_use]
    pub fn prepared(&self) -> Option<&Result<PreparedEffect, PrepareRefusal>> {
        match self {
            Self::Said(_) => None,
            Self::Prepared(answer) => Some(&answer.prepared),
            Self::Judged(answer) => answer.prepared.as_ref(),
        }
    }

    /// Returns the judged answer, where it is one.
    #[must_use]
    pub fn judged(&self) -> Option<&JudgedAnswer> {
        match self {
            Self::Said(_) | Self::Prepared(_) => None,
            Self::Judged(judged) => Some(judged),
        }
    }

    /// Returns the answer with what its call would do now.
    #[must_use]
    pub fn with_prepared(self, prepared: Result<PreparedEffect, PrepareRefusal>) -> Self {
        let (answer, _) = self.into_parts();
        Self::Prepared(Box::new(PreparedAnswer { answer, prepared }))
    }

    /// Returns what was said, and what the call would do, where its tool was asked. A judgement is left out: it is made
    /// anew.
    #[must_use]
    pub fn into_parts(self) -> (ApprovalAnswer, Option<Result<PreparedEffect, PrepareRefusal>>) {
        match self {
            Self::Said(answer) => (*answer, None),
            Self::Prepared(prepared) => (prepared.answer, Some(prepared.prepared)),
            Self::Judged(judged) => (judged.answer, judged.prepared),
        }
    }
}
