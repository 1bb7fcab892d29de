//! Approvals: what a person is asked, what they may answer, and what outlives the answer.

use std::path::PathBuf;

pub use crate::approval_terms::{
    APPROVAL_SPAN_DEFAULT, APPROVAL_SPAN_MAX, APPROVALS_NEEDED_MAX, ApprovalTerms, ApproverPresence,
    ApproverSet, AtExpiry, NAMED_APPROVERS_MAX, SeparationRule,
};

use crate::digest::ContentDigest;
use crate::surface::Surface;
use crate::tool::ApprovalRiskLevel;
use crate::{
    ApprovalId, EffectId, PrincipalId, Redacted, RunId, Seq, SessionId, StoredGrantId, TapeSeq, Timestamp,
};

/// A person is asked whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequested {
    /// Its id.
    pub approval: ApprovalId,
    /// The call.
    pub effect: EffectId,
    /// Keyed digest of everything that it is bound to.
    pub binding: ContentDigest,
    /// How much harm the call can do.
    pub risk: ApprovalRiskLevel,
    /// What the rule wants.
    pub terms: ApprovalTerms,
    /// When it expires; `None` when it stays parked.
    pub expires: Option<Timestamp>,
    /// Digest of the policy snapshot that wants it.
    pub policy_digest: [u8; 32],
    /// What the person is shown.
    pub prompt: ApprovalPromptRecord,
}

/// What a person is shown: exactly what will run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovalPromptRecord {
    /// The tool.
    pub tool: Redacted<String>,
    /// Its arguments, in canonical JSON.
    pub arguments: Redacted<String>,
    /// One line that says what the call does.
    pub summary: Redacted<String>,
    /// What it would change, as a unified diff where there is one; at most
    /// [`crate::effect::PREVIEW_BYTES_MAX`].
    pub preview: Redacted<String>,
    /// Why policy asks.
    pub reason: Redacted<String>,
    /// What is not bound by the approval; empty when all is.
    pub unbound: Redacted<String>,
    /// Why it is asked again; empty the first time.
    pub asked_again: Redacted<String>,
}

/// A person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalDecision {
    /// It may run.
    Approve,
    /// It may not.
    Deny,
}

/// Where an approval stands. All but the first are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApprovalState {
    /// Nobody has decided.
    Pending,
    /// Enough people said yes.
    Approved,
    /// Somebody said no, or policy did meanwhile.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// The run ended, or what would run is no longer what was asked.
    Withdrawn,
}

impl ApprovalState {
    /// Returns it in a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// One of several people whose yes is needed said yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalVoted {
    /// The approval.
    pub approval: ApprovalId,
    /// The call.
    pub effect: EffectId,
    /// Who.
    pub by: PrincipalId,
    /// Where the answer came from.
    pub via: Surface,
    /// What they said with it.
    pub note: Redacted<String>,
}

/// An approval is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalResolved {
    /// The approval.
    pub approval: ApprovalId,
    /// The call.
    pub effect: EffectId,
    /// How it ended; never [`ApprovalState::Pending`].
    pub state: ApprovalState,
    /// Who decided; `None` when nobody did.
    pub by: Option<PrincipalId>,
    /// Where the answer came from.
    pub via: Option<Surface>,
    /// Keyed digest of tool and arguments, when the arguments were edited; zero otherwise.
    pub edited_digest: ContentDigest,
    /// The arguments that run instead of those proposed.
    pub edited: Option<Redacted<String>>,
    /// What the person said with it, or why it was withdrawn.
    pub note: Redacted<String>,
}

/// For which calls a stored grant holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GrantScope {
    /// Calls of one session.
    Session(SessionId),
    /// Calls of every session of its principal.
    Principal,
    /// The same, and in every workspace.
    Everywhere,
}

/// What a stored grant is bound to beside the arguments. A grant from before these were recorded has none of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrantBounds {
    /// The root of the workspace that it was given in; `None` when that was not recorded.
    pub workspace: Option<Redacted<PathBuf>>,
    /// The version of the tool.
    pub tool_version: Option<u32>,
    /// Digest of the workspace's files that the call runs; `None` when it runs none.
    pub programs: Option<[u8; 32]>,
}

/// A permission that outlives the call it was given for; always narrower than its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// Its id.
    pub grant: StoredGrantId,
    /// Whose calls.
    pub principal: PrincipalId,
    /// The approval it came from.
    pub approval: ApprovalId,
    /// Who gave it.
    pub granted_by: PrincipalId,
    /// For which calls.
    pub scope: GrantScope,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// How often it may be used.
    pub uses_max: Option<u32>,
    /// The tool.
    pub tool: Redacted<String>,
    /// What its arguments have to look like, one rule per argument; an argument without a rule has to be absent.
    pub matcher: Vec<ArgumentRule>,
    /// Where it holds, and for which bytes.
    pub bounds: GrantBounds,
}

/// What one argument of a covered call has to look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentRule<T = Redacted<String>> {
    /// The argument's name.
    pub argument: T,
    /// What it has to be.
    pub shape: ArgumentShape<T>,
}

/// What an argument has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentShape<T = Redacted<String>> {
    /// Exactly this value, in canonical JSON.
    Equal(T),
    /// A path at or below this one.
    Beneath(T),
    /// An address with this scheme, host and port, such as `https://api.example`, whatever its path is.
    Origin(T),
    /// Anything.
    Any,
}

/// What a person wants to be remembered beyond the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrantRequest {
    /// The id it will have.
    pub grant: StoredGrantId,
    /// For which calls.
    pub scope: GrantScope,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// How often it may be used.
    pub uses_max: Option<u32>,
    /// What the arguments have to look like.
    pub matcher: Vec<ArgumentRule>,
}

/// An approval as lists show it: a projection of its run's tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRecord {
    /// Its id.
    pub approval: ApprovalId,
    /// The run that asks.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// For whom the run works.
    pub principal: PrincipalId,
    /// The call.
    pub effect: EffectId,
    /// Where it asks on the run's tape.
    pub tape_seq: TapeSeq,
    /// Where it asks in the journal.
    pub seq: Seq,
    /// Where it stands.
    pub state: ApprovalState,
    /// How much harm the call can do.
    pub risk: ApprovalRiskLevel,
    /// What the rule wants.
    pub terms: ApprovalTerms,
    /// People who said yes so far.
    pub voters: Vec<PrincipalId>,
    /// When it was asked.
    pub created: Timestamp,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// When it was decided.
    pub decided: Option<Timestamp>,
    /// Who decided.
    pub decided_by: Option<PrincipalId>,
    /// What the person is shown; empty once erased.
    pub prompt: ApprovalPromptRecord,
    /// What was said with the decision; empty once erased.
    pub note: Redacted<String>,
}

/// A stored grant as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrantRecord {
    /// The grant.
    pub stored: StoredGrant,
    /// How often it was used.
    pub uses: u32,
    /// When it was given.
    pub created: Timestamp,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
    /// The entry that gave it.
    pub seq: Seq,
}

/// Returns what happened, with what a person said of it behind it.
#[must_use]
pub fn note_behind(text: &'static str, note: &Redacted<String>) -> Redacted<String> {
    Redacted::from(text).zip(note.clone()).map(|(text, note)| match note.trim() {
        "" => text,
        note => format!("{text}: {note}"),
    })
}
