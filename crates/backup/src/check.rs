//! Checking a backup without putting it anywhere: names, sizes, digests, and the journal as `palyra-verify` reads it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use palyra_verify::{KeptCheckpoint, LogVerdict, StateKeys, VerifyOptions, VerifyReport, verify_database};

use crate::beneath::{LinkPolicy, RootFolder};
use crate::error::BackupError;
use crate::manifest::{BackupManifest, JOURNAL_FILE_NAME, MANIFEST_BYTES_MAX, MANIFEST_FILE_NAME};
use crate::source_files::digest_of;
use crate::watch::BackupWatch;

/// FindingList that are named; more are counted.
const FINDINGS_MAX: usize = 20;

/// A backup that was checked.
#[derive(Debug)]
pub struct CheckedBackup {
    /// Its folder.
    pub folder: PathBuf,
    /// What it says of itself.
    pub manifest: BackupManifest,
    /// What does not hold; empty where everything does.
    pub findings: Vec<String>,
    /// Entries of the journal that were read.
    pub entries: u64,
    /// Entries that the newest signed head covers.
    pub signed_entries: u64,
    /// Payloads that could not be checked, because their keys are not in the backup.
    pub sealed_payloads: u64,
}

impl CheckedBackup {
    /// Returns whether everything holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns the error of a backup that does not hold.
    #[must_use]
    pub fn damage(&self) -> Option<BackupError> {
        (!self.holds())
            .then(|| BackupError::Damaged { path: self.folder.clone(), findings: self.findings.clone() })
    }
}

/// What was found, as far as it is named.
#[derive(Debug, Default)]
struct FindingList {
    named: Vec<String>,
    more: usize,
}

impl FindingList {
    fn add(&mut self, what: String) {
        if self.named.len() < FINDINGS_MAX {
            self.named.push(what);
        } else {
            self.more += 1;
        }
    }

    fn into_lines(mut self) -> Vec<String> {
        if self.more > 0 {
            self.named.push(format!("and {} more", self.more));
        }
        self.named
    }
}

/// Checks the backup in a folder.
///
/// # Errors
/// [`BackupError::NotABackup`]; [`BackupError::File`]; [`BackupError::Stopped`]. A fault of the backup is a finding.
pub fn check_backup(folder: &Path, watch: &BackupWatch) -> Result<CheckedBackup, BackupError> {
    let (root, manifest) = open_backup(folder)?;
    let mut findings = FindingList::default();
    check_files(&root, &manifest, &mut findings, watch)?;
    let mut checked = CheckedBackup {
        folder: folder.to_owned(),
        manifest,
        findings: Vec::new(),
        entries: 0,
        signed_entries: 0,
        sealed_payloads: 0,
    };
    // A file that does not belong beside the journal would be read with it.
    if findings.named.is_empty() {
        check_journal(&mut checked, &mut findings);
    }
    checked.findings = findings.into_lines();
    Ok(checked)
}

/// Reads what a backup says of itself; its files are not looked at.
///
/// # Errors
/// As [`check_backup`].
pub fn read_manifest(folder: &Path) -> Result<BackupManifest, BackupError> {
    Ok(open_backup(folder)?.1)
}

/// Opens the folder of a backup and reads its manifest.
pub(crate) fn open_backup(folder: &Path) -> Result<(RootFolder, BackupManifest), BackupError> {
    let invalid = |what: String| BackupError::NotABackup { path: folder.to_owned(), what };
    let root = RootFolder::open(folder, LinkPolicy::Followed).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => invalid("it does not exist".to_owned()),
        std::io::ErrorKind::NotADirectory => invalid("it is not a folder".to_owned()),
        _ => BackupError::on("opening", folder)(error),
    })?;
    let file = root.open_file(MANIFEST_FILE_NAME);
    let file =
        file.map_err(|error| invalid(format!("its {MANIFEST_FILE_NAME} cannot be opened: {error}")))?;
    let mut bytes = Vec::new();
    let read = file.take(MANIFEST_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(BackupError::on("reading", &folder.join(MANIFEST_FILE_NAME)))?;
    if bytes.len() as u64 > MANIFEST_BYTES_MAX {
        return Err(invalid("its manifest is too large".to_owned()));
    }
    let manifest = BackupManifest::parse(&bytes).map_err(|error| invalid(error.to_string()))?;
    Ok((root, manifest))
}

/// Compares every file with what the manifest says of it, and names the files that it does not name.
fn check_files(
    root: &RootFolder,
    manifest: &BackupManifest,
    findings: &mut FindingList,
    watch: &BackupWatch,
) -> Result<(), BackupError> {
    let tree = root.walk(".").map_err(|error| BackupError::NotABackup {
        path: root.path().to_owned(),
        what: format!("it cannot be listed: {error}"),
    })?;
    let named: BTreeMap<&str, u64> =
        manifest.files.iter().map(|file| (file.name.as_str(), file.bytes)).collect();
    for other in &tree.others {
        findings.add(format!("{other} is not a file"));
    }
    for found in tree.files.iter().filter(|found| found.name != MANIFEST_FILE_NAME) {
        match named.get(found.name.as_str()) {
            None => findings.add(format!("{} is not in the manifest", found.name)),
            Some(bytes) if *bytes != found.bytes => {
                findings.add(format!("{} has {} bytes instead of {bytes}", found.name, found.bytes));
            }
            Some(_) => {}
        }
    }
    if !findings.named.is_empty() {
        return Ok(());
    }
    let mut done = 0;
    let total = manifest.total_bytes();
    for file in &manifest.files {
        let path = root.path().join(&file.name);
        match root.open_file(&file.name) {
            Err(error) => findings.add(format!("{} cannot be opened: {error}", file.name)),
            Ok(opened) => {
                let (sha256, bytes) = digest_of(opened, &path, file.bytes, watch)?;
                if bytes != file.bytes || sha256 != file.sha256 {
                    findings.add(format!("{} is not the file that was backed up", file.name));
                }
            }
        }
        done += file.bytes;
        (watch.progress)(done, total);
    }
    Ok(())
}

/// Verifies the copy of the journal, and that it is the one that the manifest speaks of.
fn check_journal(checked: &mut CheckedBackup, findings: &mut FindingList) {
    let manifest = &checked.manifest;
    let since: Option<KeptCheckpoint> = match manifest.checkpoint.as_deref().map(str::parse).transpose() {
        Ok(since) => since,
        Err(error) => return findings.add(format!("the signed head in the manifest: {error}")),
    };
    let keys = StateKeys::open(&checked.folder.join("state")).ok();
    let mut options = VerifyOptions { since, keys, ..VerifyOptions::default() };
    let report = verify_database(&checked.folder.join(JOURNAL_FILE_NAME), &mut options);
    checked.entries = report.entries;
    checked.signed_entries = report.newest.map_or(0, |head| head.size);
    checked.sealed_payloads = report.payloads_sealed;
    match report.verdict() {
        LogVerdict::Holds | LogVerdict::Unchecked => {}
        LogVerdict::Faulty(fault) => findings.add(format!("the journal does not verify: {}", fault.what)),
        LogVerdict::Unfinished => findings.add("the journal has no end".to_owned()),
    }
    let log = log_of(&report);
    if report.fault.is_none() && (report.entries != manifest.entries || log != manifest.log) {
        let found = format!("log {log} with {} entries", report.entries);
        let named = format!("log {} with {}", manifest.log, manifest.entries);
        findings.add(format!("the journal is {found}; the manifest names {named}"));
    }
}

/// Returns the id in the name of a log, `palyra.log/ID`.
fn log_of(report: &VerifyReport) -> String {
    let name = report.log.as_deref().unwrap_or_default();
    name.rsplit('/').next().unwrap_or_default().to_owned()
}
