//! Nouns that several crates use, and nothing else.
//!
//! Owns ids, time, error codes, the events of the journal, and the values that travel between a
//! run, a model and a tool. Knows no disk, network, clock or randomness.
//!
//! Begin at [`event`]: whatever happened in Palyra is one of those values.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod error_class;
pub mod error_code;
pub mod id;
mod start_mends;
mod words;
pub mod id_name;
pub mod redacted;
pub mod time;

pub mod approval;
pub mod approval_terms;
pub mod digest;
pub mod effect;
pub mod path_reading;
pub mod places;
pub mod reserved_names;
pub mod shell_line;
pub mod spelling;
pub mod argument_meaning;
pub mod surface;
pub mod data_delimiter;
pub mod model;
pub mod sampling;
pub mod tool;
pub mod client_tool;

pub mod agent;
pub mod attachment;
pub mod budget;
pub mod media_type;
mod content_walk;
pub mod compaction;
pub mod component;
pub mod context_reference;
pub mod job;
pub mod learning;
pub mod memory;
pub mod posture;
pub mod project_file;
pub mod recall;
pub mod incident;
pub mod queued_task;
pub mod delivery;
pub mod run;
pub mod schedule;
pub mod session;
pub mod shadow;
pub mod skill;
pub mod vault;

pub mod event;
pub mod proof;
pub mod tape;

pub mod access;
pub mod daemon_lock;
pub mod state_dir;

pub use error_class::ErrorClass;
pub use error_code::ErrorCode;
pub use id::{
    AgentId, ApprovalId, Attempt, BudgetId, CandidateId, ChannelId, ComponentId, EffectId, Epoch, IncidentId,
    LeaseFence, LogId, MemoryId, PrincipalId, QueuedTaskId, RunId, ScheduleId, Seq, SessionId, SkillId,
    StoredGrantId, TapeSeq, TimedId, TokenId, UndoId,
};
pub use redacted::{Content, Redacted};
pub use start_mends::mend_of_start;
pub use time::{BootTime, Timestamp, UtcDay};
