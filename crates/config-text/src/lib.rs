//! Changes of the configuration file's text: the default model and the servers of models.
//!
//! Owns that everything else in the file stays, comments too, and that a file is replaced as a whole. Does not know what a
//! configuration means: the daemon reads it. Begin at [`with_provider`].

mod default_model;
mod provider_section;
mod edit_error;
mod replace_file;

pub use default_model::{named_default, set_default, without_default};
pub use edit_error::EditConfigError;
pub use provider_section::{
    DefaultChange, ProviderSection, has_provider, provider_field, servers_with_model, with_provider,
};
pub use replace_file::{StagedFile, write_whole};
