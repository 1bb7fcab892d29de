//! Stored checkpoints, met at their sizes, and the one that the caller kept.
//!
//! Owns comparing roots. Begin at [`Checkpoints::at`].

use super::cursor::{Cursor, ReadTrouble};
use super::rows::CheckpointRow;
use crate::digest::Hash;
use crate::fault::{FaultCode, FaultCount};
use crate::lineage::Lineage;
use crate::note::{CheckpointNote, VerifierKey};
use crate::report::{EntryTime, LogFreshness, SignedHead, Signer, knows};
use crate::tree::TreeFrontier;
use crate::vouch::{self, VerifiedHead};

/// Signed heads, read alongside the log.
pub(super) struct Checkpoints<'s> {
    /// `None` in format 1, and once they cannot be read.
    pub(super) stored: Option<Cursor<'s, CheckpointRow>>,
    pub(super) trust: Option<&'s VerifierKey>,
    pub(super) since: Option<&'s CheckpointNote>,
    pub(super) since_root: Option<Hash>,
    pub(super) newest: Option<SignedHead>,
}

impl Checkpoints<'_> {
    /// Checks what was signed at the present size; `entry_time` is what the last entry says of the time.
    pub(super) fn at(
        &mut self,
        tree: &TreeFrontier,
        entry_time: i64,
        lineage: &mut Lineage,
        faults: &mut FaultCount,
    ) {
        if self.since.is_some_and(|since| since.size == tree.size()) {
            self.since_root = Some(tree.root());
        }
        while let Some((size, note)) = self.next_up_to(tree.size(), faults) {
            let seq = size.saturating_sub(1);
            let Some(head) = examine(size, &note, lineage, self.trust, faults) else { continue };
            if size != tree.size() {
                faults.add(seq, FaultCode::Malformed, || "a checkpoint covers no entry".to_owned());
            } else if head.root != tree.root() {
                faults.add(seq, FaultCode::Forked, || {
                    format!("the signed head of size {size} has another root")
                });
            } else {
                let VerifiedHead { size, root, epoch, key, trusted } = head;
                let entry_time = EntryTime::OfHead(entry_time);
                self.newest = Some(SignedHead { size, root, epoch, key, entry_time, trusted });
            }
        }
    }

    /// Checks what is signed beyond the end of the log.
    pub(super) fn beyond(&mut self, entries: u64, lineage: &mut Lineage, faults: &mut FaultCount) {
        while let Some((size, note)) = self.next_up_to(u64::MAX, faults) {
            if examine(size, &note, lineage, self.trust, faults).is_some() {
                faults.add(entries, FaultCode::Truncated, || {
                    format!("the log has {entries} entries, and a head of {size} is signed")
                });
            }
        }
    }

    /// Says what the given key and the kept checkpoint come to, once the whole log was read.
    pub(super) fn conclude(
        &self,
        entries: u64,
        lineage: &Lineage,
        faults: &mut FaultCount,
    ) -> (Signer, LogFreshness) {
        let signer = match (self.trust, &self.newest) {
            (None, _) => Signer::NotChecked,
            (Some(_), Some(newest)) if newest.trusted => Signer::Trusted,
            (Some(_), newest) => {
                let seq = newest.map_or(entries, |head| head.size).saturating_sub(1);
                faults.add(seq, FaultCode::Signature, || {
                    "the given key does not lead to the newest signed head".to_owned()
                });
                Signer::Foreign
            }
        };
        let Some(since) = self.since else { return (signer, LogFreshness::Unknown) };
        let size = since.size;
        let name = lineage.log().map_or("", |log| log.name.as_str());
        if size > entries {
            faults.add(entries, FaultCode::RolledBack, || {
                format!("the log has {entries} entries, and the kept checkpoint {size}")
            });
        } else if self.since_root != Some(since.root) || !knows(name, &lineage.reopened, &since.log_id) {
            faults.add(size.saturating_sub(1), FaultCode::Forked, || {
                format!("the log has another history than the kept checkpoint of size {size}")
            });
        }
        (signer, LogFreshness::Since(size))
    }

    fn next_up_to(&mut self, most: u64, faults: &mut FaultCount) -> Option<(u64, String)> {
        let stored = self.stored.as_mut()?;
        let row = match stored.peek() {
            Ok(Some(row)) if u64::try_from(row.size).is_ok_and(|size| size > most) => return None,
            Ok(_) => stored.next(),
            Err(trouble) => Err(trouble),
        };
        match row.and_then(|row| row.map(checked).transpose()) {
            Ok(row) => row,
            Err(ReadTrouble(what)) => {
                self.stored = None;
                faults
                    .add(most.saturating_sub(1), FaultCode::Malformed, || format!("the checkpoints: {what}"));
                None
            }
        }
    }
}

fn checked(row: CheckpointRow) -> Result<(u64, String), ReadTrouble> {
    let size = u64::try_from(row.size).map_err(|_| ReadTrouble("a size is negative".to_owned()))?;
    Ok((size, row.note))
}

fn examine(
    size: u64,
    note: &str,
    lineage: &mut Lineage,
    trust: Option<&VerifierKey>,
    faults: &mut FaultCount,
) -> Option<VerifiedHead> {
    let seq = size.saturating_sub(1);
    if let Some(log) = lineage.log_mut() {
        log.stored += 1;
    }
    let Some(note) = CheckpointNote::parse(note).filter(|note| note.size == size) else {
        faults.add(seq, FaultCode::Malformed, || format!("the checkpoint of size {size} is out of shape"));
        return None;
    };
    if note.cosignatures > 0 {
        faults.add(seq, FaultCode::Signature, || {
            format!("the checkpoint of size {size} bears another's signature")
        });
        return None;
    }
    let log = lineage.log_mut()?;
    match vouch::examine(&note, log, trust) {
        Ok(head) => Some(head),
        Err(what) => {
            faults.add(seq, FaultCode::Signature, || format!("the checkpoint of size {size} {what}"));
            None
        }
    }
}
