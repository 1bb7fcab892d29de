//! OpenAI's clients, installed by name, against the surface over a clock that the test moves: what takes minutes of the
//! daemon takes none of the test.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod daemon;
mod canary_redactor;

mod client_program;
mod client_trial;

mod late_approvals;
mod leaving_clients;
mod each_client;

mod raw_request;
mod embeddings;
mod authorization;
mod tried_with;
