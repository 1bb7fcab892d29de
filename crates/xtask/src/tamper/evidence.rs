//! The part of docs/evidence.md that `--write` writes.
//!
//! Owns what stands between its two marks; leaves everything around them as it is.

use std::path::Path;

use anyhow::Result;

use super::table::{self, TamperRow};
use crate::evidence_page::{self, PagePart};

const PART: PagePart = PagePart::of("tamper");

/// Writes what was found into the document.
pub(super) fn write(rows: &[TamperRow], mutations: u64, seconds: u64, tamper: &Path) -> Result<()> {
    let verifier = tamper.with_file_name("../palyra-verify").metadata();
    let section = format!(
        "\nOn {}, at `{}`, {mutations} of each, in {seconds} s; the `palyra-verify` built with it has {} bytes:\n\n{}",
        evidence_page::day()?,
        evidence_page::commit()?,
        verifier.map(|data| data.len()).unwrap_or_default(),
        table::markdown(rows),
    );
    PART.write(&section)
}
