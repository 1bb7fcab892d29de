//! What the facts of the log's own kinds say, and which files a payload names.
//!
//! Owns the field numbers of docs/journal-format.md, sections 2 and 5. Everything else in facts is left alone.

use crate::digest::{Hash, LogId};
use crate::protobuf::{Field, Fields, fields};

/// The log's first entry.
pub(crate) const LOG_OPENED: u16 = 0x0001;
/// A daemon started writing, or changed its key.
pub(crate) const EPOCH_STARTED: u16 = 0x0002;
/// Payloads were taken out.
pub(crate) const ERASED: u16 = 0x0003;
/// Another log goes on over the same leaves.
pub(crate) const LOG_REOPENED: u16 = 0x0004;
const RUN_STARTED: u16 = 0x0040;
const INPUT_RECEIVED: u16 = 0x0041;

/// Facts of LogOpened.
#[derive(Debug)]
pub(crate) struct LogOpened {
    pub(crate) log_id: LogId,
    pub(crate) nonce: Hash,
    pub(crate) key: Hash,
}

/// Facts of EpochStarted.
#[derive(Debug)]
pub(crate) struct EpochStarted {
    pub(crate) epoch: u32,
    pub(crate) key: Hash,
}

/// Facts of LogReopened.
#[derive(Debug)]
pub(crate) struct LogReopened {
    pub(crate) opened: LogOpened,
    pub(crate) abandoned_size: u64,
    pub(crate) abandoned_root: Hash,
    pub(crate) reason: u64,
}

/// Facts of Erased.
#[derive(Debug)]
pub(crate) struct Erased {
    pub(crate) authoriser: [u8; 16],
    pub(crate) reason: u64,
    /// First and last seq of each range.
    pub(crate) ranges: Vec<(u64, u64)>,
}

/// A file that a payload names and that lies beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedFile {
    pub(crate) index: u64,
    pub(crate) bytes: u64,
    pub(crate) sha256: Hash,
}

impl LogOpened {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        Some(Self { log_id: array(&all, 2)?, nonce: array(&all, 3)?, key: array(&all, 4)? })
    }
}

impl EpochStarted {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        Some(Self { epoch: number(&all, 2).try_into().ok()?, key: array(&all, 3)? })
    }
}

impl LogReopened {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        let opened = LogOpened { log_id: array(&all, 2)?, nonce: array(&all, 3)?, key: array(&all, 4)? };
        Some(Self {
            opened,
            abandoned_size: number(&all, 5),
            abandoned_root: array(&all, 6)?,
            reason: number(&all, 7),
        })
    }
}

impl Erased {
    /// Reads the facts of the entry `seq`; `None` also where a range is not below it.
    pub(crate) fn parse(facts: &[u8], seq: u64) -> Option<Self> {
        let all = versioned(facts)?;
        let ranges = all.iter().filter_map(|field| field.bytes(4)).map(|range| {
            let range = fields(range)?;
            let (first, last) = (number(&range, 1), number(&range, 2));
            (first <= last && last < seq).then_some((first, last))
        });
        Some(Self {
            authoriser: array(&all, 2)?,
            reason: number(&all, 3),
            ranges: ranges.collect::<Option<_>>()?,
        })
    }
}

/// Returns the number of the field that lists attachments, for kinds whose entries can have files.
pub(crate) fn attachments_field(kind: u16) -> Option<u64> {
    match kind {
        RUN_STARTED => Some(5),
        INPUT_RECEIVED => Some(2),
        _ => None,
    }
}

/// Returns the files that a payload names, or `None` where it cannot be read.
pub(crate) fn named_files(payload: &[u8], attachments: u64) -> Option<Vec<NamedFile>> {
    let mut files = Vec::new();
    for field in Fields(payload) {
        let Some(attachment) = field?.bytes(attachments) else { continue };
        let all = fields(attachment)?;
        if let Some(index) = all.iter().rev().find_map(|field| field.number(6)) {
            files.push(NamedFile { index, bytes: number(&all, 3), sha256: array(&all, 4)? });
        }
    }
    Some(files)
}

fn versioned(facts: &[u8]) -> Option<Vec<Field<'_>>> {
    fields(facts).filter(|all| number(all, 1) > 0)
}

fn number(all: &[Field<'_>], number: u64) -> u64 {
    all.iter().rev().find_map(|field| field.number(number)).unwrap_or_default()
}

fn array<const N: usize>(all: &[Field<'_>], number: u64) -> Option<[u8; N]> {
    all.iter().rev().find_map(|field| field.bytes(number))?.try_into().ok()
}
