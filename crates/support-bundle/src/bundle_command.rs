//! Writing a bundle for a person or a program: the list of its parts first, then the file.

use std::path::PathBuf;

use palyra_terminal::{NoteKind, Output};
use serde_json::json;

use crate::error::BundleError;
use crate::support_bundle::{BundleSources, SupportBundle};

/// Where a bundle goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleTarget {
    /// The file; without one its name has the time.
    pub file: Option<PathBuf>,
    /// Whether the list is printed as JSON.
    pub json: bool,
}

/// Gathers a bundle, lists it and writes it.
///
/// # Errors
/// [`BundleError`].
pub async fn write_bundle(
    output: &Output,
    sources: BundleSources<'_>,
    target: BundleTarget,
) -> Result<(), BundleError> {
    let taken = target.file.as_ref().filter(|file| file.symlink_metadata().is_ok());
    if let Some(path) = taken {
        return Err(BundleError::FileExists { path: path.clone() });
    }
    let bundle = SupportBundle::gather(sources).await?;
    let file = target.file.unwrap_or_else(|| bundle.usual_name());
    let shown = file.display().to_string();
    if target.json {
        let size = bundle.write(&file)?;
        let report = json!({ "file": shown, "file_bytes": size, "contents": bundle.contents() });
        return Ok(output.json(&report)?);
    }
    bundle.lines().iter().try_for_each(|line| output.line(line))?;
    bundle.write(&file)?;
    output.note(NoteKind::Good, &format!("written to {shown}; look at it before you send it"));
    Ok(())
}
