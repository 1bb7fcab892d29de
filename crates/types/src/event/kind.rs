//! The registry of kinds: what an entry of the journal can be.
//!
//! Owns number and name of each kind, and which event has it. A number is never reused and never changes its
//! meaning. Knows no layout: that is the codec's. Begin at [`EventKind`].

use super::{
    AccessEvent, AgentEvent, ApprovalEvent, EffectEvent, JournalEvent, LogEvent, ModelEvent, PolicyEvent,
    RunEvent, SessionEvent, TapeEvent, ToolEvent,
};
use crate::budget::{AccountEvent, BudgetEvent};
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

/// First number that a version which does not know it may skip.
pub const SKIPPABLE_FROM: u16 = 0x8000;

/// Kinds below this number are the journal's own and never have a payload.
pub const NO_PAYLOAD_BELOW: u16 = 0x0010;

/// Returns whether a version that does not know this kind must not go on without it.
#[must_use]
pub fn is_critical(number: u16) -> bool {
    number < SKIPPABLE_FROM
}

/// Where entries of a kind are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindPlace {
    /// In the journal, outside of runs.
    Log,
    /// On a run's tape.
    Tape,
}

/// Each row: the kind, its number, its name on the wire, the event that has it. An event without a row does not compile.
macro_rules! kinds {
    (
        log { $($log:ident = $log_number:literal, $log_name:literal: $log_group:ident($log_event:pat),)* }
        tape { $($tape:ident = $tape_number:literal, $tape_name:literal: $tape_group:ident($tape_event:pat),)* }
    ) => {
        /// What an entry is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u16)]
        pub enum EventKind {
            $(#[doc = concat!("`", $log_name, "`, number ", stringify!($log_number), ".")] $log = $log_number,)*
            $(#[doc = concat!("`", $tape_name, "`, number ", stringify!($tape_number), ".")] $tape = $tape_number,)*
        }

        impl EventKind {
            /// Every kind: those of the log, then those of tapes, each in order of number within its block.
            pub const ALL: &[Self] = &[$(Self::$log,)* $(Self::$tape,)*];

            /// Returns the kind of a number; `None` for one that this version does not know.
            #[must_use]
            pub fn from_number(number: u16) -> Option<Self> {
                match number {
                    $($log_number => Some(Self::$log),)*
                    $($tape_number => Some(Self::$tape),)*
                    _ => None,
                }
            }

            /// Returns its number, as envelopes have it.
            #[must_use]
            pub fn number(self) -> u16 {
                self as u16
            }

            /// Returns its name on the wire, in snake case.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$log => $log_name,)*
                    $(Self::$tape => $tape_name,)*
                }
            }

            /// Returns the variant's own name, as golden files have it.
            #[must_use]
            pub fn variant(self) -> &'static str {
                match self {
                    $(Self::$log => stringify!($log),)*
                    $(Self::$tape => stringify!($tape),)*
                }
            }

            /// Returns where entries of it are.
            #[must_use]
            pub fn place(self) -> KindPlace {
                match self {
                    $(Self::$log)|* => KindPlace::Log,
                    $(Self::$tape)|* => KindPlace::Tape,
                }
            }
        }

        impl JournalEvent {
            /// Returns its kind; `None` for one that this version does not know.
            #[must_use]
            pub fn kind(&self) -> Option<EventKind> {
                use JournalEvent::{
                    Access, Agent, Budget, Component, Delivery, Effect, Incident, Job, Learning, Log, Memory, Policy, Schedule,
                    Session, Skill,
                    Tape, Task, Unknown, Vault,
                };
                match self {
                    $($log_group($log_event) => Some(EventKind::$log),)*
                    Tape(event) => event.kind(),
                    Unknown { .. } => None,
                }
            }
        }

        impl TapeEvent {
            /// Returns its kind; `None` for one that this version does not know.
            #[must_use]
            pub fn kind(&self) -> Option<EventKind> {
                use TapeEvent::{Approval, Model, Run, Tool, Unknown};
                match self {
                    $($tape_group($tape_event) => Some(EventKind::$tape),)*
                    Unknown { .. } => None,
                }
            }
        }
    };
}

kinds! {
    log {
        LogOpened = 0x0001, "log_opened": Log(LogEvent::Opened { .. }),
        EpochStarted = 0x0002, "epoch_started": Log(LogEvent::EpochStarted { .. }),
        Erased = 0x0003, "erased": Log(LogEvent::Erased { .. }),
        LogReopened = 0x0004, "log_reopened": Log(LogEvent::Reopened { .. }),
        PrincipalRegistered = 0x0010, "principal_registered": Access(AccessEvent::PrincipalRegistered { .. }),
        TokenCreated = 0x0011, "token_created": Access(AccessEvent::TokenCreated(_)),
        TokenRevoked = 0x0012, "token_revoked": Access(AccessEvent::TokenRevoked { .. }),
        PrincipalRenamed = 0x0013, "principal_renamed": Access(AccessEvent::PrincipalRenamed { .. }),
        RoleGiven = 0x0014, "role_given": Access(AccessEvent::RoleGiven { .. }),
        PrincipalDisabled = 0x0015, "principal_disabled": Access(AccessEvent::PrincipalDisabled { .. }),
        PrincipalEnabled = 0x0016, "principal_enabled": Access(AccessEvent::PrincipalEnabled { .. }),
        AgentSaved = 0x0020, "agent_saved": Agent(AgentEvent::Saved { .. }),
        AgentArchived = 0x0021, "agent_archived": Agent(AgentEvent::Archived { .. }),
        SessionOpened = 0x0030, "session_opened": Session(SessionEvent::Opened { .. }),
        SessionReset = 0x0031, "session_reset": Session(SessionEvent::Reset { .. }),
        SessionRenamed = 0x0032, "session_renamed": Session(SessionEvent::Renamed { .. }),
        SessionArchived = 0x0033, "session_archived": Session(SessionEvent::Archived { .. }),
        SessionRestored = 0x0034, "session_restored": Session(SessionEvent::Restored { .. }),
        SessionRecallSet = 0x0035, "session_recall_set": Session(SessionEvent::RecallSet { .. }),
        GrantRevoked = 0x0070, "grant_revoked": Policy(PolicyEvent::GrantRevoked { .. }),
        UndoRequested = 0x0071, "undo_requested": Effect(EffectEvent::UndoRequested { .. }),
        UndoFinished = 0x0072, "undo_finished": Effect(EffectEvent::UndoFinished { .. }),
        EffectSettled = 0x0073, "effect_settled": Effect(EffectEvent::Settled { .. }),
        SkillInstalled = 0x0080, "skill_installed": Skill(SkillEvent::Installed { .. }),
        SkillEnabled = 0x0081, "skill_enabled": Skill(SkillEvent::Enabled { .. }),
        SkillDisabled = 0x0082, "skill_disabled": Skill(SkillEvent::Disabled { .. }),
        SkillQuarantined = 0x0083, "skill_quarantined": Skill(SkillEvent::Quarantined { .. }),
        SkillRemoved = 0x0084, "skill_removed": Skill(SkillEvent::Removed { .. }),
        PostureChanged = 0x0090, "posture_changed": Policy(PolicyEvent::PostureChanged { .. }),
        BudgetSet = 0x0120, "budget_set": Budget(BudgetEvent::Set(_)),
        BudgetRemoved = 0x0121, "budget_removed": Budget(BudgetEvent::Removed { .. }),
        BudgetWindowOpened = 0x0122, "budget_window_opened": Budget(BudgetEvent::Account { event: AccountEvent::WindowOpened { .. }, .. }),
        BudgetReserved = 0x0123, "budget_reserved": Budget(BudgetEvent::Account { event: AccountEvent::Reserved { .. }, .. }),
        BudgetSettled = 0x0124, "budget_settled": Budget(BudgetEvent::Account { event: AccountEvent::Settled { .. }, .. }),
        BudgetReleased = 0x0125, "budget_released": Budget(BudgetEvent::Account { event: AccountEvent::Released { .. }, .. }),
        BudgetToppedUp = 0x0126, "budget_topped_up": Budget(BudgetEvent::Account { event: AccountEvent::ToppedUp { .. }, .. }),
        BudgetSoftLimitPassed = 0x0127, "budget_soft_limit_passed": Budget(BudgetEvent::Account { event: AccountEvent::SoftLimitPassed { .. }, .. }),
        AuxiliaryUsed = 0x0128, "auxiliary_used": Budget(BudgetEvent::AuxiliaryUsed(_)),
        ScheduleCreated = 0x0140, "schedule_created": Schedule(ScheduleEvent::Created(_)),
        ScheduleEdited = 0x0141, "schedule_edited": Schedule(ScheduleEvent::Edited(_)),
        SchedulePaused = 0x0142, "schedule_paused": Schedule(ScheduleEvent::Paused { .. }),
        ScheduleResumed = 0x0143, "schedule_resumed": Schedule(ScheduleEvent::Resumed { .. }),
        ScheduleRemoved = 0x0144, "schedule_removed": Schedule(ScheduleEvent::Removed { .. }),
        OccurrenceCreated = 0x0145, "occurrence_created": Schedule(ScheduleEvent::OccurrenceCreated { .. }),
        OccurrenceStarted = 0x0146, "occurrence_started": Schedule(ScheduleEvent::OccurrenceStarted { .. }),
        OccurrenceCancelRequested = 0x0147, "occurrence_cancel_requested": Schedule(ScheduleEvent::OccurrenceCancelRequested { .. }),
        OccurrenceFinished = 0x0148, "occurrence_finished": Schedule(ScheduleEvent::OccurrenceFinished(_)),
        OccurrenceSkipped = 0x0149, "occurrence_skipped": Schedule(ScheduleEvent::OccurrenceSkipped { .. }),
        OccurrencesSkipped = 0x014A, "occurrences_skipped": Schedule(ScheduleEvent::OccurrencesSkipped { .. }),
        SchedulesPaused = 0x014B, "schedules_paused": Schedule(ScheduleEvent::ManyPaused { .. }),
        SchedulesResumed = 0x014C, "schedules_resumed": Schedule(ScheduleEvent::ManyResumed { .. }),
        ActRefused = 0x8010, "act_refused": Access(AccessEvent::ActRefused(_)),
        PageSessionBegun = 0x8011, "page_session_begun": Access(AccessEvent::PageSessionBegun { .. }),
        TimeZoneSet = 0x8012, "time_zone_set": Access(AccessEvent::TimeZoneSet { .. }),
        BookmarkPlaced = 0x8030, "bookmark_placed": Session(SessionEvent::BookmarkPlaced(_)),
        BookmarkRemoved = 0x8031, "bookmark_removed": Session(SessionEvent::BookmarkRemoved(_)),
        ResponseDeleted = 0x8032, "response_deleted": Session(SessionEvent::ResponseDeleted { .. }),
        JobStarted = 0x8070, "job_started": Job(JobEvent::Started { .. }),
        JobEnded = 0x8071, "job_ended": Job(JobEvent::Ended { .. }),
        ShadowCounted = 0x8090, "shadow_counted": Policy(PolicyEvent::ShadowCounted { .. }),
        SecretPut = 0x80A0, "secret_put": Vault(VaultEvent::Put { .. }),
        SecretBound = 0x80A1, "secret_bound": Vault(VaultEvent::Bound { .. }),
        SecretRemoved = 0x80A2, "secret_removed": Vault(VaultEvent::Removed { .. }),
        VaultUnlocked = 0x80A3, "vault_unlocked": Vault(VaultEvent::Unlocked { .. }),
        VaultPassphraseSet = 0x80A4, "vault_passphrase_set": Vault(VaultEvent::PassphraseSet { .. }),
        SecretUsed = 0x80A5, "secret_used": Vault(VaultEvent::Used { .. }),
        ComponentAdded = 0x80B0, "component_added": Component(ComponentEvent::Added { .. }),
        ComponentRemoved = 0x80B1, "component_removed": Component(ComponentEvent::Removed { .. }),
        ProjectRulesAccepted = 0x8100, "project_rules_accepted": Policy(PolicyEvent::ProjectRulesAccepted(_)),
        ProjectRulesWithdrawn = 0x8101, "project_rules_withdrawn": Policy(PolicyEvent::ProjectRulesWithdrawn(_)),
        MemorySaved = 0x8110, "memory_saved": Memory(MemoryEvent::Saved(_)),
        MemoryForgotten = 0x8111, "memory_forgotten": Memory(MemoryEvent::Forgotten { .. }),
        Compacted = 0x8120, "compacted": Session(SessionEvent::Compacted(_)),
        CompactionReverted = 0x8121, "compaction_reverted": Session(SessionEvent::CompactionReverted(_)),
        TaskEnqueued = 0x8130, "task_enqueued": Task(TaskEvent::Enqueued(_)),
        TaskLeased = 0x8131, "task_leased": Task(TaskEvent::Leased { .. }),
        TaskProgressed = 0x8132, "task_progressed": Task(TaskEvent::Progressed { .. }),
        TaskAttemptEnded = 0x8133, "task_attempt_ended": Task(TaskEvent::AttemptEnded(_)),
        TaskCancelRequested = 0x8134, "task_cancel_requested": Task(TaskEvent::CancelRequested { .. }),
        TaskRunNowRequested = 0x8135, "task_run_now_requested": Task(TaskEvent::RunNowRequested { .. }),
        TaskRetryRequested = 0x8136, "task_retry_requested": Task(TaskEvent::RetryRequested { .. }),
        TaskDropped = 0x8137, "task_dropped": Task(TaskEvent::Dropped { .. }),
        LearningProposed = 0x8150, "learning_proposed": Learning(LearningEvent::Proposed(_)),
        LearningChanged = 0x8151, "learning_changed": Learning(LearningEvent::Changed(_)),
        IncidentOpened = 0x8160, "incident_opened": Incident(IncidentEvent::Opened(_)),
        IncidentRemedyStarted = 0x8161, "incident_remedy_started": Incident(IncidentEvent::RemedyStarted { .. }),
        IncidentRemedyEnded = 0x8162, "incident_remedy_ended": Incident(IncidentEvent::RemedyEnded { .. }),
        IncidentResolved = 0x8163, "incident_resolved": Incident(IncidentEvent::Resolved { .. }),
        HealingModeSet = 0x8164, "healing_mode_set": Incident(IncidentEvent::ModeSet { .. }),
        DeliveryPlanned = 0x8170, "delivery_planned": Delivery(DeliveryEvent::Planned(_)),
        DeliveryAttemptBegun = 0x8171, "delivery_attempt_begun": Delivery(DeliveryEvent::AttemptBegun { .. }),
        DeliveryAttemptEnded = 0x8172, "delivery_attempt_ended": Delivery(DeliveryEvent::AttemptEnded(_)),
    }
    tape {
        RunStarted = 0x0040, "run_started": Run(RunEvent::Started { .. }),
        InputReceived = 0x0041, "input_received": Run(RunEvent::InputReceived { .. }),
        LoopDetected = 0x0042, "loop_detected": Run(RunEvent::LoopDetected { .. }),
        CancelRequested = 0x0043, "cancel_requested": Run(RunEvent::CancelRequested { .. }),
        RunFinished = 0x0044, "run_finished": Run(RunEvent::Finished { .. }),
        RunHeld = 0x0045, "run_held": Run(RunEvent::Held { .. }),
        ClientToolsOffered = 0x0046, "client_tools_offered": Run(RunEvent::ClientToolsOffered { .. }),
        ClientToolsCalled = 0x0047, "client_tools_called": Run(RunEvent::ClientToolsCalled { .. }),
        ClientToolsAnswered = 0x0048, "client_tools_answered": Run(RunEvent::ClientToolsAnswered { .. }),
        ReferencesExpanded = 0x0049, "references_expanded": Run(RunEvent::ReferencesExpanded { .. }),
        BudgetReached = 0x004A, "budget_reached": Run(RunEvent::BudgetReached { .. }),
        ModelRequested = 0x0050, "model_requested": Model(ModelEvent::Requested { .. }),
        ModelText = 0x0051, "model_text": Model(ModelEvent::Text { .. }),
        ModelMessage = 0x0052, "model_message": Model(ModelEvent::Message { .. }),
        ModelAttemptAbandoned = 0x0053, "model_attempt_abandoned": Model(ModelEvent::AttemptAbandoned { .. }),
        ToolProposed = 0x0060, "tool_proposed": Tool(ToolEvent::Proposed { .. }),
        ToolDecided = 0x0061, "tool_decided": Tool(ToolEvent::Decided { .. }),
        ToolStarted = 0x0062, "tool_started": Tool(ToolEvent::Started { .. }),
        ToolFinished = 0x0063, "tool_finished": Tool(ToolEvent::Finished { .. }),
        ToolOutcomeUnknown = 0x0064, "tool_outcome_unknown": Tool(ToolEvent::OutcomeUnknown { .. }),
        ApprovalRequested = 0x0065, "approval_requested": Approval(ApprovalEvent::Requested { .. }),
        ApprovalVoted = 0x0066, "approval_voted": Approval(ApprovalEvent::Voted { .. }),
        ApprovalResolved = 0x0067, "approval_resolved": Approval(ApprovalEvent::Resolved { .. }),
        GrantStored = 0x0068, "grant_stored": Approval(ApprovalEvent::GrantStored { .. }),
        EffectResolved = 0x0069, "effect_resolved": Tool(ToolEvent::EffectResolved { .. }),
        SoftLimitNoted = 0x8040, "soft_limit_noted": Run(RunEvent::SoftLimitNoted { .. }),
        ModelReasoning = 0x8050, "model_reasoning": Model(ModelEvent::Reasoning { .. }),
        ModelSwitched = 0x8051, "model_switched": Model(ModelEvent::Switched { .. }),
        ToolOutput = 0x8060, "tool_output": Tool(ToolEvent::Output { .. }),
    }
}
