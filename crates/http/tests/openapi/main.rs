//! The OpenAPI document is what the schemas say: `cargo xtask openapi` writes it, and the suite compares it.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod comments;
mod document;
mod operations;
mod routes;
mod schemas;

use std::path::Path;

/// Writes the document instead of comparing it.
const WRITES: &str = "PALYRA_WRITE_OPENAPI";

#[test]
fn the_committed_document_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    let mut made = serde_json::to_string_pretty(&document::document()).unwrap();
    made.push('\n');
    if std::env::var_os(WRITES).is_some() {
        std::fs::write(&path, made).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(committed == made, "docs/reference/openapi.json is not current: `cargo xtask openapi` writes it");
}
