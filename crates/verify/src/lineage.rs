//! Whose log it is at each entry: log ids, epochs and their keys.
//!
//! Owns the rules of docs/journal-format.md, section 2, on LogOpened, EpochStarted and LogReopened. Knows no
//! chain and no tree; whether a key may sign is decided in `vouch`. Begin at [`Lineage::entry`].

use std::collections::HashMap;

use crate::digest::{self, Hash, IdGeneration, LogId};
use crate::envelope::Envelope;
use crate::facts::{self, EpochSealing, EpochStarted, LogOpened, LogReopened};
use crate::fault::{FaultCode, FaultCount};
use crate::limits::{EPOCHS_MAX, REPORTED_ITEMS_MAX};
use crate::note;
use crate::report::ReopenedLog;

/// An epoch of the present log.
#[derive(Debug)]
pub(crate) struct Epoch {
    pub(crate) number: u32,
    pub(crate) key: Hash,
    /// Whether the log id or a vouched-for key vouches for it.
    pub(crate) vouched: bool,
    /// Whether the key that the caller trusts leads to it.
    pub(crate) trusted: bool,
}

/// One log: what lies between LogOpened or LogReopened and the next LogReopened.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) log_id: LogId,
    pub(crate) name: String,
    pub(crate) generation: IdGeneration,
    pub(crate) epochs: Vec<Epoch>,
    by_key_id: HashMap<[u8; 4], Vec<usize>>,
    /// Its first key, until the EpochStarted with it was seen.
    first_key: Option<Hash>,
    epoch: u32,
    /// The first entry of a run.
    pub(crate) first_run: Option<u64>,
    /// Signed heads that hold.
    pub(crate) heads: u64,
    /// Heads that are stored, whether they hold or not.
    pub(crate) stored: u64,
}

impl Log {
    fn open(opened: &LogOpened, generation: IdGeneration, epoch: u32) -> Self {
        Self {
            log_id: opened.log_id,
            name: note::name(&opened.log_id),
            generation,
            epochs: Vec::new(),
            by_key_id: HashMap::new(),
            first_key: Some(opened.key),
            epoch,
            first_run: None,
            heads: 0,
            stored: 0,
        }
    }

    /// Returns the places of the epochs whose keys have this id.
    pub(crate) fn with_key_id(&self, key_id: [u8; 4]) -> &[usize] {
        self.by_key_id.get(&key_id).map_or(&[], Vec::as_slice)
    }

    fn start_epoch(&mut self, number: u32, key: Hash, first: FirstEntry) {
        self.epoch = number;
        let key_id = digest::key_id(&self.name, &key);
        self.by_key_id.entry(key_id).or_default().push(self.epochs.len());
        self.epochs.push(Epoch { number, key, vouched: first == FirstEntry::Yes, trusted: false });
    }

    /// Returns what is missing once the log has ended.
    pub(crate) fn missing_head(&self) -> Option<u64> {
        self.first_run.filter(|_| self.stored == 0 && self.generation == IdGeneration::Second)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstEntry {
    Yes,
    No,
}

/// The logs of a file, in order; only the present one is kept.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    log: Option<Log>,
    epochs: usize,
    /// What the newest epoch says of its payloads.
    sealing: EpochSealing,
    /// The first entry of a run of a log that ended without a stored head.
    unsigned: Option<u64>,
    /// What earlier logs of the file were called, with where each ended.
    pub(crate) reopened: Vec<ReopenedLog>,
}

impl Lineage {
    pub(crate) fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    pub(crate) fn log_mut(&mut self) -> Option<&mut Log> {
        self.log.as_mut()
    }

    /// Returns the first entry of a run in a log that should have a stored head and has none.
    pub(crate) fn unsigned(&self) -> Option<u64> {
        self.unsigned.or_else(|| self.log.as_ref().and_then(Log::missing_head))
    }

    /// Returns what the newest epoch says of its payloads.
    pub(crate) fn sealing(&self) -> EpochSealing {
        self.sealing
    }

    /// Returns how many epochs began.
    pub(crate) fn epochs(&self) -> u64 {
        self.epochs as u64
    }

    /// Returns whether more epochs began than a verifier keeps.
    pub(crate) fn is_full(&self) -> bool {
        self.epochs >= EPOCHS_MAX
    }

    /// Takes in the next entry; entries of a log may be left out, but not those of the log's own kinds.
    pub(crate) fn entry(&mut self, envelope: &Envelope<'_>, faults: &mut FaultCount) {
        let seq = envelope.seq;
        let mut wrong = |what: &str| faults.add(seq, FaultCode::Malformed, || format!("entry {seq} {what}"));
        match envelope.kind {
            facts::LOG_OPENED if self.log.is_none() && seq == 0 => self.opened(envelope, &mut wrong),
            facts::LOG_OPENED => wrong("opens a log that is open"),
            facts::LOG_REOPENED if self.log.is_some() => self.reopened(envelope, &mut wrong),
            facts::EPOCH_STARTED => self.epoch_started(envelope, &mut wrong),
            _ if self.log.is_none() => wrong("comes before LogOpened"),
            _ if self.log.as_ref().is_some_and(|log| log.first_key.is_some()) => {
                wrong("is in the place of the EpochStarted that follows a log's opening");
            }
            _ => {}
        }
        let Some(log) = &mut self.log else { return };
        if envelope.log_id != log.log_id {
            wrong("carries another log's id");
        }
        if envelope.epoch != log.epoch {
            wrong("is of another epoch than the one that writes");
        }
        if envelope.has_run() && log.first_run.is_none() {
            log.first_run = Some(seq);
        }
    }

    fn opened(&mut self, envelope: &Envelope<'_>, wrong: &mut impl FnMut(&str)) {
        let Some(opened) = LogOpened::parse(envelope.facts) else {
            return wrong("opens a log without saying which");
        };
        let made = |generation| digest::log_id(generation, &opened.key, &opened.nonce) == opened.log_id;
        let generation = if made(IdGeneration::First) { IdGeneration::First } else { IdGeneration::Second };
        if !made(generation) {
            wrong("opens a log whose id is not made from its key and nonce");
        }
        if envelope.epoch != 1 {
            wrong("opens a log in another epoch than the first");
        }
        self.log = Some(Log::open(&opened, generation, envelope.epoch));
    }

    fn reopened(&mut self, envelope: &Envelope<'_>, wrong: &mut impl FnMut(&str)) {
        let Some(facts) = LogReopened::parse(envelope.facts) else {
            return wrong("reopens a log without saying how");
        };
        let opened = &facts.opened;
        if digest::log_id(IdGeneration::Second, &opened.key, &opened.nonce) != opened.log_id {
            wrong("reopens a log whose id is not made from its key and nonce");
        }
        let Some(old) = &self.log else { return };
        if envelope.epoch <= old.epoch {
            wrong("reopens a log without a new epoch");
        }
        if let Some(first_run) = old.missing_head() {
            self.unsigned.get_or_insert(first_run);
        }
        if self.reopened.len() < REPORTED_ITEMS_MAX {
            self.reopened.push(ReopenedLog {
                seq: envelope.seq,
                old_name: old.name.clone(),
                abandoned_size: facts.abandoned_size,
                abandoned_root: facts.abandoned_root,
                reason: facts.reason,
            });
        }
        self.log = Some(Log::open(opened, IdGeneration::Second, envelope.epoch));
    }

    fn epoch_started(&mut self, envelope: &Envelope<'_>, wrong: &mut impl FnMut(&str)) {
        let Some(started) = EpochStarted::parse(envelope.facts) else {
            return wrong("starts an epoch without its key");
        };
        if started.epoch != envelope.epoch {
            wrong("starts another epoch than it is of");
        }
        let Some(log) = &mut self.log else { return wrong("comes before LogOpened") };
        self.epochs += 1;
        self.sealing = started.sealing;
        match log.first_key.take() {
            Some(key) => {
                if key != started.key {
                    wrong("starts a log's first epoch with another key than the log was opened with");
                }
                if envelope.epoch == log.epoch {
                    return log.start_epoch(envelope.epoch, key, FirstEntry::Yes);
                }
            }
            None if envelope.epoch <= log.epoch => wrong("starts an epoch that does not rise"),
            None => {}
        }
        log.start_epoch(envelope.epoch, started.key, FirstEntry::No);
    }
}
