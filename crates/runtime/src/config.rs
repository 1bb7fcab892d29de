//! The configuration that governs runs, as an immutable snapshot; upkeep reads it as well, so `admin` has it.

pub use palyra_admin::runtime_config::{GatewayRuntimeConfigSnapshot, SHIPPED_INSTRUCTIONS};
pub use palyra_ports::read_tape::MAX_TAPE_ENTRIES_PER_RESPONSE;
