//! Reading: a small pool of read-only connections with deadlines, and the queries that run on it.

mod pool;

mod blobs;
mod records;
mod tapes;

pub(crate) use blobs::blob;
pub(crate) use pool::ReaderPool;
pub(crate) use records::{
    open_runs, reset_before, run, run_by_idempotency, runs, session, session_by_key, sessions,
};
pub(crate) use tapes::{entries, session_tape, tape};
