//! The tree against RFC 6962 spelled out naively, and against its own promises.

mod model;
mod proofs;
mod stored;
