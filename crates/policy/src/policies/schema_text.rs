//! The text of the schema that rules are checked against.
//!
//! Owns its place in the crate; `known_words` reads the names in it.

/// The schema without the arguments of tools.
pub const SCHEMA_TEXT: &str = include_str!("../../policies/palyra.cedarschema");
