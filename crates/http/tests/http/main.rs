//! The HTTP server over real sockets, with a client that writes its bytes itself, beside a journal in memory and a scripted
//! model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod daemon;

mod talk;

mod calls;

mod access;

mod events;

mod streams;

mod downloads;

mod gate;

mod proxies;

mod bad_input;

mod limits;

mod mounted;

mod probes;

mod reference;

mod tls;
