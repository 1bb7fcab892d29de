//! What can happen, as recorded facts.
//!
//! Every entry of the journal is a [`JournalEvent`]. Fields wrapped in [`crate::Redacted`] are content: they go
//! to the erasable payload of the entry. All other fields are facts: ids, enums, counts, times and keyed
//! digests, which stay for ever and suffice to rebuild the run machine and every projection.
//!
//! After an erasure an entry's content fields are empty and [`crate::tape::ContentState`] says so.

mod access;
mod approval;
pub mod content;
mod effect;
pub mod kind;
mod log;
mod model;
mod model_routing;
mod context_plan;
mod policy;
mod run;
mod session;
mod tool;

pub use crate::digest::ContentDigest;
pub use access::{AccessEvent, ActRefused, AgentEvent, TokenCreated};
pub use approval::ApprovalEvent;
pub use context_plan::{ContextPlan, ContextSource, DropReason, PlannedSource};
pub use effect::EffectEvent;
pub use log::{EpochSealing, LogEvent};
pub use model::{AbandonCause, ModelEvent, ModelMessage, ModelRequested, NextAttempt};
pub use model_routing::{ModelRouting, PassOverCause, PassedOver, RoutingReason};
pub use policy::PolicyEvent;
pub use run::{ClientToolsAnswered, HeldCause, LoopGuard, RunEvent, RunFinished, RunStarted};
pub use session::*;
pub use tool::{
    ApprovalAsk, CallAttestation, DecidedBy, ToolDecided, ToolEvent, ToolFinished, ToolProposed, ToolStarted,
    UnknownOutcomeCause,
};

use crate::budget::BudgetEvent;
use crate::component::ComponentEvent;
use crate::delivery::DeliveryEvent;
use crate::incident::IncidentEvent;
use crate::job::JobEvent;
use crate::learning::LearningEvent;
use crate::memory::MemoryEvent;
use crate::queued_task::TaskEvent;
use crate::schedule::ScheduleEvent;
use crate::skill::SkillEvent;
use crate::vault::VaultEvent;

/// Anything the journal records, in groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalEvent {
    /// The log itself: its start, its epochs, erasures, and its end.
    Log(LogEvent),
    /// Principals and their access tokens.
    Access(AccessEvent),
    /// Agents: each entry has the whole profile.
    Agent(AgentEvent),
    /// Conversations.
    Session(SessionEvent),
    /// Outcomes of effects that are recorded beside the tape of their run.
    Effect(EffectEvent),
    /// Settings that decide about later calls: grants taken back, postures, counts of policies on trial, rules of projects.
    Policy(PolicyEvent),
    /// What became of an installed skill; who did it is in the envelope, nil for the daemon itself.
    Skill(SkillEvent),
    /// What became of a component; who did it is in the envelope.
    Component(ComponentEvent),
    /// What becomes of a job.
    Job(JobEvent),
    /// Something was done with the vault; who did it is in the envelope.
    Vault(VaultEvent),
    /// Something is remembered or forgotten on behalf of the principal of the envelope.
    Memory(MemoryEvent),
    /// Something was concluded from conversations of the principal of the envelope, or it was decided what becomes of it.
    Learning(LearningEvent),
    /// A budget was set or removed, or something happened to one of its accounts.
    Budget(BudgetEvent),
    /// Something happened to a task of the background queue; whom it works for is in the envelope.
    Task(TaskEvent),
    /// Something happened to a schedule; whose it is, is in the envelope.
    Schedule(ScheduleEvent),
    /// Something happened to an incident of self-healing, or to the mode of a domain.
    Incident(IncidentEvent),
    /// Something happened to a message of the outbox; whose it is, is in the envelope.
    Delivery(DeliveryEvent),
    /// An entry of a run's tape.
    Tape(TapeEvent),
    /// A kind that this version does not know.
    Unknown {
        /// Its number in the registry of kinds.
        kind: u16,
    },
}

/// Anything that happens in a run, in groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TapeEvent {
    /// A run as a whole: its start, what people say to it, what stops it, its end.
    Run(RunEvent),
    /// A request to a model and what came of it.
    Model(ModelEvent),
    /// A call of a tool, from its proposal to its outcome.
    Tool(ToolEvent),
    /// A question whether a call may run, and its answers.
    Approval(ApprovalEvent),
    /// A kind that this version does not know; critical ones park the run.
    Unknown {
        /// Its number in the registry of kinds.
        kind: u16,
    },
}

impl TapeEvent {
    /// Returns whether a queued run begins with this event: with its first model request, with the references that come
    /// before it, or with a wait for a budget in its place.
    #[must_use]
    pub fn begins_run(&self) -> bool {
        matches!(
            self,
            Self::Model(ModelEvent::Requested(_))
                | Self::Run(RunEvent::ReferencesExpanded(_) | RunEvent::BudgetReached { .. })
        )
    }

    /// Returns whether a run may begin or end to wait for a person with this entry. Words of a model and printed output, which
    /// are most of a tape, change nothing about that.
    #[must_use]
    pub fn may_end_or_begin_a_wait(&self) -> bool {
        match self {
            Self::Run(_) | Self::Approval(_) | Self::Unknown { .. } => true,
            Self::Tool(event) => !matches!(event, ToolEvent::Output(_)),
            Self::Model(_) => false,
        }
    }
}

/// Makes an event of the whole from an event of one of its groups.
macro_rules! groups {
    ($whole:ident: $($group:ident($event:ident)),* $(,)?) => {
        $(impl From<$event> for $whole {
            fn from(event: $event) -> Self {
                Self::$group(event)
            }
        })*
    };
}

groups!(JournalEvent: Log(LogEvent), Access(AccessEvent), Agent(AgentEvent), Session(SessionEvent));
groups!(JournalEvent: Effect(EffectEvent), Policy(PolicyEvent), Skill(SkillEvent), Component(ComponentEvent));
groups!(JournalEvent: Job(JobEvent), Vault(VaultEvent), Memory(MemoryEvent), Budget(BudgetEvent));
groups!(JournalEvent: Task(TaskEvent), Schedule(ScheduleEvent), Incident(IncidentEvent), Tape(TapeEvent));
groups!(JournalEvent: Learning(LearningEvent), Delivery(DeliveryEvent));
groups!(TapeEvent: Run(RunEvent), Model(ModelEvent), Tool(ToolEvent), Approval(ApprovalEvent));
