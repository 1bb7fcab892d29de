//! What a verification found.
//!
//! Owns the values that are printed. Knows no format of printing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::digest::{Hash, LogId, hex, key_id};
use crate::fault::LogFault;

/// The outcome of one verification.
#[derive(Debug, Default)]
pub struct VerifyReport {
    /// The first fault; `None` where everything holds.
    pub fault: Option<LogFault>,
    /// How many faults there were.
    pub faults: u64,
    /// Entries read.
    pub entries: u64,
    /// The root over them.
    pub root: Hash,
    /// The name of the log, as its checkpoints say it.
    pub log: Option<String>,
    /// The format of the file, 1 or 2; zero for a bundle.
    pub format: u32,
    /// Epochs that began.
    pub epochs: u64,
    /// The newest signed head that holds.
    pub newest: Option<SignedHead>,
    /// What is known of the signer.
    pub signer: Signer,
    /// What is known of the age.
    pub freshness: LogFreshness,
    /// The first erased ranges, as they were named.
    pub erased: Vec<ErasedRange>,
    /// How many there are.
    pub erased_count: u64,
    /// Payloads compared with their commitments.
    pub payloads_checked: u64,
    /// Payloads that are sealed and for which no key was at hand.
    pub payloads_sealed: u64,
    /// Texts of the daemon compared with their names.
    pub statics: u64,
    /// Logs that ended in this one.
    pub reopened: Vec<ReopenedLog>,
    /// The runs of a bundle and how far their tapes reach; none for a database.
    pub runs: Vec<BundleRun>,
    /// Whether every run of a bundle has to have its end.
    pub completeness: RunCompleteness,
}

/// What was found, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogVerdict<'r> {
    /// Everything holds.
    Holds,
    /// Something does not.
    Faulty(&'r LogFault),
    /// Nothing contradicts, and there are payloads that could not be checked.
    Unchecked,
    /// Everything that is there holds, and the end of a run is not there.
    Unfinished,
}

/// Whether runs have to have their end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunCompleteness {
    /// Not asked: a database holds what it holds.
    #[default]
    NotAsked,
    /// Each run of a bundle has to be there to its end.
    Required,
    /// The caller knows that the run was exported before its end.
    Waived,
}

/// A run of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleRun {
    /// Its id.
    pub run: [u8; 16],
    /// The number of its last entry.
    pub last_tape_seq: u32,
    /// Whether the entry that ends it is there.
    pub finished: bool,
}

/// The newest signed head.
#[derive(Debug, Clone, Copy)]
pub struct SignedHead {
    /// Its size.
    pub size: u64,
    /// Its root.
    pub root: Hash,
    /// The newest epoch that signed it.
    pub epoch: u32,
    /// That epoch's key.
    pub key: Hash,
    /// What an entry that was read says of the time.
    pub entry_time: EntryTime,
    /// Whether the key that the caller trusts leads to it.
    pub trusted: bool,
}

/// A time that an entry says, microseconds UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryTime {
    /// Of the last entry that the head covers.
    OfHead(i64),
    /// Of the newest entry in a bundle that does not have the last one.
    OfBundle(i64),
}

/// What is known of the signer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Signer {
    /// No key was given.
    #[default]
    NotChecked,
    /// The given key leads to the newest signed head.
    Trusted,
    /// It does not.
    Foreign,
}

/// What is known of the age.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFreshness {
    /// No checkpoint was given.
    #[default]
    Unknown,
    /// The log goes on from the given checkpoint, of this size.
    Since(u64),
}

/// A range of erased entries.
#[derive(Debug, Clone, Copy)]
pub struct ErasedRange {
    /// The first entry.
    pub first: u64,
    /// The last entry.
    pub last: u64,
    /// The principal that had it done.
    pub authoriser: [u8; 16],
    /// Why, as the format numbers it.
    pub reason: u64,
    /// The entry that says so.
    pub by: u64,
}

/// A log that was given up, and gone on from under another id.
#[derive(Debug, Clone)]
pub struct ReopenedLog {
    /// The LogReopened entry.
    pub seq: u64,
    /// The log before.
    pub old_name: String,
    /// Size of the head that was given up.
    pub abandoned_size: u64,
    /// Root of the head that was given up.
    pub abandoned_root: Hash,
    /// Why, as the format numbers it.
    pub reason: u64,
}

impl VerifyReport {
    /// Returns the verdict. A fault outweighs what could not be checked.
    pub fn verdict(&self) -> LogVerdict<'_> {
        if let Some(fault) = &self.fault {
            return LogVerdict::Faulty(fault);
        }
        if self.payloads_sealed > 0 {
            return LogVerdict::Unchecked;
        }
        let ended = !self.runs.is_empty() && self.runs.iter().all(|run| run.finished);
        if self.completeness == RunCompleteness::Required && !ended {
            return LogVerdict::Unfinished;
        }
        LogVerdict::Holds
    }

    /// Returns the exit code.
    pub fn exit_code(&self) -> u8 {
        match self.verdict() {
            LogVerdict::Holds => 0,
            LogVerdict::Faulty(fault) => fault.code.number(),
            LogVerdict::Unchecked => UNCHECKED,
            LogVerdict::Unfinished => UNFINISHED,
        }
    }

    /// Takes a bundle whose run has no end for what it is: an export of a run that was still open.
    #[must_use]
    pub fn with_open_run(mut self) -> Self {
        if self.completeness == RunCompleteness::Required {
            self.completeness = RunCompleteness::Waived;
        }
        self
    }
}

impl SignedHead {
    /// Returns the key that signed it, as `--key` takes it, in the log called `name`.
    pub(crate) fn verifier_key(&self, name: &str) -> String {
        let blob = [&[ED25519][..], &self.key].concat();
        format!("{name}+{}+{}", hex(&key_id(name, &self.key)), STANDARD.encode(blob))
    }
}

/// Exit code of [`LogVerdict::Unchecked`].
const UNCHECKED: u8 = 18;
/// Exit code of [`LogVerdict::Unfinished`].
const UNFINISHED: u8 = 19;

/// Signed-note's number of the algorithm.
const ED25519: u8 = 1;

/// Returns whether a checkpoint of `log_id` may speak of the log called `name` or of one it went on from.
pub(crate) fn knows(name: &str, reopened: &[ReopenedLog], log_id: &LogId) -> bool {
    let asked = crate::note::name(log_id);
    name == asked || reopened.iter().any(|old| old.old_name == asked)
}
