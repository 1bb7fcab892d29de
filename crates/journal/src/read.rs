//! Reading: a small pool of read-only connections with deadlines, and the queries that run on it.

mod pool;

mod blobs;
mod row_reads;
mod tapes;

pub(crate) use blobs::blob;
pub(crate) use pool::ReaderPool;
pub(crate) use row_reads::{read_rows, run_query};
pub(crate) use tapes::{entries, session_tape, tape};
