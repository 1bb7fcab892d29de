//! Deliveries to a real HTTP server, checked by another implementation of the signature.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod webhooks;
