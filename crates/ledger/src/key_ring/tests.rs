//! Who vouches for whom, as a table of short logs.

use super::*;
use crate::checkpoint::Checkpoint;
use crate::epoch_key::{EpochKey, log_id, log_id_v1};
use crate::tree::NodeHash;

const NONCE: [u8; 32] = [9; 32];

fn key(epoch: u32) -> EpochKey {
    EpochKey::from_entropy([epoch as u8; 32])
}

fn new_log(first: u32) -> LogId {
    log_id(&key(first).public(), &NONCE)
}

fn old_log(first: u32) -> LogId {
    log_id_v1(&key(first).public(), &NONCE)
}

/// A log whose epochs 1, 2, ... start at these seqs.
fn ring(log_id: LogId, starts: &[u64]) -> KeyRing {
    let mut ring = KeyRing::open(log_id, &NONCE, key(1).public()).expect("its own id");
    for (epoch, seq) in (1..).zip(starts) {
        ring.epoch_started(Seq(*seq), Epoch(epoch), key(epoch).public()).expect("ascending");
    }
    ring
}

fn note(log_id: LogId, size: u64, signers: &[u32]) -> CheckpointNote {
    let keys: Vec<EpochKey> = signers.iter().map(|epoch| key(*epoch)).collect();
    let checkpoint = Checkpoint { log_id, size, root: NodeHash([1; 32]) };
    checkpoint.sign(&keys.iter().collect::<Vec<_>>())
}

fn admitted(signer: u32, newly: &[u32]) -> Result<AdmittedCheckpoint, KeyRingFault> {
    Ok(AdmittedCheckpoint {
        signer: Epoch(signer),
        newly_vouched: newly.iter().map(|epoch| Epoch(*epoch)).collect(),
    })
}

#[test]
fn handovers_lead_from_the_first_key_to_the_newest() {
    let log = new_log(1);
    let mut ring = ring(log, &[1, 10, 20, 30]);
    assert_eq!(ring.log_id(), log);
    assert_eq!(ring.newest_vouched(), Some((Epoch(1), key(1).public())));
    assert_eq!(ring.admit(&note(log, 5, &[1])), admitted(1, &[]));
    assert_eq!(ring.admit(&note(log, 11, &[2])), Err(KeyRingFault::NotVouched(Epoch(2))));
    assert_eq!(ring.admit(&note(log, 11, &[1, 2])), admitted(2, &[2]));
    assert_eq!(ring.admit(&note(log, 15, &[2])), admitted(2, &[]));
    // Epoch 3 has never signed; an older vouched key may hand over to the one after it.
    assert_eq!(ring.admit(&note(log, 31, &[4, 2])), admitted(4, &[4]));
    assert_eq!([1, 2, 3, 4].map(|epoch| ring.vouches_for(Epoch(epoch))), [true, true, false, true]);
    assert_eq!(ring.newest_vouched(), Some((Epoch(4), key(4).public())));
    assert_eq!(ring.admit(&note(log, 32, &[3])), Err(KeyRingFault::NotVouched(Epoch(3))));
}

#[test]
fn a_later_key_does_not_vouch_for_an_earlier_one() {
    let log = new_log(1);
    let mut ring = ring(log, &[1, 10, 20]);
    assert_eq!(ring.admit(&note(log, 21, &[1, 3])), admitted(3, &[3]));
    assert_eq!(ring.admit(&note(log, 22, &[2, 3])), Err(KeyRingFault::NotVouched(Epoch(2))));
    assert_eq!(ring.admit(&note(log, 22, &[3])), admitted(3, &[]));
}

#[test]
fn one_handover_may_name_a_whole_row_of_epochs() {
    let log = new_log(1);
    let mut ring = ring(log, &[1, 10, 20]);
    assert_eq!(ring.admit(&note(log, 21, &[3, 2, 1])), admitted(3, &[2, 3]));
}

#[test]
fn a_signer_has_to_have_started_below_the_size() {
    let log = new_log(1);
    let mut ring = ring(log, &[1, 10]);
    assert_eq!(ring.admit(&note(log, 10, &[2])), Err(KeyRingFault::Stranger));
    assert_eq!(ring.admit(&note(log, 1, &[1])), Err(KeyRingFault::Stranger));
    assert_eq!(ring.admit(&note(log, 10, &[1, 2])), Err(KeyRingFault::Stranger));
    assert_eq!(ring.admit(&note(log, 11, &[1, 2])), admitted(2, &[2]));
}

#[test]
fn strangers_and_bad_signatures_spoil_a_note_and_witnesses_count_for_nothing() {
    let log = new_log(1);
    let mut ring = ring(log, &[1]);
    assert_eq!(ring.admit(&note(log, 5, &[7])), Err(KeyRingFault::Stranger));
    assert_eq!(ring.admit(&note(log, 5, &[7, 1])), Err(KeyRingFault::Stranger));
    let witness = "\u{2014} witness.example AQIDBAU=\n";
    let witnessed = note(log, 5, &[1]).encode() + witness;
    let witnessed = CheckpointNote::parse(witnessed.as_bytes()).expect("well formed");
    assert_eq!(ring.admit(&witnessed), admitted(1, &[]));
    let alone = format!("{}\n{witness}", note(log, 5, &[]).checkpoint());
    let alone = CheckpointNote::parse(alone.as_bytes()).expect("well formed");
    assert_eq!(ring.admit(&alone), Err(KeyRingFault::Unsigned));
    let text = note(log, 6, &[1]).encode().replacen("\n6\n", "\n7\n", 1);
    let changed = CheckpointNote::parse(text.as_bytes()).expect("well formed");
    assert_eq!(ring.admit(&changed), Err(KeyRingFault::Signature(Epoch(1))));
    assert_eq!(ring.admit(&note(log, 4, &[1])), Err(KeyRingFault::CheckpointOrder));
    assert_eq!(ring.admit(&note(log, 5, &[1])), admitted(1, &[]));
}

#[test]
fn the_first_checkpoint_of_an_old_log_excuses_the_epochs_before_it() {
    let log = old_log(1);
    let mut ring = ring(log, &[1, 10, 20, 30]);
    assert_eq!(ring.admit(&note(log, 25, &[3])), admitted(3, &[2, 3]));
    assert_eq!(ring.admit(&note(log, 31, &[4])), Err(KeyRingFault::NotVouched(Epoch(4))));
    assert_eq!(ring.admit(&note(log, 31, &[2, 4])), admitted(4, &[4]));
}

#[test]
fn a_checkpoint_that_is_refused_excuses_nobody() {
    let log = old_log(1);
    let mut ring = ring(log, &[1, 10]);
    assert_eq!(ring.admit(&note(log, 25, &[7])), Err(KeyRingFault::Stranger));
    assert!(!ring.vouches_for(Epoch(2)));
}

#[test]
fn a_reopened_log_begins_with_its_own_key_and_its_own_name() {
    let (before, after) = (old_log(1), new_log(3));
    let mut ring = ring(before, &[1, 10]);
    assert_eq!(ring.admit(&note(before, 15, &[2])), admitted(2, &[2]));
    let reopen = |ring: &mut KeyRing, seq, log_id| ring.reopened(Seq(seq), log_id, &NONCE, key(3).public());
    assert_eq!(reopen(&mut ring, 10, after), Err(KeyRingFault::Order));
    assert_eq!(reopen(&mut ring, 20, new_log(4)), Err(KeyRingFault::LogId));
    assert_eq!(reopen(&mut ring, 20, old_log(3)), Err(KeyRingFault::LogId));
    assert_eq!(reopen(&mut ring, 20, after), Ok(()));
    assert_eq!(ring.log_id(), after);
    assert_eq!(ring.newest_vouched(), None);
    let start =
        |ring: &mut KeyRing, seq, epoch, of| ring.epoch_started(Seq(seq), Epoch(epoch), key(of).public());
    assert_eq!(start(&mut ring, 22, 3, 3), Err(KeyRingFault::FirstEpoch));
    assert_eq!(start(&mut ring, 21, 3, 2), Err(KeyRingFault::FirstEpoch));
    assert_eq!(start(&mut ring, 21, 2, 3), Err(KeyRingFault::Order));
    assert_eq!(start(&mut ring, 21, 3, 3), Ok(()));
    assert_eq!(start(&mut ring, 30, 4, 4), Ok(()));

    assert_eq!(ring.admit(&note(after, 20, &[3])), Err(KeyRingFault::Log));
    assert_eq!(ring.admit(&note(before, 21, &[2])), Err(KeyRingFault::Log));
    assert_eq!(ring.admit(&note(before, 20, &[2])), admitted(2, &[]));
    assert_eq!(ring.admit(&note(after, 22, &[3])), admitted(3, &[]));
    // Nothing is excused in it, though the log before it began in format 1.
    assert_eq!(ring.admit(&note(after, 31, &[4])), Err(KeyRingFault::NotVouched(Epoch(4))));
    assert_eq!(ring.admit(&note(after, 31, &[3, 4])), admitted(4, &[4]));
}

#[test]
fn facts_that_do_not_fit_are_refused() {
    assert_eq!(KeyRing::open(new_log(1), &NONCE, key(2).public()).map(drop), Err(KeyRingFault::LogId));
    let mut ring = ring(new_log(1), &[1, 10]);
    assert_eq!(ring.epoch_started(Seq(10), Epoch(3), key(3).public()), Err(KeyRingFault::Order));
    assert_eq!(ring.epoch_started(Seq(11), Epoch(2), key(3).public()), Err(KeyRingFault::Order));
    assert_eq!(ring.admit(&note(new_log(2), 5, &[1])), Err(KeyRingFault::Log));
    assert_eq!(ring.admit(&note(new_log(1), 0, &[1])), Err(KeyRingFault::Log));
}
