//! The floor: the least that a durable gateway can do, as fast as it can be written.
//!
//! A bare relay that hash-chains and group-commits (WAL, `synchronous=FULL`, one writer thread) a row when it
//! accepts a question, each piece of text before it relays it (what arrives while a commit is in flight goes
//! into the next), and a row at the end. It knows no sessions, policy, recovery or clients that come back.

mod protocol;
mod writer;
mod relay;
pub mod serve;
pub mod client;

pub mod grpc_serve;
pub mod grpc_client;
