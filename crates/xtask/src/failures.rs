//! Failure suites: kills, failing syncs, full disks and power cuts against a built daemon.
//!
//! Owns how their program is built and started, and where what it found is written down. What is done and what
//! must hold is in the crate `testdaemon`. Begin at [`verb`].

mod verb;
mod report;
mod evidence;

pub(crate) use evidence::write_section;
pub(crate) use verb::{
    CrashOptions, FailingSyncOptions, FullDiskOptions, PowerCutOptions, Suite, WaitingOptions, verb,
};
#[cfg(test)]
pub(crate) use verb::{GAUNTLET, SCHEDULES};
