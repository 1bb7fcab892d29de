//! The same as values, for programs.

use std::path::Path;

use serde_json::{Value, json};

use crate::check::CheckedBackup;
use crate::manifest::BackupManifest;
use crate::restore::RestoreReport;

/// Returns what a backup holds and what it lacks.
#[must_use]
pub fn created_json(folder: &Path, manifest: &BackupManifest) -> Value {
    json!({
        "folder": folder,
        "created": manifest.created,
        "program_version": manifest.program_version,
        "log_id": manifest.log,
        "entries": manifest.entries,
        "files": manifest.files.len(),
        "bytes": manifest.total_bytes(),
        "vault_key": manifest.vault_key,
        "seal_key_left_out": manifest.seal_key_left_out,
        "left_out": manifest.left_out,
    })
}

/// Returns what a check of a backup found.
#[must_use]
pub fn check_json(checked: &CheckedBackup, now_unix_us: i64) -> Value {
    let age = now_unix_us.saturating_sub(checked.manifest.created_unix_us).max(0) / 1_000_000;
    let mut value = created_json(&checked.folder, &checked.manifest);
    value["ok"] = checked.holds().into();
    value["findings"] = json!(checked.findings);
    value["age_seconds"] = age.into();
    value["signed_entries"] = checked.signed_entries.into();
    value["sealed_payloads"] = checked.sealed_payloads.into();
    value
}

/// Returns what was put back.
#[must_use]
pub fn restored_json(report: &RestoreReport) -> Value {
    let mut value = created_json(&report.state_dir, &report.manifest);
    value["config"] = json!(report.config);
    value
}
