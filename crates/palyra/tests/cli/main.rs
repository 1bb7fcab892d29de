//! The command line as a shell and a terminal see it: exit codes, streams, JSON, help, what is printed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

#[path = "../e2e/home.rs"]
#[allow(dead_code, reason = "the end-to-end tests use more of it")]
mod home;

mod api;
mod pty;
mod scene;

mod exit_codes;
mod bookmarks;
mod memory;
mod closed_outputs;
mod completions;
mod json;
mod json_verbs;
mod terminals;
mod approvals;
mod watched_calls;
mod prompts;
mod snapshots;
mod help_pages;
mod quoted_commands;
mod command_tips;
mod documents;
mod list_ends;
mod chat;
mod chat_sessions;
mod sessions;
mod usage;
