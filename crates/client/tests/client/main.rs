//! The client against a daemon that follows a script, over a real Unix socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod scripted_daemon;
mod signed_log;

mod finding;
mod following;
mod witnessing;
