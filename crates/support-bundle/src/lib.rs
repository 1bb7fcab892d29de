//! A support bundle: what helps to find a fault, in one archive, without conversations and without secrets.
//!
//! Owns the parts of a bundle, how each is cleaned, and the form of the archive. Reads the state directory without its
//! databases, asks a daemon that runs and starts none. Invariants: records are rendered field by field, so a field that is
//! new is left out until it is named here; every text of a part went through a [`TextCleaner`], which knows the values of
//! this environment and of the configuration that are secret by their name.
//!
//! Begin at [`write_bundle`], then [`SupportBundle::gather`].

mod error;
mod bundle_part;

mod known_secrets;
mod text_cleaner;

mod config_values;
mod state_files;
mod log_lines;
mod machine;
mod daemon_records;

mod archive;
mod support_bundle;
mod bundle_command;

pub use bundle_command::{BundleTarget, write_bundle};
pub use bundle_part::{BundlePart, LeftOut};
pub use error::BundleError;
pub use support_bundle::{BundleSources, SupportBundle};
pub use text_cleaner::TextCleaner;
