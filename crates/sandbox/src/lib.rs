//! Programs that cannot reach what they were not given: process tiers B and C.
//!
//! A program is started by this same executable, run again as a small *keeper* that is told what to hold, holds
//! itself and its child to it, and becomes the child's parent: [`keeper::run`]. The daemon's side is
//! [`Sandbox`]. Between the two goes one socket of datagrams ([`message`]); when either end is gone, everything
//! that was started is ended.
//!
//! Invariant: what cannot be put in place is a refusal with the mechanism's name. Nothing is ever started with less
//! than its tier promises. Begin at [`Sandbox::start`](palyra_ports::ProcessSandbox::start), then [`keeper::run`].

mod only_linux;

mod message;
mod hidden_commands;

mod sandbox;
mod offer;
mod keepers;
mod scratch;
mod locked_dir;
mod spawn_blocking;
mod process;

pub mod keeper;
mod fork;
mod program_ids;
mod user_mapper;
mod mapped_mounts;
mod failure;
mod namespaces;
mod workspace;
mod mounts;
mod kept_files;
mod kept_watch;
mod reaper;
mod child;
mod landlock_rules;
mod syscall_filter;
mod allowed_calls;
mod capabilities;
mod process_limits;
mod cpu_priority;
mod scheduler_tick;
mod control_groups;
mod children;
mod memory_watch;
mod program_pages;

pub use hidden_commands::{KEEP, PROBE};
pub use program_pages::release_program_pages;
pub use sandbox::Sandbox;
pub use scheduler_tick::notify;
pub use scratch::LeftScratch;
