//! Tools that start programs: one command, jobs in the background, and git for reading.
//!
//! Owns how a command is read, bound and told; not how it is held, which is the work of a
//! [`ProcessSandbox`](palyra_ports::ProcessSandbox). Invariant: what runs is what was looked at when the call was
//! prepared, or the call fails. Begin at [`CommandTools`].

mod commands;

mod run_command;
mod jobs;
mod git;
mod read_output;
mod output_handle;

mod job_table;
mod job_log;
mod call;
mod settings;
mod tapes;

mod named_files;
mod program;
mod opened;
mod plan;
mod reach;
mod quoting;
mod preview;
mod pipe_end;
mod lone_operator;
mod running;
mod protection;
mod head_tail_buffer;
mod output_buffer;
mod failure;

pub use commands::{CommandTools, tool_specs};
pub use job_log::ReadJobs;
pub use job_table::Jobs;
pub use protection::KeptStore;
pub use settings::CommandSettings;
pub use tapes::Tapes;
