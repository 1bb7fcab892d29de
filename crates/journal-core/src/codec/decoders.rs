//! The decoder of each kind.
//!
//! A kind of the registry without a row does not compile, and neither does a row in the wrong block when its decoder
//! yields the other sort of event. Begin at [`decode_known`].

use palyra_types::event::JournalEvent;
use palyra_types::event::kind::{EventKind, KindPlace};

use super::field::{ReadResult, UnreadableEvent};
use super::{
    access_entries as access, approval_entries as approval, budget_entries as budget,
    client_tool_entries as client_tool, compaction_entries as compaction, component_entries as component,
    delivery_entries as delivery, effect_entries as effect, incident_entries as incident, job_entries as job,
    learning_entries as learning, log_entries as log, memory_entries as memory, model_entries as model,
    policy_entries as policy, project_entries as project, proof_entries as proof,
    reference_entries as reference, run_entries as run, schedule_entries as schedule,
    session_entries as session, skill_entries as skill, task_entries as task, tool_entries as tool,
    vault_entries as vault,
};

/// Each row: the kind, and how its stored bytes are read. There is no row for all others.
macro_rules! decoders {
    (
        ($facts:ident, $payload:ident)
        log { $($log:ident => $log_event:expr,)* }
        tape { $($tape:ident => $tape_event:expr,)* }
    ) => {
        /// Returns the event of a kind that this version knows.
        pub(super) fn decode_known(
            kind: EventKind,
            place: KindPlace,
            $facts: &[u8],
            $payload: &[u8],
        ) -> ReadResult<JournalEvent> {
            if kind.place() != place {
                return Err(UnreadableEvent::Malformed);
            }
            match kind {
                $(EventKind::$log => $log_event,)*
                $(EventKind::$tape => $tape_event.map(JournalEvent::Tape),)*
            }
        }
    };
}

decoders! {
    (facts, payload)
    log {
        LogOpened => log::decode_opened(facts),
        EpochStarted => log::decode_epoch(facts),
        Erased => proof::decode_erased(facts),
        LogReopened => proof::decode_reopened(facts),
        PrincipalRegistered => access::decode_registered(facts, payload),
        TokenCreated => access::decode_token(facts, payload),
        TokenRevoked => access::decode_token_revoked(facts),
        PrincipalRenamed => access::decode_renamed(facts, payload),
        RoleGiven => access::decode_role(facts),
        PrincipalDisabled => access::decode_disabled(facts),
        PrincipalEnabled => access::decode_enabled(facts),
        BudgetSet => budget::decode_set(facts, payload),
        BudgetRemoved => budget::decode_removed(facts),
        BudgetWindowOpened => budget::decode_window_opened(facts),
        BudgetReserved => budget::decode_reserved(facts),
        BudgetSettled => budget::decode_settled(facts),
        BudgetReleased => budget::decode_released(facts),
        BudgetToppedUp => budget::decode_topped_up(facts),
        BudgetSoftLimitPassed => budget::decode_soft_limit_passed(facts),
        AuxiliaryUsed => budget::decode_auxiliary_used(facts, payload),
        ScheduleCreated => schedule::decode_created(facts, payload),
        ScheduleEdited => schedule::decode_edited(facts, payload),
        SchedulePaused => schedule::decode_paused(facts),
        ScheduleResumed => schedule::decode_resumed(facts),
        ScheduleRemoved => schedule::decode_removed(facts),
        OccurrenceCreated => schedule::decode_occurrence_created(facts),
        OccurrenceStarted => schedule::decode_occurrence_started(facts),
        OccurrenceCancelRequested => schedule::decode_cancel(facts),
        OccurrenceFinished => schedule::decode_finished(facts, payload),
        OccurrenceSkipped => schedule::decode_skipped(facts),
        OccurrencesSkipped => schedule::decode_many_skipped(facts),
        SchedulesPaused => schedule::decode_many_paused(facts),
        SchedulesResumed => schedule::decode_many_resumed(facts),
        ActRefused => access::decode_refused(facts, payload),
        PageSessionBegun => access::decode_page_session(facts),
        TimeZoneSet => access::decode_time_zone(facts, payload),
        AgentSaved => log::decode_agent(facts, payload),
        AgentArchived => log::decode_agent_archived(facts),
        SessionOpened => session::decode_opened(facts, payload),
        SessionReset => session::decode_reset(facts),
        SessionRenamed => session::decode_renamed(facts, payload),
        SessionArchived => session::decode_archived(facts),
        SessionRestored => session::decode_restored(facts),
        SessionRecallSet => session::decode_recall(facts),
        GrantRevoked => approval::decode_grant_revoked(facts),
        UndoRequested => effect::decode_undo_requested(facts, payload),
        UndoFinished => effect::decode_undo_finished(facts, payload),
        EffectSettled => effect::decode_settled(facts, payload),
        SkillInstalled => skill::decode_installed(facts, payload),
        SkillEnabled => skill::decode_enabled(facts),
        SkillDisabled => skill::decode_disabled(facts),
        SkillQuarantined => skill::decode_quarantined(facts),
        SkillRemoved => skill::decode_removed(facts),
        PostureChanged => policy::decode_posture(facts, payload),
        BookmarkPlaced => session::decode_bookmark_placed(facts, payload),
        BookmarkRemoved => session::decode_bookmark_removed(facts),
        ResponseDeleted => session::decode_response_deleted(facts),
        JobStarted => job::decode_started(facts),
        JobEnded => job::decode_ended(facts),
        ShadowCounted => policy::decode_shadow(facts),
        SecretPut => vault::decode_put(facts, payload),
        SecretBound => vault::decode_bound(facts, payload),
        SecretRemoved => vault::decode_removed(facts, payload),
        VaultUnlocked => vault::decode_unlocked(facts),
        VaultPassphraseSet => vault::decode_passphrase_set(facts),
        SecretUsed => vault::decode_used(facts, payload),
        ComponentAdded => component::decode_added(facts, payload),
        ComponentRemoved => component::decode_removed(facts),
        ProjectRulesAccepted => project::decode_accepted(facts, payload),
        ProjectRulesWithdrawn => project::decode_withdrawn(facts),
        MemorySaved => memory::decode_saved(facts, payload),
        MemoryForgotten => memory::decode_forgotten(facts),
        LearningProposed => learning::decode_proposed(facts, payload),
        LearningChanged => learning::decode_changed(facts, payload),
        Compacted => compaction::decode_made(facts, payload),
        CompactionReverted => compaction::decode_reverted(facts),
        TaskEnqueued => task::decode_enqueued(facts, payload),
        TaskLeased => task::decode_leased(facts),
        TaskProgressed => task::decode_progressed(facts),
        TaskAttemptEnded => task::decode_attempt_ended(facts, payload),
        TaskCancelRequested => task::decode_cancel(facts),
        TaskRunNowRequested => task::decode_run_now(facts),
        TaskRetryRequested => task::decode_retry(facts),
        TaskDropped => task::decode_dropped(facts),
        IncidentOpened => incident::decode_opened(facts),
        IncidentRemedyStarted => incident::decode_remedy_started(facts),
        IncidentRemedyEnded => incident::decode_remedy_ended(facts),
        IncidentResolved => incident::decode_resolved(facts),
        HealingModeSet => incident::decode_mode_set(facts),
        DeliveryPlanned => delivery::decode_planned(facts, payload),
        DeliveryAttemptBegun => delivery::decode_begun(facts),
        DeliveryAttemptEnded => delivery::decode_ended(facts, payload),
    }
    tape {
        RunStarted => run::decode_started(facts, payload),
        InputReceived => run::decode_input(facts, payload),
        LoopDetected => run::decode_loop(facts),
        CancelRequested => run::decode_cancel(facts),
        RunFinished => run::decode_finished(facts, payload),
        RunHeld => run::decode_hold(facts),
        ClientToolsOffered => client_tool::decode_offered(facts, payload),
        ClientToolsCalled => client_tool::decode_called(facts, payload),
        ClientToolsAnswered => client_tool::decode_answered(facts, payload),
        ReferencesExpanded => reference::decode_expanded(facts, payload),
        BudgetReached => budget::decode_reached(facts, payload),
        ModelRequested => model::decode_requested(facts, payload),
        ModelText => model::decode_text(facts, payload),
        ModelMessage => model::decode_message(facts, payload),
        ModelAttemptAbandoned => model::decode_abandoned(facts, payload),
        ToolProposed => tool::decode_proposed(facts, payload),
        ToolDecided => tool::decode_decided(facts, payload),
        ToolStarted => effect::decode_started(facts, payload),
        ToolFinished => tool::decode_finished(facts, payload),
        ToolOutcomeUnknown => tool::decode_unknown(facts),
        ApprovalRequested => approval::decode_requested(facts, payload),
        ApprovalVoted => approval::decode_voted(facts, payload),
        ApprovalResolved => approval::decode_resolved(facts, payload),
        GrantStored => approval::decode_grant(facts, payload),
        EffectResolved => effect::decode_resolved(facts, payload),
        SoftLimitNoted => budget::decode_noted(payload),
        ModelReasoning => model::decode_reasoning(facts, payload),
        ModelSwitched => model::decode_switched(facts, payload),
        ToolOutput => effect::decode_output(facts, payload),
    }
}
