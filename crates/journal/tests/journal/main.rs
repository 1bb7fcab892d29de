//! The journal from outside: its four ports, its files, and what goes wrong with them.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod opened;
mod written;

mod canaries;

mod conformance;
mod row_store;
mod first_path;

mod checkpoints;
mod costs;
mod fixture;
mod state_fixture;
mod erasures;
mod field_erasures;
mod approval_records;
mod sealed;
mod rebuilds;
mod handovers;
mod signatures;
mod rollbacks;
mod starts;

mod faults;
mod checks;
mod integrity;
mod derived;
mod family_versions;
mod busy_runs;
mod seeded_faults;
mod lost_files;
mod damage;
mod full_disk;
mod killed;
mod tampering;
