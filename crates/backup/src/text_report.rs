//! What a person reads of a backup, as lines.

use crate::check::CheckedBackup;
use crate::manifest::{BackupManifest, VaultKeyState};
use crate::restore::RestoreReport;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// Returns what a backup holds and what it lacks.
#[must_use]
pub fn created_lines(manifest: &BackupManifest) -> Vec<String> {
    let mut lines = vec![format!(
        "{} entries of log {}, {} files, {}",
        manifest.entries,
        manifest.log,
        manifest.files.len(),
        size_text(manifest.total_bytes())
    )];
    lines.extend(key_line(manifest.vault_key).map(str::to_owned));
    if manifest.seal_key_left_out {
        let line = "the journal has sealed payloads, and the backup lacks their key: keep keys/root.key elsewhere, or use \
                    --with-key";
        lines.push(line.to_owned());
    }
    if let Some(first) = manifest.left_out.first() {
        let more = manifest.left_out.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        lines.push(format!("not in the backup, because they are not regular files: {first}{more}"));
    }
    lines
}

/// Returns what a check of a backup found.
#[must_use]
pub fn check_lines(checked: &CheckedBackup, now_unix_us: i64) -> Vec<String> {
    let manifest = &checked.manifest;
    let mut lines = vec![format!(
        "made {} ({} ago) by version {}",
        manifest.created,
        age_text(now_unix_us.saturating_sub(manifest.created_unix_us)),
        manifest.program_version
    )];
    lines.extend(created_lines(manifest));
    if checked.holds() {
        lines.push(format!(
            "the journal verifies: {} entries, the first {} signed",
            checked.entries, checked.signed_entries
        ));
        if checked.sealed_payloads > 0 {
            let sealed = checked.sealed_payloads;
            lines.push(format!(
                "{sealed} sealed payloads were not checked, because their keys are not in the backup"
            ));
        }
    }
    lines
}

/// Returns what there is to do after a backup was put back.
#[must_use]
pub fn restored_lines(report: &RestoreReport) -> Vec<String> {
    let manifest = &report.manifest;
    let mut lines = vec![
        format!("{} entries of log {}, backed up {}", manifest.entries, manifest.log, manifest.created),
        "the next start begins a new log over these entries; runs that were open wait for you".to_owned(),
        format!("to use it: `palyra --state-dir {0} status`, or PALYRA_HOME={0}", report.state_dir.display()),
    ];
    match manifest.vault_key {
        VaultKeyState::KeyFileLeftOut => {
            let line = "the vault is locked: before the start put its key file back as vault/root.key, or move the folder vault away and store \
                 the secrets again after it";
            lines.push(line.to_owned());
        }
        VaultKeyState::Passphrase => {
            lines.push("after the start, `palyra admin vault unlock` opens the vault".to_owned());
        }
        VaultKeyState::NoSecrets | VaultKeyState::KeyFileIncluded => {}
    }
    if manifest.seal_key_left_out {
        lines.push("put keys/root.key back before the start: the journal has sealed payloads".to_owned());
    }
    if let Some(config) = &report.config {
        lines.push(format!(
            "the configuration of the backup is in {}; copy the files that you want",
            config.display()
        ));
    }
    lines
}

fn key_line(vault_key: VaultKeyState) -> Option<&'static str> {
    match vault_key {
        VaultKeyState::NoSecrets => None,
        VaultKeyState::Passphrase => Some("the vault opens with its passphrase, which is not in the backup"),
        VaultKeyState::KeyFileLeftOut => {
            Some("the backup lacks the key of the vault: keep vault/root.key elsewhere, or use --with-key")
        }
        VaultKeyState::KeyFileIncluded => {
            Some("the backup contains the key of the vault: anyone who has it can open the secrets")
        }
    }
}

/// Returns a span as the largest unit that it fills.
#[must_use]
pub fn age_text(micros: i64) -> String {
    let seconds = micros.max(0) / 1_000_000;
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{ending}")
}

fn size_text(bytes: u64) -> String {
    match bytes {
        0..KIB => format!("{bytes} bytes"),
        KIB..MIB => format!("{} KiB", bytes / KIB),
        MIB..GIB => format!("{} MiB", bytes / MIB),
        _ => format!("{} GiB", bytes / GIB),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_says_what_it_lacks() {
        let mut manifest = BackupManifest::new(0, "1");
        assert_eq!(created_lines(&manifest).len(), 1);
        manifest.vault_key = VaultKeyState::KeyFileLeftOut;
        manifest.seal_key_left_out = true;
        manifest.left_out = vec!["workspaces/a/link".to_owned(), "workspaces/b".to_owned()];
        let text = created_lines(&manifest).join("\n");
        for part in ["lacks the key of the vault", "keys/root.key", "workspaces/a/link and 1 more"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        manifest.vault_key = VaultKeyState::KeyFileIncluded;
        assert!(created_lines(&manifest).join("\n").contains("contains the key of the vault"));
    }

    #[test]
    fn an_age_has_one_unit() {
        for (seconds, text) in [(-5, "0 seconds"), (1, "1 second"), (120, "2 minutes"), (90_000, "1 day")] {
            assert_eq!(age_text(seconds * 1_000_000), text);
        }
    }
}
