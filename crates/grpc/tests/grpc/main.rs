//! The gRPC server over real sockets, with a real client, beside a journal in memory and a scripted model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod daemon;

mod talk;

mod raw;

mod streams;

mod files;

mod attacks_uploads;

mod session_calls;

mod approvals;

mod bad_frames;

mod strangers;

mod unknown_values;

mod credentials;

mod access;

mod unary;

mod owner_calls;

mod dispatch;

mod probes;

mod limits;

mod reflection_client;
