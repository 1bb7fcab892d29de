//! One table per stored enum. A number that is not in its table was written by a newer version.

use palyra_types::access::{AccessScope, CredentialKind, PrincipalKind, Role};
use palyra_types::approval::{ApprovalState, ApproverPresence, AtExpiry, SeparationRule};
use palyra_types::budget::{
    AuxiliaryPurpose, ChargeBasis, LimitAction, LimitMeasure, PurseKind, TaskClass, TopUpReason, WindowKind,
};
use palyra_types::compaction::{CompactionCause, SummaryAuthor, SummaryRefusal};
use palyra_types::context_reference::{ReferenceError, ReferenceKind};
use palyra_types::delivery::{DeliveryEnd, DeliveryTargetKind};
use palyra_types::effect::{EffectResolution, OutputRest};
use palyra_types::event::{
    ContextSource, DropReason, HeldCause, LoopGuard, NextAttempt, PassOverCause, RoutingReason,
    UnknownOutcomeCause,
};
use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentResolution, IncidentSeverity, RemedyKind, RemedyOutcome,
    SelfHealingMode,
};
use palyra_types::learning::{CandidateAuthor, CandidateKind, CandidateState, HoldReason};
use palyra_types::memory::{ForgetCause, MemoryAuthor};
use palyra_types::model::{FinishReason, ModelFailureClass, UsageSource};
use palyra_types::posture::Posture;
use palyra_types::project_file::ProjectFileStanding;
use palyra_types::proof::{ErasureReason, ReopenReason};
use palyra_types::queued_task::{AttemptEnd, TaskKind};
use palyra_types::recall::{RecallLevel, RecallSwitch};
use palyra_types::run::{CancelReason, InputDelivery, RunLifecycleState, Surface, TerminationReason};
use palyra_types::sampling::{AnswerVerbosity, CallsPerAnswer, ReasoningEffort};
use palyra_types::schedule::{OccurrenceCause, OccurrenceOutcome, OverlapRule, PauseCause};
use palyra_types::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Isolation, Parallelism, ToolConduct, ToolExecutor,
    ToolVerdict,
};
use palyra_types::vault::UnlockOutcome;
use palyra_wire::store;

use super::field::{ReadResult, UnreadableEvent};

/// An enum with a stored number for each variant; zero is one only of those that older versions did not
/// write, and means what they meant.
pub(crate) trait StoredEnum: Sized {
    fn to_stored(self) -> i32;
    fn from_stored(number: i32) -> ReadResult<Self>;
}

macro_rules! stored_enum {
    ($domain:ty, $stored:ident, $($variant:ident)+) => {
        stored_enum! { @impl $domain, $stored, [$($variant)+]
            Ok(store::$stored::Unspecified) => Err(UnreadableEvent::Malformed), }
    };
    // Zero is a variant of its own.
    (with zero $domain:ty, $stored:ident, $($variant:ident)+) => {
        stored_enum! { @impl $domain, $stored, [$($variant)+] }
    };
    (@impl $domain:ty, $stored:ident, [$($variant:ident)+] $($unspecified:tt)*) => {
        impl StoredEnum for $domain {
            fn to_stored(self) -> i32 {
                (match self { $(Self::$variant => store::$stored::$variant,)+ }) as i32
            }

            fn from_stored(number: i32) -> ReadResult<Self> {
                match store::$stored::try_from(number) {
                    $(Ok(store::$stored::$variant) => Ok(Self::$variant),)+
                    $($unspecified)*
                    Err(_) => Err(UnreadableEvent::Newer),
                }
            }
        }
    };
}

stored_enum!(ReferenceKind, ReferenceKind, File Folder Diff Staged Url Memory Run);
stored_enum!(
    ReferenceError, ReferenceError,
    TooManyReferences InvalidTarget InvalidLines NotFound OutsideOfWorkspace LooksLikeASecret Symlink IsBinary
    Unsuitable TooLarge Denied OverBudget TimedOut Cancelled Unavailable Failed
);
stored_enum!(with zero InputDelivery, InputDelivery, Queue Steer Interrupt);
stored_enum!(with zero NextAttempt, NextAttempt, None SameModel NextModel ShorterContext);
stored_enum!(with zero ApproverPresence, Approvers, Inbox Nobody);
stored_enum!(with zero ToolConduct, Conduct, Direct Prepared Question);
stored_enum!(with zero ApprovalRiskLevel, Risk, Low Medium High Critical);
stored_enum!(with zero SeparationRule, Separation, AnyPerson AnotherPerson);
stored_enum!(with zero AtExpiry, AtExpiry, Deny Park);
stored_enum!(with zero OutputRest, OutputRest, Follows InOutcome);
stored_enum!(with zero ProjectFileStanding, ProjectFileStanding, Data Accepted);
stored_enum!(RecallSwitch, RecallSwitch, On Off);
stored_enum!(RecallLevel, RecallLevel, Session Channel Agent Configuration);
stored_enum!(ApprovalState, ApprovalState, Pending Approved Denied Expired Withdrawn);
stored_enum!(EffectResolution, Resolution, Happened DidNotHappen Retry);
stored_enum!(ErasureReason, ErasureReason, Request Retention LeakedSecret);
stored_enum!(ReopenReason, ReopenReason, RollbackAccepted Restored KeyLost);
stored_enum!(Surface, Surface,
    LocalSocket Tcp Http Console Openai Schedule Background Channel Quic);
stored_enum!(with zero PrincipalKind, PrincipalKind, Person ChannelAccount Service Worker);
stored_enum!(Role, Role, Owner Member Approver Viewer Worker);
stored_enum!(with zero CredentialKind, CredentialKind, Program PersonSession);
stored_enum!(AccessScope, Scope, Runs RunsRead Approve Openai Memory Schedules Channel Metrics Admin);
stored_enum!(HeldCause, HeldCause, LogReopened);
stored_enum!(LoopGuard, LoopGuard, SameResult SameFailure Restarts);
stored_enum!(CancelReason, CancelReason, User TimeLimit Interrupted ClientToolExpired);
stored_enum!(RunLifecycleState, RunState, Pending InProgress Done Cancelled Failed);
stored_enum!(TerminationReason, Termination,
    FinalAnswer Cancelled TimeLimit TurnLimit ToolLimit ProviderError ContextExhausted ContentPolicy
    LoopStopped InternalError Interrupted OverBudget);
stored_enum!(ReasoningEffort, ReasoningEffort, None Minimal Low Medium High ExtraHigh Max);
stored_enum!(AnswerVerbosity, AnswerVerbosity, Low Medium High);
stored_enum!(CallsPerAnswer, CallsPerAnswer, One Several);
stored_enum!(UnlockOutcome, UnlockOutcome, Opened Wrong);
stored_enum!(MemoryAuthor, MemoryAuthor, Person Model);
stored_enum!(ForgetCause, ForgetCause, Person Model Ended);
stored_enum!(CandidateKind, CandidateKind, Fact Preference Procedure);
stored_enum!(CandidateState, CandidateState,
    Proposed PendingReview Applied Accepted Edited Rejected Superseded Undone);
stored_enum!(HoldReason, HoldReason, Unsure Tainted Sensitive ByKind);
stored_enum!(CandidateAuthor, CandidateAuthor, Rules Model);
stored_enum!(WindowKind, BudgetWindow, Run Hour Day Week Month Endless);
stored_enum!(PurseKind, BudgetPurseKind, Total Principal Agent Session Channel Schedule);
stored_enum!(LimitAction, BudgetAction, Park Ask Refuse);
stored_enum!(TaskClass, BudgetTaskClass, Interactive Background Auxiliary);
stored_enum!(ChargeBasis, BudgetChargeBasis, ReportedUsage Reservation LostRequest RefusedRequest);
stored_enum!(TopUpReason, BudgetTopUpReason, GoOnOnce Person);
stored_enum!(LimitMeasure, BudgetMeasure, Tokens Money Requests);
stored_enum!(AuxiliaryPurpose, AuxiliaryPurpose, Summary Embeddings Reflection);
stored_enum!(SummaryAuthor, SummaryAuthor, Model Fallback);
stored_enum!(CompactionCause, CompactionCause, Person Window Refused Idle);
stored_enum!(SummaryRefusal, SummaryRefusal,
    NoAnswer NotInForm TooLong PinMissing OpenCallMissing PlanItemMissing DecisionMissing DecisionInvented
    SourceTooLarge OverBudget);
stored_enum!(UsageSource, UsageSource, Reported Estimated);
stored_enum!(DropReason, DropReason, Window Limit);
stored_enum!(ContextSource, ContextSource,
    Instructions Agent Skills Tools History Rounds Input ProjectRules ProjectFiles Memory Summary References
    Preferences Channel);
stored_enum!(RoutingReason, RoutingReason,
    OnlyChoice ConfiguredOrder Cheapest Fastest Degraded Unpriced WithinBudgets NoBudget LastResort);
stored_enum!(PassOverCause, PassOverCause,
    NoImages NoTools NoStructuredOutput NoReasoning ContextTooSmall Unavailable NoPrice OverBudget);
stored_enum!(FinishReason, Finish, Stop Length ToolCalls ContentFilter Other);
stored_enum!(ModelFailureClass, ModelFailureClass,
    Auth Permission RateLimit Quota Transient Permanent ContextExceeded ContentPolicy Malformed Network
    Timeout);
stored_enum!(ToolVerdict, Verdict, Allow Ask Deny);
stored_enum!(Posture, Posture, AlwaysAllow Ask Disabled);
stored_enum!(DecisionReason, DecisionReason,
    Permitted NoRulePermits UnknownTool InvalidArguments BudgetExhausted NeedsApproval NoApprovalChannel Forbidden
    Disabled SkillForbids PolicyError SecretInArguments PlaceholderInArguments Granted Approved ApprovalDenied
    ApprovalExpired Drifted NotPossible);
stored_enum!(EffectContract, Contract, Pure Opaque Keyed Probe Local);
stored_enum!(Parallelism, Overlap, Parallel Exclusive);
stored_enum!(ToolExecutor, Executor, Internal Process Wasm);
stored_enum!(Isolation, Isolation,
    DescriptorRelative ConfinedWithoutNamespaces ConfinedUncounted Confined IsolatedUncounted Isolated
    Component);
stored_enum!(TaskKind, TaskKind,
    Compaction Reflection SessionCleanup JournalCare Backup ScheduledRun OutboxSend Notify);
stored_enum!(DeliveryTargetKind, DeliveryTargetKind, Command Webhook Desktop);
stored_enum!(DeliveryEnd, DeliveryEnd, Sent Failed Unknown GivenUp);
stored_enum!(AttemptEnd, TaskAttemptEnd,
    Completed Stopped Failed InDoubt Panicked NoHeartbeat ProcessEnded);
stored_enum!(OverlapRule, ScheduleOverlapRule, Forbid Queue Replace);
stored_enum!(PauseCause, SchedulePauseCause, Person Failures Refused);
stored_enum!(OccurrenceCause, ScheduleOccurrenceCause, Due Missed Manual);
stored_enum!(OccurrenceOutcome, ScheduleOccurrenceOutcome, Succeeded Failed Cancelled Replaced);
stored_enum!(HealingDomain, HealingDomain,
    Runs Tasks Approvals Artifacts Channels Providers Journal Sandbox Workers Browser);
stored_enum!(SelfHealingMode, HealingMode, Disabled ObserveOnly Auto);
stored_enum!(IncidentSeverity, IncidentSeverity, Notice Warning Critical);
stored_enum!(IncidentCause, IncidentCause,
    RunNoProgress RunNotDriven TaskNoProgress TaskNotTaken ApproverUnreachable ApprovalExpiryMissed
    ApprovalNotContinued ArtifactDamaged ConnectorDown ProviderPaused WalTooLarge DiskLow ProjectionDiffers
    EntryDamaged ScratchLeft WorkerSilent BrowserSilent SpareFiles);
stored_enum!(RemedyKind, RemedyKind,
    ResumeRun CancelRun RequeueTask WakeQueue ExpireApprovals RepairArtifact RestartConnector ReopenProvider
    TruncateWal FreeSpace RebuildProjections RevokeWorker RestartBrowser);
stored_enum!(RemedyOutcome, RemedyOutcome, Helped DidNotHelp Failed Interrupted);
stored_enum!(IncidentResolution, IncidentResolution, ByItself Remedied NotWatched);
stored_enum!(UnknownOutcomeCause, UnknownOutcome, Restart Deadline Cancelled ExecutorLost);
