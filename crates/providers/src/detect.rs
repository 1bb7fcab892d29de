//! Finds out which models could be used, without changing anything.
//!
//! Owns the table of known keys and local servers, and the reading of an explicit selection.
//! Reports presence, never values; asks the network only when told to. Begin at [`selection`].

pub mod selection;
pub mod keys;
pub mod local_servers;

pub use keys::{DetectedKey, KnownService, detect_keys};
pub use local_servers::{DetectedServer, LOCAL_SERVERS, LocalServer, detect_local_servers, probe_servers};
pub use selection::{
    ExplicitSelection, SelectModelError, SelectionError, explicit_selection, selected_model,
};
