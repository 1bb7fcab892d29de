//! One run with its proofs, in a folder of files.

mod read;
mod check;
mod verify;

pub use verify::verify_bundle;
