//! Whether an occurrence may start now: the facts of now against what was approved.

use palyra_admin::AdminError;
use palyra_admin::access::AccessHandle;
use palyra_admin::agents::AgentRegistry;
use palyra_journal_core::families::schedules::ScheduleRecord;
use palyra_schedule::{OccurrenceCheck, OccurrenceFacts, OccurrenceRefusal, definition_of, digest_of};
use palyra_types::access::AccessScope;
use palyra_types::digest::ContentDigest;
use palyra_types::schedule::SavedAction;
use palyra_types::{AgentId, PrincipalId};

use crate::approved_digests::{profile_digest, target_digest};

/// What schedules ask about principals and agents.
pub trait ScheduleFacts: Send + Sync + 'static {
    /// Returns what a principal may do.
    fn creator(&self, principal: PrincipalId) -> CreatorFacts;

    /// Returns the agent of a name; `None` means `main`.
    ///
    /// # Errors
    /// [`AdminError::AgentNotFound`].
    fn agent_named(&self, name: Option<&str>) -> Result<AgentFacts, AdminError>;

    /// Returns the agent of an id; `None` for one that is archived or unknown.
    fn agent(&self, agent: AgentId) -> Option<AgentFacts>;
}

/// What a principal may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreatorFacts {
    /// Whether it is registered and not disabled.
    pub is_active: bool,
    /// Whether its role may start runs and have schedules.
    pub may_start_runs: bool,
}

/// An agent as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFacts {
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: String,
    /// The digest of its profile.
    pub profile: ContentDigest,
}

/// The facts of the daemon.
pub struct DaemonFacts {
    /// Knows principals.
    pub access: AccessHandle,
    /// Knows agents.
    pub agents: AgentRegistry,
}

impl ScheduleFacts for DaemonFacts {
    fn creator(&self, principal: PrincipalId) -> CreatorFacts {
        let known = self.access.known();
        let Some(record) = known.principal(principal) else {
            return CreatorFacts { is_active: false, may_start_runs: false };
        };
        let scopes = known.role_of(record).scopes();
        let may_start_runs = scopes.contains(AccessScope::Runs) && scopes.contains(AccessScope::Schedules);
        CreatorFacts { is_active: record.disabled.is_none(), may_start_runs }
    }

    fn agent_named(&self, name: Option<&str>) -> Result<AgentFacts, AdminError> {
        let agent = self.agents.by_name(name)?;
        let name = agent.profile.name.expose().clone();
        Ok(AgentFacts { id: agent.id, name, profile: profile_digest(&agent) })
    }

    fn agent(&self, agent: AgentId) -> Option<AgentFacts> {
        let agent = self.agents.by_id(agent).filter(|agent| agent.archived.is_none())?;
        let name = agent.profile.name.expose().clone();
        Some(AgentFacts { id: agent.id, name, profile: profile_digest(&agent) })
    }
}

/// Compares what was approved with what is there now.
pub(crate) fn check_occurrence(facts: &dyn ScheduleFacts, record: &ScheduleRecord) -> OccurrenceCheck {
    let saved = &record.saved;
    let creator = facts.creator(saved.provenance.creator);
    let agent = match saved.action {
        SavedAction::Reminder => None,
        SavedAction::Run(run) => facts.agent(run.agent),
    };
    let text = saved.text.expose();
    // An erasure takes the other digests along, so that they would seem to have changed.
    if creator.is_active && text.is_empty() {
        return Err(OccurrenceRefusal::PromptChanged);
    }
    // A reminder starts no run, so the right to start one is not asked for.
    let policy_allows = creator.may_start_runs || saved.action == SavedAction::Reminder;
    let now = OccurrenceFacts {
        creator_allowed: creator.is_active,
        agent_profile: agent.map(|agent| agent.profile),
        text: Some(digest_of(text)),
        target: Some(target_digest(saved.schedule)),
        policy_allows,
    };
    definition_of(saved).check_occurrence(&now)
}

/// Returns a refusal in words.
pub(crate) fn refusal_words(refusal: OccurrenceRefusal) -> &'static str {
    match refusal {
        OccurrenceRefusal::Creator => "the person who made the schedule is disabled or gone",
        OccurrenceRefusal::AgentGone => "the agent is archived or gone; edit the schedule",
        OccurrenceRefusal::AgentChanged => {
            "the agent was changed since the schedule was approved; edit the schedule"
        }
        OccurrenceRefusal::PromptChanged => "the text of the schedule was erased; edit the schedule",
        OccurrenceRefusal::TargetChanged => {
            "the target was changed since the schedule was approved; edit the schedule"
        }
        OccurrenceRefusal::Policy => {
            "the role of the person who made the schedule does not allow runs any more"
        }
    }
}
