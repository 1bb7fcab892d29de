//! Checkpoints: their bytes for ever, and no others.

use super::*;

const LOG: LogId = LogId([0xab; 16]);

fn checkpoint() -> Checkpoint {
    Checkpoint { log_id: LOG, size: 1_234, root: NodeHash([7; 32]) }
}

#[test]
fn a_checkpoint_keeps_its_bytes_for_ever() {
    let key = EpochKey::from_entropy([3; 32]);
    let expected = "palyra.log/abababababababababababababababab\n\
        1234\n\
        BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n\
        \n\
        \u{2014} palyra.log/abababababababababababababababab 0l7NW7Ry7CX1ZHt8hO/O0w9/rsdOjgEVgYIntNERgPVHOrtxj81cACE4FRfZUgBnbqyeF8zsdnRnwbCRoeYAyyH2qAA=\n";
    let vkey = VerifierKey { log_id: LOG, key: key.public() };
    assert_eq!(
        vkey.to_string(),
        "palyra.log/abababababababababababababababab+d25ecd5b+Ae1JKMYo0cLG6ukDOJBZlWEpWSc6XGP5NjbBRhSshzfR"
    );
    assert_eq!(vkey.to_string().parse(), Ok(vkey));
    assert_eq!(checkpoint().sign(&[&key]).encode(), expected);
    let read = CheckpointNote::parse(expected.as_bytes()).expect("a checkpoint");
    assert_eq!(read.checkpoint(), &checkpoint());
    assert_eq!(read.verify(&key.public()), Ok(()));
}

#[test]
fn a_handover_carries_both_signatures_in_order() {
    let (old, new) = (EpochKey::from_entropy([1; 32]), EpochKey::from_entropy([2; 32]));
    let mut note = checkpoint().sign(&[&old]);
    assert_eq!(note.verify(&new.public()), Err(SignatureFault::Absent));
    note.cosign(&new);
    assert_eq!(note, checkpoint().sign(&[&old, &new]));
    assert_eq!([note.verify(&old.public()), note.verify(&new.public())], [Ok(()); 2]);
}

#[test]
fn other_spellings_of_a_body_are_refused() {
    let good = checkpoint().to_string();
    assert_eq!(good.parse(), Ok(checkpoint()));
    let mut bad =
        vec![String::new(), good.trim_end().to_owned(), format!("{good}extension\n"), format!("{good}\n")];
    for (from, to) in [
        ("palyra.log/", "palyra.log"),
        ("palyra.log/", "palyra.log/0"),
        ("palyra.log/ab", "palyra.log/AB"),
        ("palyra.log/ab", "palyra.log/+b"),
        ("palyra.log/ab", "palyra.log/b"),
        ("1234", "01234"),
        ("1234", "+1234"),
        ("1234", "-1"),
        ("1234", " 1234"),
        ("1234", ""),
        ("1234", "9223372036854775808"),
        ("1234", "18446744073709551616"),
        ("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"),
        ("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwd="),
        ("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", "BwcH"),
        ("\n", "\n\n"),
        ("\n", "\r\n"),
    ] {
        bad.push(good.replacen(from, to, 1));
    }
    for bad in bad {
        assert_eq!(bad.parse::<Checkpoint>(), Err(CheckpointError::Body), "{bad:?}");
    }
    let unsigned = CheckpointNote::parse(good.as_bytes());
    assert_eq!(unsigned, Err(CheckpointError::Note(NoteError::Unsigned)));
}

#[test]
fn a_flipped_bit_is_refused_or_leaves_no_good_signature() {
    let key = EpochKey::from_entropy([3; 32]);
    let note = checkpoint().sign(&[&key]).encode().into_bytes();
    for bit in 0..note.len() * 8 {
        let mut flipped = note.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let verified = CheckpointNote::parse(&flipped).map(|read| read.verify(&key.public()));
        assert_ne!(verified, Ok(Ok(())), "bit {bit}");
    }
}

#[test]
fn keys_of_other_names_are_not_those_of_a_log() {
    let vkey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    assert_eq!(vkey.parse::<VerifierKey>(), Err(VerifierKeyError));
}
