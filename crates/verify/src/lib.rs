//! Verifies a Palyra journal without any code of the daemon that wrote it.
//!
//! Owns a second reading of docs/journal-format.md: entries, chain, tree, signatures, payloads, erasures, out of a
//! database or a bundle. Knows no other crate of ours, no network and no clock, and writes nothing.
//! Begin at [`verify_database`] and [`verify_bundle`]; what comes out is a [`Report`].

mod limits;
mod fault;
mod digest;
mod envelope;
mod protobuf;
mod facts;
mod tree;
mod note;
mod calls;
mod lineage;
mod vouch;
mod erasure;
mod files;
mod read_only;
mod sealed;
mod options;
mod report;
mod db;
mod bundle;
mod words;
mod json;

pub use bundle::verify_bundle;
pub use db::verify_database;
pub use fault::{Code, Fault};
pub use json::json;
pub use note::{ParseVerifierKeyError, VerifierKey};
pub use options::{KeptCheckpoint, Options, ParseCheckpointError, Progress};
pub use report::{
    BundleRun, Completeness, ErasedRange, Freshness, Reopened, Report, SignedHead, Signer, Verdict,
};
pub use sealed::{Keys, OpenKeysError};
pub use words::words;
