//! Reading approvals, stored grants and effects.

use futures::future::BoxFuture;
use palyra_types::approval::{ApprovalRecord, StoredGrantRecord};
use palyra_types::effect::{EffectRecord, UndoRequested};
use palyra_types::job::JobNumber;
use palyra_types::{ApprovalId, PrincipalId, RunId, Seq, StoredGrantId, Timestamp};

use crate::read_tape::ReadError;

/// Stored grants that hold at once, at most; giving one more is refused.
pub const STORED_GRANTS_MAX: usize = 10_000;

/// Reads what is derived from the log about calls that asked, and calls that acted. Rows of authority (approvals,
/// grants) agree with the entry they name.
pub trait ReadApprovals: Send + Sync {
    /// Returns an approval whoever it belongs to; callers check.
    fn approval(&self, approval: ApprovalId)
    -> BoxFuture<'static, Result<Option<ApprovalRecord>, ReadError>>;

    /// Returns approvals, newest first.
    fn approvals(&self, query: ApprovalQuery) -> BoxFuture<'static, Result<Vec<ApprovalRecord>, ReadError>>;

    /// Returns how many approvals wait for each principal, all at one moment; whoever has none is left out.
    fn waiting_approvals(&self) -> BoxFuture<'static, Result<Vec<(PrincipalId, usize)>, ReadError>>;

    /// Returns what is due next among those that wait: the earliest by time, at most `limit`, with their run.
    fn next_to_expire(&self, limit: usize) -> BoxFuture<'static, Result<Vec<ExpiringApproval>, ReadError>>;

    /// Returns a stored grant whoever gave it; callers check.
    fn stored_grant(
        &self,
        grant: StoredGrantId,
    ) -> BoxFuture<'static, Result<Option<StoredGrantRecord>, ReadError>>;

    /// Returns stored grants in order of id, at most [`STORED_GRANTS_MAX`]: those that are neither revoked nor used
    /// up, or all.
    fn stored_grants(
        &self,
        only: GrantFilter,
    ) -> BoxFuture<'static, Result<Vec<StoredGrantRecord>, ReadError>>;

    /// Returns effects, newest first.
    fn effects(&self, query: EffectQuery) -> BoxFuture<'static, Result<Vec<EffectRecord>, ReadError>>;

    /// Returns the number of the latest job; zero when there was none.
    fn last_job(&self) -> BoxFuture<'static, Result<JobNumber, ReadError>>;

    /// Returns the takings back that were begun and have no end, oldest first.
    fn open_undos(&self) -> BoxFuture<'static, Result<Vec<UndoRequested>, ReadError>>;
}

/// A waiting approval and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpiringApproval {
    /// The approval.
    pub approval: ApprovalId,
    /// Its run.
    pub run: RunId,
    /// When it expires.
    pub expires: Timestamp,
}

/// Which approvals to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovalQuery {
    /// For whose runs; `None` for all.
    pub principal: Option<PrincipalId>,
    /// Of this run only.
    pub run: Option<RunId>,
    /// Only those that wait, or all.
    pub only: ApprovalFilter,
    /// Keyset cursor: those whose entry is before this seq.
    pub before: Option<Seq>,
    /// At most so many, capped at [`crate::read_records::RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}

/// Which approvals to list, by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalFilter {
    /// Those that wait.
    #[default]
    Pending,
    /// Those that are decided.
    Decided,
    /// All.
    All,
}

/// Which stored grants to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GrantFilter {
    /// Neither revoked nor used up.
    #[default]
    Standing,
    /// All.
    All,
}

/// Which effects to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EffectQuery {
    /// For whose runs; `None` for all.
    pub principal: Option<PrincipalId>,
    /// Of this run only.
    pub run: Option<RunId>,
    /// Which of them.
    pub only: EffectFilter,
    /// Keyset cursor: those whose start is before this seq.
    pub before: Option<Seq>,
    /// At most so many, capped at [`crate::read_records::RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}

/// Which effects to list, by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EffectFilter {
    /// All.
    #[default]
    All,
    /// Those whose outcome nobody knows.
    Unknown,
    /// Those that changed something: of any contract but pure.
    Changing,
    /// Those that started a job whose end nobody recorded.
    OpenJobs,
    /// The one that started this job.
    Job(JobNumber),
}
