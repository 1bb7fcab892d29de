//! Files that come with an input: whether they may come in, what they are, and what is recorded of them.
//!
//! Begin at [`admit_files`].

mod admit_files;

pub use admit_files::{AdmitFilesError, AdmittedFiles, IncomingFile, admit_files, check_sizes};
