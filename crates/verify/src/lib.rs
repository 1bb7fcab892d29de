//! Verifies a Palyra journal without any code of the daemon that wrote it.
//!
//! Owns a second reading of docs/journal-format.md: entries, chain, tree, signatures, payloads, erasures, out of a
//! database or a bundle. Knows no other crate of ours, no network and no clock, and writes nothing.
//! Begin at [`verify_database`] and [`verify_bundle`]; what comes out is a [`VerifyReport`].

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
mod text_report;
mod json;

pub use bundle::verify_bundle;
pub use db::verify_database;
pub use fault::{FaultCode, LogFault};
pub use json::json;
pub use note::{ParseVerifierKeyError, VerifierKey};
pub use options::{KeptCheckpoint, ParseCheckpointError, ProgressFn, VerifyOptions};
pub use report::{
    BundleRun, ErasedRange, LogFreshness, LogVerdict, ReopenedLog, RunCompleteness, SignedHead, Signer,
    VerifyReport,
};
pub use sealed::{OpenKeysError, StateKeys};
pub use text_report::text_report;
