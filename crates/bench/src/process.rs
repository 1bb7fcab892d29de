//! The processes that are measured: how they start and end, and what the kernel says of them.

pub mod spawned;
pub mod kernel_facts;
pub mod system_calls;
pub mod daemon;
pub mod measured_daemon;
pub mod floor;
pub mod chat_client;
pub mod descriptor_limit;
pub mod held;
