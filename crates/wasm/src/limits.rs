//! What a call of a component may use up.

use std::time::Duration;

use wasmtime::{ResourceLimiter, StoreLimits, StoreLimitsBuilder};

/// Bytes of one linear memory, at most.
pub(crate) const MEMORY_BYTES_MAX: usize = 64 << 20;
/// Elements of one table, at most.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 20_000;
/// Core instances, memories and tables of one component, at most.
pub(crate) const PARTS_MAX: u32 = 32;
/// Calls that are inside a component at once; further ones wait.
pub(crate) const CALLS_MAX: u32 = 16;
/// Bytes of a component that is compiled, at most.
pub(crate) const COMPONENT_BYTES_MAX: usize = 32 << 20;
/// Bytes of a component's stack, at most.
pub(crate) const STACK_BYTES_MAX: usize = 512 << 10;
/// Bytes that a call prints, logs or answers, at most.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 20;

/// How long one call may take, waiting included.
pub(crate) const CALL_TIME_MAX: Duration = Duration::from_secs(30);
/// Requests that one call makes of other machines, at most.
pub(crate) const REQUESTS_MAX: u32 = 64;

/// What one call may use up; memory is the machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Units of work; an instruction costs about one.
    pub fuel: u64,
    /// How long it may take, waiting included.
    pub time_max: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { fuel: 20_000_000_000, time_max: CALL_TIME_MAX }
    }
}

pub(crate) fn store_limits() -> StoreLimits {
    StoreLimitsBuilder::new()
        .memory_size(MEMORY_BYTES_MAX)
        .table_elements(TABLE_ELEMENTS_MAX)
        .instances(PARTS_MAX as usize)
        .memories(PARTS_MAX as usize)
        .tables(PARTS_MAX as usize)
        .build()
}

/// Keeps a store within its limits.
pub(crate) fn limiter(limits: &mut StoreLimits) -> &mut dyn ResourceLimiter {
    limits
}
