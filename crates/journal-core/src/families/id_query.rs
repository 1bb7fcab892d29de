//! Which ids to look for, in the families that have many rows.

use palyra_types::PrincipalId;
use palyra_types::id_name::IdFragment;

/// Where to look for ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdTable {
    /// Runs.
    Runs,
    /// Sessions.
    Sessions,
    /// Approvals.
    Approvals,
}

/// Which ids to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdQuery {
    /// Where.
    pub table: IdTable,
    /// Of this principal only; with `None`, callers check each.
    pub principal: Option<PrincipalId>,
    /// What they begin or end with.
    pub fragment: IdFragment,
    /// Keyset cursor: ids below this one.
    pub below: Option<[u8; 16]>,
    /// At most so many, capped at [`palyra_ports::read_records::RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}
