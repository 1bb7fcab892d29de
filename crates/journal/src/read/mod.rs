//! Reading: a small pool of read-only connections with deadlines, and the queries that run on it.

mod pool;

mod approvals;
mod blobs;
mod policies;
mod records;
mod components;
mod skills;
mod tapes;

pub(crate) use approvals::{
    approval, approvals, effects, last_job, next_to_expire, stored_grant, stored_grants, undos,
    waiting_approvals,
};
pub(crate) use blobs::blob;
pub(crate) use components::components;
pub(crate) use policies::{postures, shadow};
pub(crate) use pool::ReaderPool;
pub(crate) use records::{
    ids, open_runs, reset_before, run, run_by_idempotency, runs, session, session_by_key, session_texts,
    sessions,
};
pub(crate) use skills::skills;
pub(crate) use tapes::{entries, session_tape, tape};
