//! Which signed heads hold: signatures, and keys that hand over to their successors.
//!
//! Owns the rules of docs/journal-format.md, section 4. Knows no tree; roots are compared by the caller, and only
//! for heads that hold here. Begin at [`examine`].

use ed25519_dalek::{Signature, VerifyingKey};

use crate::digest::{Hash, IdGeneration};
use crate::lineage::Log;
use crate::note::{CheckpointNote, VerifierKey};

/// A signed head that holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerifiedHead {
    pub(crate) size: u64,
    pub(crate) root: Hash,
    /// The newest epoch that signed it.
    pub(crate) epoch: u32,
    /// That epoch's key.
    pub(crate) key: Hash,
    /// Whether the key that the caller trusts leads to it.
    pub(crate) trusted: bool,
}

/// Checks the signatures of a checkpoint of `log`, whose epochs so far all lie below the checkpoint's size, and
/// lets its signers vouch for each other.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn examine(
    note: &CheckpointNote,
    log: &mut Log,
    trust: Option<&VerifierKey>,
) -> Result<VerifiedHead, &'static str> {
    if note.log_id != log.log_id {
        return Err("is of another log than the entry below it");
    }
    let signers = signers(note, log)?;
    let Some(&newest) = signers.last() else { return Err("bears no signature of the log") };
    if log.generation == IdGeneration::First && log.heads == 0 {
        log.epochs.iter_mut().for_each(|epoch| epoch.vouched = true);
        if log.epochs.iter().any(|epoch| is_trusted(epoch.key, log, trust)) {
            log.epochs.iter_mut().for_each(|epoch| epoch.trusted = true);
        }
    }
    for &place in &signers {
        let earlier = |of: fn(&crate::lineage::Epoch) -> bool| {
            signers.iter().any(|&other| other < place && of(&log.epochs[other]))
        };
        let vouched = log.epochs[place].vouched || earlier(|epoch| epoch.vouched);
        let trusted = log.epochs[place].trusted
            || earlier(|epoch| epoch.trusted)
            || is_trusted(log.epochs[place].key, log, trust);
        log.epochs[place].vouched = vouched;
        log.epochs[place].trusted = vouched && trusted;
        if !vouched {
            return Err("is signed by a key that is not trusted");
        }
    }
    log.heads += 1;
    let signer = &log.epochs[newest];
    Ok(VerifiedHead {
        size: note.size,
        root: note.root,
        epoch: signer.number,
        key: signer.key,
        trusted: signer.trusted,
    })
}

fn is_trusted(key: Hash, log: &Log, trust: Option<&VerifierKey>) -> bool {
    trust.is_some_and(|trust| trust.key == key && trust.log_id == log.log_id)
}

/// Returns the places of the epochs that signed, ascending; every line in the log's own name has to hold.
fn signers(note: &CheckpointNote, log: &Log) -> Result<Vec<usize>, &'static str> {
    let mut signers = Vec::new();
    for signature in &note.signatures {
        let candidates = log.with_key_id(signature.key_id);
        let holds =
            |place: &&usize| verifies(&log.epochs[**place].key, note.body.as_bytes(), &signature.bytes);
        match candidates.iter().rev().take(CANDIDATES_MAX).find(holds) {
            Some(place) => signers.push(*place),
            None if candidates.is_empty() => return Err("is signed by a key that no epoch of the log has"),
            None => return Err("bears a signature that does not verify"),
        }
    }
    signers.sort_unstable();
    Ok(signers)
}

/// Epochs tried for one key id; more share one only where somebody made them to.
const CANDIDATES_MAX: usize = 8;

fn verifies(key: &Hash, message: &[u8], signature: &[u8; 64]) -> bool {
    let key = VerifyingKey::from_bytes(key);
    key.is_ok_and(|key| key.verify_strict(message, &Signature::from_bytes(signature)).is_ok())
}
