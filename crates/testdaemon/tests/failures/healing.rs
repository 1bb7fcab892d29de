//! Faults from outside: self-healing finds each within its window, mends it in `auto`, shows the same remedy in `observe_only`
//! and performs nothing, and leaves everything as it is in `disabled`.
//!
//! A full disk needs a file system of its own: it is a suite of `palyra-failures`.

mod artifact;
mod commands;
mod left_lease;
mod projection;
mod provider;
mod stuck_daemon;
mod three_modes;

/// The journal has room for endings only.
#[test]
fn a_full_disk_is_mended_by_freeing_what_may_go_and_nothing_else() {
    crate::suite(&["healing-disk", "journal"]);
}

#[test]
fn scratch_space_that_is_left_on_a_low_disk_is_freed_and_nothing_else() {
    crate::suite(&["healing-disk", "sandbox"]);
}

#[test]
fn native_code_and_older_backups_on_a_low_disk_are_freed_and_nothing_else() {
    crate::suite(&["healing-disk", "artifacts"]);
}
