//! What all wire formats over HTTP share: the way to a server, the law of streams, and how failures are read.
//!
//! Owns sockets, credentials, timeouts and every limit on what a server may send. Knows no vendor: what a
//! request looks like and what an answer means is a `WireFormat`'s affair.
//! Begin at `exchange`.

pub(crate) mod exchange;
pub(crate) mod features;
pub(crate) mod sampling;
pub(crate) mod answer_reader;
pub(crate) mod sse;

pub(crate) mod link;
pub mod server;
pub(crate) mod http_client;

pub(crate) mod failure;
pub(crate) mod retry_after;

pub(crate) mod images;
pub(crate) mod windows;

pub(crate) mod attachments;
pub(crate) mod schema;
pub(crate) mod names;
pub(crate) mod continuation;

pub use server::{LinkPrivacy, ProviderConfigError, SecretHost, Timeouts, secret_host};
