//! From an event to its stored facts and payload, and back.
//!
//! Owns which field of an event is a fact and which is content: content goes to the payload and nowhere
//! else. Knows no envelope, no salt, no database. Invariant: decoding undoes encoding, and decoding without
//! the payload yields the same event with empty content. Begin at [`event::encode`].

mod decoders;
mod event;

mod actor;

mod access_entries;
mod approval_entries;
mod attachments;
pub(crate) mod budget_entries;
mod client_tool_entries;
mod reference_entries;
mod delivery_entries;
mod effect_entries;
pub(crate) mod incident_entries;
mod job_entries;
mod learning_entries;
mod log_entries;
mod memory_entries;
mod model_entries;
mod policy_entries;
mod project_entries;
mod proof_entries;
mod run_entries;
mod sampling;
mod session_entries;
mod compaction_entries;
mod component_entries;
mod skill_entries;
pub(crate) mod schedule_entries;
pub(crate) mod task_entries;
mod tool_entries;
mod vault_entries;

pub(crate) mod stored_enums;

mod field;

pub use actor::{actor_of, name_actor};
pub use event::{CodedEvent, NotStorable, decode, encode};
pub use field::MalformedEvent;

pub use log_entries::{agent_profile_from_bytes, agent_profile_to_bytes};

#[cfg(test)]
mod tests;
