//! The real programs over real sockets: what the README promises, as a person would try it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod home;
mod asked;
mod caller;
#[path = "../cli/pty.rs"]
#[allow(dead_code, reason = "the tests of terminals use more of it")]
mod pty;

mod first_minute;
mod openai_server;
mod three_clients;
mod sessions_under_fire;
mod exit_codes;
mod ids;
mod interrupts;
mod daemon_life;
mod waiting;
mod chat;
mod lists;
mod models;
mod own_model;
mod tcp;
mod one_daemon;
mod bad_configuration;
mod damaged_journal;
mod doctored_journal;
mod planted_faults;
mod rebuild_offline;
mod bad_providers;
mod bad_input;
mod config_verbs;
mod config_reload;
mod drain_on_term;
mod systemd_notices;
mod config_providers;
mod failover;
mod signed_thoughts;
mod attachments;
mod attacks_keys;
mod attacks_files;
mod redaction;
mod fitting_answers;
mod first_tasks;
mod fitting_mends;
mod branches;
mod second_terminal;
mod proofs;
mod erasure;
mod approvals;
mod approval_races;
mod grants;
mod undo;
mod policy_files;
mod skills;
mod vault;
mod attacks_vault;
mod attacks_writes;
mod attacks_places;
mod attacks_credentials;
mod attacks_disks;
mod attacks_words;
mod commands;
mod kept;
mod leavings;
mod read_only_folders;
mod sentences;
mod isolation;
mod replaced_root;
mod components;
mod web_server;
mod fetches;
mod bound_hosts;
mod principals;
mod attacks_fetches;
mod questions;
