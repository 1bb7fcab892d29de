//! Notes, keys and checkpoints, against `signed_note` and `tlog_tiles`.

use palyra_ledger::{Checkpoint, CheckpointNote, EpochKey, NodeHash, VerifierKey, log_name};
use palyra_types::LogId;
use proptest::prelude::*;
use signed_note::{Note, StandardSigner, StandardVerifier, Verifier, VerifierList};

fn verifiers(keys: &[VerifierKey]) -> VerifierList {
    let verifier = |key: &VerifierKey| -> Box<dyn Verifier> {
        Box::new(StandardVerifier::new(&key.to_string()).expect("it reads our keys"))
    };
    VerifierList::new(keys.iter().map(verifier).collect())
}

/// The secret half in the form of `signed_note`, spelled from our key's id and secret.
fn their_signer(public: &VerifierKey, key: &EpochKey) -> StandardSigner {
    use base64::Engine as _;
    let secret = [&[1], &key.secret()[..]].concat();
    let secret = base64::engine::general_purpose::STANDARD.encode(secret);
    // Base64 has a plus too, so parts are counted from the front.
    let vkey = public.to_string();
    let named: Vec<&str> = vkey.splitn(3, '+').take(2).collect();
    let named = named.join("+");
    StandardSigner::new(&format!("PRIVATE+KEY+{named}+{secret}")).expect("it reads our keys")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn signed_checkpoints_are_read_and_written_alike(
        id: [u8; 16], size in 0..=i64::MAX as u64, root: [u8; 32], seeds in prop::collection::vec(any::<[u8; 32]>(), 1..4)
    ) {
        let log_id = LogId(id);
        let checkpoint = Checkpoint { log_id, size, root: NodeHash(root) };
        let keys: Vec<EpochKey> = seeds.into_iter().map(EpochKey::from_entropy).collect();
        let public: Vec<VerifierKey> = keys.iter().map(|key| VerifierKey { log_id, key: key.public() }).collect();
        let ours = checkpoint.sign(&keys.iter().collect::<Vec<_>>()).encode();

        let theirs = Note::from_bytes(ours.as_bytes()).expect("it reads our notes");
        prop_assert_eq!(theirs.to_bytes(), ours.as_bytes());
        let (verified, unverified) = theirs.verify(&verifiers(&public)).expect("it verifies our signatures");
        prop_assert_eq!((verified.len(), unverified.len()), (keys.len(), 0));
        let body = tlog_tiles::Checkpoint::from_bytes(theirs.text()).expect("it reads our checkpoints");
        prop_assert_eq!(body.origin(), log_name(log_id));
        prop_assert_eq!((body.size(), body.hash().0), (size, root));
        prop_assert_eq!((body.extension(), body.to_bytes()), ("", checkpoint.to_string().into_bytes()));

        let mut theirs = Note::new(&body.to_bytes(), &[]).expect("plain text");
        for (public, key) in public.iter().zip(&keys) {
            theirs.add_sigs(&[&their_signer(public, key)]).expect("it signs");
        }
        prop_assert_eq!(theirs.to_bytes(), ours.as_bytes());
        let read = CheckpointNote::parse(&theirs.to_bytes()).expect("we read its notes");
        prop_assert_eq!(read.checkpoint(), &checkpoint);
        for key in &keys {
            prop_assert_eq!(read.verify(&key.public()), Ok(()));
        }
    }

    #[test]
    fn what_we_read_they_read_alike(at in any::<prop::sample::Index>(), with: u8) {
        let key = EpochKey::from_entropy([1; 32]);
        let checkpoint = Checkpoint { log_id: LogId([2; 16]), size: 7, root: NodeHash([3; 32]) };
        let mut bytes = checkpoint.sign(&[&key]).encode().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = with;
        if let Ok(ours) = palyra_ledger::note::Note::parse(&bytes) {
            let theirs = Note::from_bytes(&bytes).expect("ours is the stricter one");
            prop_assert_eq!(theirs.to_bytes(), ours.encode().into_bytes());
            prop_assert_eq!(theirs.text(), ours.text().as_bytes());
        }
    }
}
