//! Which keys a log's checkpoints may be signed by.
//!
//! Owns the rules of vouching: the log's id for its first key, handovers for the others. Knows no tree: that
//! a checkpoint's root is the log's is for the caller to check. Invariant: a key is vouched for only by the
//! log's id or by the signature of a key that was vouched for before. Facts and checkpoints are fed in order.
//! Begin at [`KeyRing::open`].

use palyra_types::{Epoch, LogId, Seq};

use crate::checkpoint::{CheckpointNote, log_name};
use crate::epoch_key::{LogOrigin, log_origin};
use crate::note::KeyId;

/// The keys of a log, and of those it continues.
#[derive(Debug, Clone)]
pub struct KeyRing {
    /// Ascending; the last one is in use.
    logs: Vec<LogKeys>,
    /// The last fact's place.
    newest: Seq,
    /// The largest checkpoint so far.
    signed: u64,
}

#[derive(Debug, Clone)]
struct LogKeys {
    log_id: LogId,
    origin: LogOrigin,
    /// The seq of LogOpened or LogReopened.
    begins: Seq,
    first_key: [u8; 32],
    epochs: Vec<KnownEpoch>,
    has_checkpoint: bool,
}

#[derive(Debug, Clone)]
struct KnownEpoch {
    epoch: Epoch,
    seq: Seq,
    key: [u8; 32],
    key_id: KeyId,
    vouched: bool,
}

/// What a checkpoint that was admitted says about keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedCheckpoint {
    /// The newest epoch that signed it.
    pub signer: Epoch,
    /// Epochs that are vouched for since this checkpoint, ascending; not empty for a handover.
    pub newly_vouched: Vec<Epoch>,
}

/// Why a fact or a checkpoint is refused; the ring stays as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRingFault {
    /// The log's id does not follow from its first key and nonce.
    #[error("the log's id does not follow from its first key")]
    LogId,
    /// The first epoch does not follow at once, or has another key than the log's id was made from.
    #[error("the first epoch does not have the log's first key")]
    FirstEpoch,
    /// Facts do not ascend, or an epoch does not rise.
    #[error("the facts about keys are out of order")]
    Order,
    /// The checkpoint is of no log that had this size.
    #[error("the checkpoint names another log")]
    Log,
    /// The checkpoint is smaller than one before it.
    #[error("the checkpoints are out of order")]
    CheckpointOrder,
    /// A signature of a known key is bad.
    #[error("the signature of epoch {epoch} is bad", epoch = .0.0)]
    Signature(Epoch),
    /// Only keys of other names have signed.
    #[error("no key of the log has signed the checkpoint")]
    Unsigned,
    /// A key that the log did not have at this size has signed in its name.
    #[error("a key that is none of the log's has signed the checkpoint in its name")]
    Stranger,
    /// Nobody vouches for one who signed.
    #[error("the key of epoch {epoch}, which signed the checkpoint, is not trusted", epoch = .0.0)]
    NotVouched(Epoch),
}

impl KeyRing {
    /// Begins with what LogOpened says, which is entry 0.
    ///
    /// # Errors
    /// [`KeyRingFault::LogId`].
    pub fn open(log_id: LogId, nonce: &[u8; 32], first_key: [u8; 32]) -> Result<Self, KeyRingFault> {
        let origin = log_origin(log_id, &first_key, nonce).ok_or(KeyRingFault::LogId)?;
        let log = LogKeys::new(log_id, origin, Seq(0), first_key);
        Ok(Self { logs: vec![log], newest: Seq(0), signed: 0 })
    }

    /// Takes in an EpochStarted.
    ///
    /// # Errors
    /// [`KeyRingFault::Order`], [`KeyRingFault::FirstEpoch`].
    pub fn epoch_started(&mut self, seq: Seq, epoch: Epoch, key: [u8; 32]) -> Result<(), KeyRingFault> {
        let rises = self.epochs().last().is_none_or(|before| before.epoch < epoch);
        if seq <= self.newest || !rises {
            return Err(KeyRingFault::Order);
        }
        let log = self.logs.last_mut().ok_or(KeyRingFault::Log)?;
        let is_first = log.epochs.is_empty();
        if is_first && (seq != log.begins.next() || key != log.first_key) {
            return Err(KeyRingFault::FirstEpoch);
        }
        let key_id = KeyId::of(&log_name(log.log_id), &key);
        log.epochs.push(KnownEpoch { epoch, seq, key, key_id, vouched: is_first });
        self.newest = seq;
        Ok(())
    }

    /// Takes in a LogReopened: a new log over the same leaves, with its own first key.
    ///
    /// # Errors
    /// [`KeyRingFault::Order`], [`KeyRingFault::LogId`].
    pub fn reopened(
        &mut self,
        seq: Seq,
        log_id: LogId,
        nonce: &[u8; 32],
        key: [u8; 32],
    ) -> Result<(), KeyRingFault> {
        if seq <= self.newest {
            return Err(KeyRingFault::Order);
        }
        match log_origin(log_id, &key, nonce) {
            Some(LogOrigin::Format2) => {}
            Some(LogOrigin::Format1) | None => return Err(KeyRingFault::LogId),
        }
        self.logs.push(LogKeys::new(log_id, LogOrigin::Format2, seq, key));
        self.newest = seq;
        Ok(())
    }

    /// Takes in a checkpoint, whose EpochStarted facts have been fed before.
    ///
    /// # Errors
    /// What is wrong with its place or its signatures.
    pub fn admit(&mut self, note: &CheckpointNote) -> Result<AdmittedCheckpoint, KeyRingFault> {
        let (size, log_id) = (note.checkpoint().size, note.checkpoint().log_id);
        if size < self.signed {
            return Err(KeyRingFault::CheckpointOrder);
        }
        // A log has the sizes above its first entry, up to the place where the next one begins.
        let at = self.logs.iter().rposition(|log| log.begins.0 < size).ok_or(KeyRingFault::Log)?;
        let log = self.logs.get_mut(at).filter(|log| log.log_id == log_id).ok_or(KeyRingFault::Log)?;
        let admitted = log.admit(note, size)?;
        self.signed = size;
        Ok(admitted)
    }

    /// Returns the log that is in use.
    #[must_use]
    pub fn log_id(&self) -> LogId {
        self.logs.last().map_or(LogId([0; 16]), |log| log.log_id)
    }

    /// Returns whether a checkpoint signed by this epoch's key alone would be admitted.
    #[must_use]
    pub fn vouches_for(&self, epoch: Epoch) -> bool {
        self.epochs().any(|known| known.epoch == epoch && known.vouched)
    }

    /// Returns the newest epoch of the log in use that is vouched for, with its public key.
    ///
    /// The next handover has to be signed by it or by another one that is vouched for.
    #[must_use]
    pub fn newest_vouched(&self) -> Option<(Epoch, [u8; 32])> {
        let log = self.logs.last()?;
        log.epochs.iter().rfind(|known| known.vouched).map(|known| (known.epoch, known.key))
    }

    fn epochs(&self) -> impl DoubleEndedIterator<Item = &KnownEpoch> {
        self.logs.iter().flat_map(|log| &log.epochs)
    }
}

impl LogKeys {
    fn new(log_id: LogId, origin: LogOrigin, begins: Seq, first_key: [u8; 32]) -> Self {
        Self { log_id, origin, begins, first_key, epochs: Vec::new(), has_checkpoint: false }
    }

    fn admit(&mut self, note: &CheckpointNote, size: u64) -> Result<AdmittedCheckpoint, KeyRingFault> {
        let signers = self.signers(note, size)?;
        let newest = signers.last().copied().ok_or(KeyRingFault::Unsigned)?;
        let excused = self.origin == LogOrigin::Format1 && !self.has_checkpoint;
        let mut newly = Vec::new();
        let mut handed_over = false;
        for (at, known) in self.epochs.iter().enumerate().filter(|(_, known)| known.seq.0 < size) {
            let signed = signers.contains(&at);
            let vouched = known.vouched || excused || (signed && handed_over);
            if signed && !vouched {
                return Err(KeyRingFault::NotVouched(known.epoch));
            }
            if vouched && !known.vouched {
                newly.push(at);
            }
            handed_over |= signed;
        }
        newly.iter().for_each(|at| self.epochs[*at].vouched = true);
        self.has_checkpoint = true;
        let newly_vouched = newly.into_iter().map(|at| self.epochs[at].epoch).collect();
        Ok(AdmittedCheckpoint { signer: self.epochs[newest].epoch, newly_vouched })
    }

    /// Returns which of the epochs below `size` have signed, ascending. Lines of other names are a witness's.
    fn signers(&self, note: &CheckpointNote, size: u64) -> Result<Vec<usize>, KeyRingFault> {
        let name = log_name(self.log_id);
        let mut signers = Vec::new();
        for line in note.note().signatures().iter().filter(|line| line.name == name) {
            let mut named = None;
            let mut known = self
                .epochs
                .iter()
                .enumerate()
                .filter(|(_, known)| known.seq.0 < size && known.key_id == line.key_id);
            let signer = known.find(|(_, known)| {
                named.get_or_insert(known.epoch);
                note.note().is_signature_of(line, &known.key)
            });
            match (signer, named) {
                (Some((at, _)), _) => signers.push(at),
                (None, Some(epoch)) => return Err(KeyRingFault::Signature(epoch)),
                (None, None) => return Err(KeyRingFault::Stranger),
            }
        }
        signers.sort_unstable();
        signers.dedup();
        Ok(signers)
    }
}

#[cfg(test)]
mod tests;
