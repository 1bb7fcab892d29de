//! Secrets at rest: one sealed file for each, below a root key that lies in a file or comes from a passphrase.
//!
//! Owns the folder `vault` of the state directory, and the only places where a value is in the clear: the answers of
//! [`SecretStore::open`](palyra_ports::SecretStore::open) and [`Vault::values`]. Invariant: a value on disk opens only under its own name,
//! version, hosts and way to be sent, so that none can be put in another's place. Begin at [`Vault`].

mod vault;

mod staged;
mod root;
mod envelope;
mod files;

pub use vault::{Carried, Values, Vault};
