//! Test doubles of the ports, and servers for tests to talk to.
//!
//! Owns nothing that ships. Knows the nouns, the pure core and the ports, never an adapter.
//! Begin at the double you need.

pub mod scripted_provider;

pub use scripted_provider::{Gate, Script, ScriptedProvider};
