//! Which approvals, stored grants and effects to read; `journal-core` reads them.

use palyra_types::job::JobNumber;
use palyra_types::{PrincipalId, RunId, Seq};

/// Stored grants that hold at once, at most; giving one more is refused.
pub const STORED_GRANTS_MAX: usize = 10_000;

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
