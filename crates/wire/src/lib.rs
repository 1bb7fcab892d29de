//! The schemas of the wire and of the store, and the code generated from them. No logic.
//!
//! `v1` is the public package `palyra.v1`; its services exist with the feature `grpc`. `store` holds the
//! stored forms of facts and payloads, used by the journal alone.

#[cfg(feature = "json")]
pub mod json;

#[cfg(feature = "grpc")]
pub mod bytes_codec;

pub mod operations;

pub mod short_names;

/// The public package `palyra.v1`.
#[allow(missing_docs, clippy::all, clippy::pedantic, unreachable_pub, unused_qualifications)]
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/palyra.v1.rs"));
}

/// Stored forms of facts and payloads.
#[allow(missing_docs, clippy::all, clippy::pedantic, unreachable_pub)]
pub mod store {
    include!(concat!(env!("OUT_DIR"), "/palyra.store.v1.rs"));
}

/// The descriptor set of `palyra.v1` and what it imports, for reflection and JSON.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/palyra.v1.bin"));
