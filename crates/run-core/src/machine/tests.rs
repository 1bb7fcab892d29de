//! What a run does, seen from its tape: tables, properties, a second model, and every order of few inputs.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the cases that it is about")]

mod approvals;
mod attempts;
mod budgets;
mod client_calls;
mod effects;
mod ends;
mod held;
mod interleavings;
mod schedules;
mod output;
mod properties;
mod races;
mod reference;
mod references;
mod restarts;
mod rounds;
mod steering;
mod transcript;
