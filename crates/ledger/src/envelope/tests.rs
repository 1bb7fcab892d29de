//! The envelope's laws, as properties.

use proptest::prelude::*;

use super::*;
use crate::chain::Chain;
use crate::leaf::leaf_hash;

fn envelopes() -> impl Strategy<Value = Envelope> {
    let ids = (any::<[u8; 16]>(), any::<[u8; 16]>(), any::<[u8; 16]>(), any::<[u8; 16]>());
    let places = (any::<u64>(), any::<i64>(), 1..u32::MAX, any::<[u8; 32]>(), any::<[u8; 32]>());
    let choices = (any::<u16>(), any::<u32>(), any::<u32>(), 0..4_u8, any::<bool>());
    (ids, places, choices, prop::collection::vec(any::<u8>(), 0..300)).prop_map(
        |(
            (log, principal, session, run),
            (seq, time, at, prev, commitment),
            (kind, epoch, rules, shape, mark),
            facts,
        )| {
            let run = RunId::from_bytes_or_none(run).filter(|_| shape & 1 == 1).map(|run| (run, TapeSeq(at)));
            let commitment = (shape & 2 == 2 && commitment != [0; 32]).then_some(commitment);
            Envelope {
                redaction: if mark && commitment.is_some() {
                    RedactionMark::Redacted
                } else {
                    RedactionMark::Untouched
                },
                kind,
                epoch: Epoch(epoch),
                seq: Seq(seq),
                time: Timestamp(time),
                log_id: LogId(log),
                principal: PrincipalId::from_bytes(principal),
                session: SessionId::from_bytes_or_none(session),
                run,
                redaction_ruleset: rules,
                prev: if seq == 0 { LeafHash::ZERO } else { LeafHash(prev) },
                commitment,
                facts,
            }
        },
    )
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(envelope in envelopes()) {
        let bytes = envelope.encode().unwrap();
        prop_assert_eq!(bytes.len(), HEADER_BYTES + envelope.facts.len());
        prop_assert_eq!(Envelope::decode(&bytes).unwrap(), envelope);
    }

    #[test]
    fn bytes_that_decode_are_the_one_encoding(envelope in envelopes(), at in 0..HEADER_BYTES, value: u8) {
        let mut bytes = envelope.encode().unwrap();
        bytes[at] = value;
        if let Ok(read) = Envelope::decode(&bytes) {
            prop_assert_eq!(read.encode().unwrap(), bytes);
        }
    }

    #[test]
    fn arbitrary_bytes_never_decode_to_something_else(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(read) = Envelope::decode(&bytes) {
            prop_assert_eq!(read.encode().unwrap(), bytes);
        }
    }

    #[test]
    fn a_flipped_bit_is_another_leaf(envelope in envelopes(), place: prop::sample::Index, bit in 0..8_u8) {
        let bytes = envelope.encode().unwrap();
        let mut flipped = bytes.clone();
        flipped[place.index(bytes.len())] ^= 1 << bit;
        prop_assert_ne!(leaf_hash(&bytes), leaf_hash(&flipped));
    }

    #[test]
    fn a_cut_or_grown_envelope_is_refused(envelope in envelopes(), cut in 1..40_usize) {
        let mut bytes = envelope.encode().unwrap();
        bytes.push(0);
        prop_assert!(Envelope::decode(&bytes).is_err());
        bytes.truncate(bytes.len().saturating_sub(1 + cut));
        prop_assert!(Envelope::decode(&bytes).is_err());
    }
}

fn first() -> Envelope {
    Envelope {
        redaction: RedactionMark::Untouched,
        kind: 1,
        epoch: Epoch(1),
        seq: Seq(0),
        time: Timestamp(5),
        log_id: LogId([9; 16]),
        principal: PrincipalId::NIL,
        session: None,
        run: None,
        redaction_ruleset: 0,
        prev: LeafHash::ZERO,
        commitment: None,
        facts: vec![8, 1],
    }
}

#[test]
fn contradictions_are_refused_in_both_directions() {
    let bad = [
        ("run", Envelope { run: Some((RunId::from_parts(1, 1), TapeSeq(0))), ..first() }),
        ("run", Envelope { run: Some((RunId::NIL, TapeSeq(1))), ..first() }),
        ("session", Envelope { session: Some(SessionId::NIL), ..first() }),
        ("prev", Envelope { prev: LeafHash([1; 32]), ..first() }),
        ("prev", Envelope { seq: Seq(1), ..first() }),
        ("commitment", Envelope { commitment: Some([0; 32]), ..first() }),
        ("redacted flag", Envelope { redaction: RedactionMark::Redacted, ..first() }),
    ];
    for (what, envelope) in bad {
        assert_eq!(envelope.encode(), Err(EnvelopeError::NotCanonical(what)));
    }
    let mut bytes = first().encode().unwrap();
    bytes[1] = 0b100;
    assert_eq!(Envelope::decode(&bytes), Err(EnvelopeError::NotCanonical("flags")));
    bytes[1] = FLAG_HAS_PAYLOAD;
    assert_eq!(Envelope::decode(&bytes), Err(EnvelopeError::NotCanonical("commitment")));
    bytes[1] = 0;
    bytes[0] = 2;
    assert_eq!(Envelope::decode(&bytes), Err(EnvelopeError::Version(2)));
}

#[test]
fn the_cap_holds() {
    let full = Envelope { facts: vec![0; FACTS_BYTES_MAX], ..first() };
    assert_eq!(full.encode().unwrap().len(), ENVELOPE_BYTES_MAX);
    let over = Envelope { facts: vec![0; FACTS_BYTES_MAX + 1], ..first() };
    assert_eq!(over.encode(), Err(EnvelopeError::TooLarge));
    assert_eq!(Envelope::decode(&[1; ENVELOPE_BYTES_MAX + 1]), Err(EnvelopeError::TooLarge));
}

#[test]
fn the_chain_admits_only_the_next_entry() {
    let one = first();
    let bytes = one.encode().unwrap();
    let mut chain = Chain::begin(one.log_id);
    assert_eq!(chain.admit(&one, &bytes), Ok(leaf_hash(&bytes)));
    assert_eq!(chain.admit(&one, &bytes), Err(crate::ChainFault::Seq));
    let two = Envelope { seq: Seq(1), prev: LeafHash([1; 32]), ..first() };
    assert_eq!(chain.admit(&two, &two.encode().unwrap()), Err(crate::ChainFault::Prev));
    let two = Envelope { prev: chain.head, log_id: LogId([8; 16]), ..two };
    assert_eq!(chain.admit(&two, &two.encode().unwrap()), Err(crate::ChainFault::Log));
}

#[test]
fn envelope_v1_keeps_its_bytes_for_ever() {
    let envelope = Envelope {
        session: SessionId::from_bytes_or_none([2; 16]),
        run: Some((RunId::from_bytes([3; 16]), TapeSeq(4))),
        seq: Seq(1),
        prev: LeafHash([5; 32]),
        commitment: Some([6; 32]),
        principal: PrincipalId::from_bytes([7; 16]),
        ..first()
    };
    let hex: String = leaf_hash(&envelope.encode().unwrap()).0.iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, "8490aef1e65d719249a3ff0f680493a98ee94b8d40deb1b629b75b00de32bd8c");
}
