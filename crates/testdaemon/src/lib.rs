//! Failure suites against the real daemon, and the test daemon they disturb.
//!
//! Owns tools that ship nowhere, the faults (kills, I/O errors, full disks, power cuts) and what must hold after
//! them. Knows the daemon as its clients do: nothing here reads the journal's tables.
//! Begin at the suite you need; `palyra-failures` carries them out.

pub mod tools;
pub mod tool_setup;

pub mod keyed;
mod loopback_server;

pub mod script;

pub mod test_home;
pub mod watch;
mod daemon_restarts;
mod person;

mod acknowledged;
pub mod verdict;

pub mod strace;
mod tally;

pub mod crash;

pub mod gauntlet;

pub mod commands;

pub mod schedules;

pub mod task_queue;

pub mod waiting;

pub mod failing_sync;

pub mod full_disk;

pub mod power_cut;

pub mod report;
