//! Notes: their one spelling, their limits, and a published example.

use super::*;

const EXAMPLE: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n\
    \n\
    \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
const EXAMPLE_VKEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

fn signed(text: &str, keys: &[&EpochKey]) -> Note {
    Note::sign(text.to_owned(), "example.org/log", keys)
}

#[test]
fn the_published_example_is_read_written_and_verified() {
    let note = Note::parse(EXAMPLE.as_bytes()).expect("a note");
    assert_eq!(note.encode(), EXAMPLE);
    let (name, key) = lines::parse_vkey(EXAMPLE_VKEY).expect("a key");
    assert_eq!(lines::encode_vkey(name, &key), EXAMPLE_VKEY);
    assert_eq!(note.verify(name, &key), Ok(()));
    assert_eq!(note.verify("PeterNeumann2", &key), Err(SignatureFault::Absent));
    let changed = EXAMPLE.replace("answer", "Answer");
    let changed = Note::parse(changed.as_bytes()).expect("still a note");
    assert_eq!(changed.verify(name, &key), Err(SignatureFault::Bad));
}

#[test]
fn a_note_with_two_signatures_verifies_under_both_keys_alone() {
    let keys = [1u8, 2, 3].map(|seed| EpochKey::from_entropy([seed; 32]));
    let note = signed("one\n\ntwo\n", &[&keys[0], &keys[1]]);
    let note = Note::parse(note.encode().as_bytes()).expect("its own bytes");
    assert_eq!(note.text(), "one\n\ntwo\n");
    assert_eq!(note.signatures().len(), 2);
    let verified = keys.map(|key| note.verify("example.org/log", &key.public()));
    assert_eq!(verified, [Ok(()), Ok(()), Err(SignatureFault::Absent)]);
}

#[test]
fn a_second_line_under_a_key_s_id_has_to_be_its_signature_too() {
    let key = EpochKey::from_entropy([1; 32]);
    let mut note = signed("text\n", &[&key, &key]);
    assert_eq!(note.verify("example.org/log", &key.public()), Ok(()));
    note.signatures[1].signature[0] ^= 1;
    assert_eq!(note.verify("example.org/log", &key.public()), Err(SignatureFault::Bad));
    note.signatures[1].signature.truncate(63);
    assert_eq!(note.verify("example.org/log", &key.public()), Err(SignatureFault::Bad));
}

#[test]
fn no_signature_counts_for_a_key_that_is_no_point_or_a_weak_one() {
    let mut note = signed("text\n", &[&EpochKey::from_entropy([1; 32])]);
    let mut identity = [0; 32];
    identity[0] = 1;
    // R = identity, s = 0 satisfies the unstrict equation for this key and every text.
    let forged = [&identity[..], &[0; 32]].concat();
    for key in [identity, [0xff; 32]] {
        note.signatures[0] =
            NoteSignature { name: "n".to_owned(), key_id: KeyId::of("n", &key), signature: forged.clone() };
        assert_eq!(note.verify("n", &key), Err(SignatureFault::Bad));
    }
}

#[test]
fn other_spellings_are_refused() {
    let line = "\u{2014} n AQIDBAU=\n";
    let whole = |text: &str| Note::parse(text.as_bytes()).map(|note| note.encode());
    assert_eq!(whole(&format!("t\n\n{line}")), Ok(format!("t\n\n{line}")));
    assert_eq!(whole("t\n"), Err(NoteError::Unsigned));
    assert_eq!(whole("t\n\n"), Err(NoteError::Unsigned));
    assert_eq!(whole(&format!("t\n{line}")), Err(NoteError::Unsigned));
    assert_eq!(whole(&format!("t\r\n\n{line}")), Err(NoteError::NotText));
    assert_eq!(whole(&format!("t\0\n\n{line}")), Err(NoteError::NotText));
    assert_eq!(Note::parse(b"\xff\n\n"), Err(NoteError::NotText));
    for bad in [
        "\u{2014} n AQIDBAU=",
        "\u{2014} n AQIDBAU\n",
        "\u{2014} n AQIDBAV=\n",
        "\u{2014} n AQIDBA==\n",
        "\u{2014} n AQIDBAU=\nx\n",
        "\u{2014}  AQIDBAU=\n",
        "\u{2014} n+m AQIDBAU=\n",
        "\u{2014} n\u{a0}m AQIDBAU=\n",
        "\u{2014} n  AQIDBAU=\n",
        "- n AQIDBAU=\n",
    ] {
        assert_eq!(whole(&format!("t\n\n{bad}")), Err(NoteError::SignatureLine), "{bad:?}");
    }
    let many = |count| format!("t\n\n{}", line.repeat(count));
    assert!(whole(&many(SIGNATURES_MAX)).is_ok());
    assert_eq!(whole(&many(SIGNATURES_MAX + 1)), Err(NoteError::TooLong));
    let long = |length| format!("{}\n\n{line}", "t".repeat(length));
    assert!(whole(&long(NOTE_BYTES_MAX - line.len() - 2)).is_ok());
    assert_eq!(whole(&long(NOTE_BYTES_MAX - line.len() - 1)), Err(NoteError::TooLong));
}

#[test]
fn a_key_in_text_form_has_one_spelling() {
    for bad in [
        "",
        "PeterNeumann",
        "PeterNeumann+c74f20a3",
        "PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+AhpC2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n",
        "Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    ] {
        assert_eq!(lines::parse_vkey(bad), None, "{bad:?}");
    }
}
