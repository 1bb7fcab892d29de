//! What calls are judged by, and the judging itself.
//!
//! Owns the order in which skills, postures, policies, grants and approvers are heard. Invariants: a denial of any of
//! them stands; only an ask can become an allow, and only by a standing setting or a grant.

use std::collections::BTreeMap;

use palyra_types::approval::{ApprovalTerms, ApproverPresence, AtExpiry};
use palyra_types::tool::{ApprovalRiskLevel, DecisionReason, ToolVerdict};

use crate::policies::{
    Answer, PolicyFile, PolicySet, ReadOnlyFolder, WithReadOnly, has_mounts, with_read_only,
};
use palyra_types::posture::Posture;

use crate::posture::{PostureRegistry, StandingPosture};
use crate::request::{PolicyRequest, ReadRequestError};

/// What a daemon judges by: files of policies, standing settings, and what belongs to itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolPolicyRules {
    /// The policies; without any, everything is denied.
    pub files: Vec<PolicyFile>,
    /// How tools are treated beside them.
    pub postures: PostureRegistry,
    /// Absolute paths of the daemon's state, configuration and sockets.
    pub own_paths: Vec<String>,
}

impl ToolPolicyRules {
    /// Returns the rules that Palyra ships: reads inside the workspace run unattended, changes ask, the rest is denied.
    #[must_use]
    pub fn shipped() -> Self {
        Self { files: PolicyFile::shipped(), ..Self::default() }
    }

    /// Returns these rules and the policies of one more file.
    #[must_use]
    pub fn with_file(mut self, name: &str, text: &str) -> Self {
        self.files.push(PolicyFile::new(name, text));
        self
    }
}

/// A verdict and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: ToolVerdict,
    /// Why, for programs.
    pub reason: DecisionReason,
    /// The policies that decided, by id: permits, forbids, or those that could not be evaluated.
    pub policies: Vec<String>,
    /// What the approval has to be; meaningful with [`ToolVerdict::Ask`].
    pub terms: ApprovalTerms,
    /// Folders that have to be read-only for the program that it starts. Of a call that is forbidden: those that would
    /// have to be, and cannot be with its sandbox.
    pub read_only: Vec<ReadOnlyFolder>,
}

impl Judgement {
    /// Denies what would need a read-only folder, where the tool cannot be given one.
    pub(crate) fn without_read_only(self) -> Self {
        if self.read_only.is_empty() {
            return self;
        }
        let mut policies: Vec<String> =
            self.read_only.into_iter().flat_map(|folder| folder.policies).collect();
        policies.sort();
        policies.dedup();
        let (verdict, reason) = (ToolVerdict::Deny, DecisionReason::Forbidden);
        Self { verdict, reason, policies, terms: ApprovalTerms::default(), read_only: Vec::new() }
    }
}

/// Judges one request by policies; whatever nothing permits is denied.
#[must_use]
pub fn evaluate_with_config(policies: &PolicySet, request: &PolicyRequest) -> Judgement {
    conclude(&PolicyStandpoint::of(policies, request), request)
}

/// Judges a recorded request again, word for word.
///
/// # Errors
/// [`ReadRequestError`] when the text is no recorded request.
pub fn re_evaluate(request: &str, policies: &PolicySet) -> Result<Judgement, ReadRequestError> {
    Ok(evaluate_with_config(policies, &PolicyRequest::from_json(request)?))
}

/// Returns the folders that have to be read-only for the program of a recorded request, from the workspace root: `.` for
/// all of it, also when the text is no recorded request.
#[must_use]
pub fn read_only_folders(policies: &PolicySet, request: &str) -> Vec<String> {
    match re_evaluate(request, policies) {
        Ok(judgement) => judgement.read_only.into_iter().map(|read_only| read_only.folder).collect(),
        Err(_unreadable) => vec![".".to_owned()],
    }
}

/// How many different requests a [`Reevaluation`] remembers.
const REMEMBERED_MAX: usize = 100_000;

/// Judges many recorded requests again by one set of policies, and what its policies cannot tell apart only once.
#[derive(Debug)]
pub struct Reevaluation<'p> {
    policies: &'p PolicySet,
    remembered: BTreeMap<String, PolicyStandpoint>,
}

impl<'p> Reevaluation<'p> {
    /// Begins with nothing remembered.
    #[must_use]
    pub fn new(policies: &'p PolicySet) -> Self {
        Self { policies, remembered: BTreeMap::new() }
    }

    /// Judges one request.
    pub fn judge(&mut self, request: &PolicyRequest) -> Judgement {
        let seen = self.policies.seen_of(request);
        if let Some(standpoint) = self.remembered.get(&seen) {
            return conclude(standpoint, request);
        }
        let standpoint = PolicyStandpoint::of(self.policies, request);
        let judgement = conclude(&standpoint, request);
        if self.remembered.len() >= REMEMBERED_MAX {
            self.remembered.clear();
        }
        self.remembered.insert(seen, standpoint);
        judgement
    }
}

/// What the policies say to a request, before anybody else is heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PolicyStandpoint {
    answer: Answer,
    terms: ApprovalTerms,
    read_only: Vec<ReadOnlyFolder>,
}

impl PolicyStandpoint {
    pub(crate) fn of(policies: &PolicySet, request: &PolicyRequest) -> Self {
        let (answer, read_only) = match policies.ask(request) {
            Answer::Denied(forbids) if !forbids.is_empty() => {
                around_forbids(forbids, with_read_only(policies, request), has_mounts(request))
            }
            answer
            @ (Answer::Unattended(_) | Answer::Attended(_) | Answer::Denied(_) | Answer::Failed(_)) => {
                (answer, Vec::new())
            }
        };
        let terms = match &answer {
            Answer::Attended(permits) => policies.terms(permits).or_default(),
            Answer::Unattended(_) | Answer::Denied(_) | Answer::Failed(_) => ApprovalTerms::default(),
        };
        Self { answer, terms, read_only }
    }
}

/// Returns the answer to a forbidden call, where read-only folders would make it another one.
fn around_forbids(
    forbids: Vec<String>,
    would_be: Option<WithReadOnly>,
    has_mounts: bool,
) -> (Answer, Vec<ReadOnlyFolder>) {
    match would_be {
        Some(WithReadOnly { answer, folders }) if has_mounts => (answer, folders),
        Some(WithReadOnly { answer: Answer::Unattended(_) | Answer::Attended(_), folders }) => {
            (Answer::Denied(forbids), folders)
        }
        Some(_) | None => (Answer::Denied(forbids), Vec::new()),
    }
}

/// Hears everybody else.
pub(crate) fn conclude(standpoint: &PolicyStandpoint, request: &PolicyRequest) -> Judgement {
    let terms = standpoint.terms;
    let (verdict, reason, policies) = match (&standpoint.answer, request.posture) {
        _ if request.skill.is_some() => (ToolVerdict::Deny, DecisionReason::SkillForbids, &[][..]),
        (_, StandingPosture::Unreadable) => (ToolVerdict::Deny, DecisionReason::PolicyError, &[][..]),
        (_, StandingPosture::Set(Posture::Disabled)) => {
            (ToolVerdict::Deny, DecisionReason::Disabled, &[][..])
        }
        (Answer::Failed(ids), _) => (ToolVerdict::Deny, DecisionReason::PolicyError, ids.as_slice()),
        (Answer::Denied(ids), _) if ids.is_empty() => {
            (ToolVerdict::Deny, DecisionReason::NoRulePermits, &[][..])
        }
        (Answer::Denied(ids), _) => (ToolVerdict::Deny, DecisionReason::Forbidden, ids.as_slice()),
        (Answer::Unattended(ids), StandingPosture::Set(Posture::Ask)) => ask_verdict(request, terms, ids),
        (Answer::Unattended(ids), _)
            if request.question && request.approvers() == ApproverPresence::Nobody =>
        {
            (ToolVerdict::Deny, DecisionReason::NoApprovalChannel, ids.as_slice())
        }
        (Answer::Unattended(ids), _) => (ToolVerdict::Allow, DecisionReason::Permitted, ids.as_slice()),
        (Answer::Attended(ids), StandingPosture::Set(Posture::AlwaysAllow))
            if terms.is_plain()
                && request.risk() < ApprovalRiskLevel::Critical
                && !request.wants_own_yes() =>
        {
            (ToolVerdict::Allow, DecisionReason::Permitted, ids.as_slice())
        }
        (Answer::Attended(ids), _) => ask_verdict(request, terms, ids),
    };
    let matters = verdict != ToolVerdict::Deny || reason == DecisionReason::Forbidden;
    let read_only = if matters { standpoint.read_only.clone() } else { Vec::new() };
    Judgement { verdict, reason, policies: policies.to_vec(), terms, read_only }
}

fn ask_verdict<'i>(
    request: &PolicyRequest,
    terms: ApprovalTerms,
    ids: &'i [String],
) -> (ToolVerdict, DecisionReason, &'i [String]) {
    if request.grant.is_some() && terms.is_plain() {
        return (ToolVerdict::Allow, DecisionReason::Granted, ids);
    }
    match (request.approvers(), terms.at_expiry) {
        (ApproverPresence::Inbox, _) | (ApproverPresence::Nobody, AtExpiry::Park) => {
            (ToolVerdict::Ask, DecisionReason::NeedsApproval, ids)
        }
        (ApproverPresence::Nobody, AtExpiry::Deny) => {
            (ToolVerdict::Deny, DecisionReason::NoApprovalChannel, ids)
        }
    }
}

#[cfg(test)]
mod tests;
