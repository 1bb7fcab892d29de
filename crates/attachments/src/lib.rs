//! Inputs as callers send them to sessions, and files that come with an input: whether they may come in, their types, what
//! is recorded of them, and which images a model is shown.
//!
//! Begin at [`admit_files`].

mod admit_files;
mod request_images;
pub mod session_request;

pub use admit_files::{AdmitFilesError, AdmittedFiles, IncomingFile, admit_files, check_sizes};
pub use request_images::with_images;
