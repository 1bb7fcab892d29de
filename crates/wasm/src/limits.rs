//! What a call of a component may use up.

use std::time::Duration;

use wasmtime::{ResourceLimiter, StoreLimits, StoreLimitsBuilder};

/// Bytes of all linear memories of one call together, at most.
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
/// Files, folders, streams, clocks and secrets that one call holds at once, at most; each may be a descriptor of the
/// daemon's.
pub(crate) const HANDLES_MAX: usize = 128;
/// Requests that one call makes of other machines, at most.
pub(crate) const REQUESTS_MAX: u32 = 64;

/// What one call may use up; memory is the engine's.
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

/// Keeps a store within its limits.
pub(crate) struct CallLimiter {
    each: StoreLimits,
    /// Bytes of all memories, as far as they were asked for.
    memory_bytes: usize,
}

impl Default for CallLimiter {
    fn default() -> Self {
        let each = StoreLimitsBuilder::new()
            .memory_size(MEMORY_BYTES_MAX)
            .table_elements(TABLE_ELEMENTS_MAX)
            .instances(PARTS_MAX as usize)
            .memories(PARTS_MAX as usize)
            .tables(PARTS_MAX as usize)
            .build();
        Self { each, memory_bytes: 0 }
    }
}

impl ResourceLimiter for CallLimiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let all = self.memory_bytes.saturating_add(desired.saturating_sub(current));
        if all > MEMORY_BYTES_MAX || !self.each.memory_growing(current, desired, maximum)? {
            return Ok(false);
        }
        self.memory_bytes = all;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.each.table_growing(current, desired, maximum)
    }

    fn instances(&self) -> usize {
        self.each.instances()
    }

    fn tables(&self) -> usize {
        self.each.tables()
    }

    fn memories(&self) -> usize {
        self.each.memories()
    }
}
