//! Keyed digests: what the facts may say about content.
//!
//! Owns the commitment to a payload, the digest of content and the digest of an idempotency key. Invariant:
//! none can be recomputed by somebody who guesses the content but has not the key.

use hmac::{Hmac, KeyInit, Mac};
use palyra_types::event::ContentDigest;
use palyra_types::run::IdempotencyDigest;
use palyra_types::{Content, EffectId, LogId, PrincipalId, Redacted, RunId};
use sha2::{Digest, Sha256};

use crate::domains;

/// The key of a payload's commitment: 32 random bytes, erased together with the payload.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PayloadSalt(pub [u8; 32]);

/// Returns the commitment to a payload.
#[must_use]
pub fn commitment(salt: &PayloadSalt, payload: &[u8]) -> [u8; 32] {
    keyed(&salt.0, domains::PAYLOAD, &[payload])
}

/// Returns the digest of content under its run's salt.
#[must_use]
pub fn content_digest(run_salt: &Redacted<[u8; 32]>, content: &[u8]) -> ContentDigest {
    ContentDigest(keyed(run_salt.expose(), domains::DIGEST, &[content]))
}

/// Returns the digest of all that an approval is bound to, in order, under the run's salt.
///
/// Each part is preceded by its length, so that no two lists of parts are the same bytes.
#[must_use]
pub fn binding_digest(run_salt: &Redacted<[u8; 32]>, parts: &[&[u8]]) -> ContentDigest {
    let lengths: Vec<[u8; 8]> = parts.iter().map(|part| (part.len() as u64).to_be_bytes()).collect();
    let framed: Vec<&[u8]> =
        lengths.iter().zip(parts).flat_map(|(length, part)| [length.as_slice(), part]).collect();
    ContentDigest(keyed(run_salt.expose(), domains::BINDING, &framed))
}

/// Returns the key of one effect: SHA-256 over log, run and effect number, the same each time the effect is made.
#[must_use]
pub fn effect_key(log: LogId, run: RunId, effect: EffectId) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(domains::EFFECT);
    hash.update(log.0);
    hash.update(run.to_bytes());
    hash.update(effect.0.to_be_bytes());
    hash.finalize().into()
}

/// Returns the digest of a client's idempotency key, different for each principal.
///
/// The key of the HMAC is the principal's id, 80 bits of which are random.
#[must_use]
pub fn idempotency_digest(principal: PrincipalId, key: &Content<String>) -> IdempotencyDigest {
    IdempotencyDigest(keyed(&principal.to_bytes(), domains::IDEMPOTENCY, &[key.expose().as_bytes()]))
}

/// Returns the plain SHA-256 of a text made by the daemon.
#[must_use]
pub fn sha256(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}

fn keyed(key: &[u8], domain: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(domain);
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_keys_and_principals_keep_digests_apart() {
        let salt = Redacted::from([7; 32]);
        assert_ne!(commitment(&PayloadSalt([7; 32]), b"x"), content_digest(&salt, b"x").0);
        assert_ne!(content_digest(&salt, b"x"), content_digest(&Redacted::from([8; 32]), b"x"));
        let [a, b] = [1, 2].map(|n| idempotency_digest(PrincipalId::from_parts(1, n), &"key".into()));
        assert_ne!(a, b);
    }

    #[test]
    fn what_is_bound_is_framed() {
        let salt = Redacted::from([7; 32]);
        let bound = |parts: &[&[u8]]| binding_digest(&salt, parts);
        assert_ne!(bound(&[b"ab", b"c"]), bound(&[b"a", b"bc"]));
        assert_ne!(bound(&[b"abc"]), bound(&[b"abc", b""]));
        assert_ne!(bound(&[b"x"]), content_digest(&salt, b"x"));
    }

    #[test]
    fn an_effect_keeps_its_key_for_ever() {
        let key = |effect| effect_key(LogId([1; 16]), RunId::from_parts(2, 3), EffectId(effect));
        let hex: String = key(4).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "654ab94822f4aa12b087d9d4a1900bb134bbda8ffc474a3b5205964f3fd9bb8d");
        assert_ne!(key(4), key(5));
    }

    #[test]
    fn a_commitment_keeps_its_value_for_ever() {
        let hex: String =
            commitment(&PayloadSalt([1; 32]), b"hello").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "ceb6cf77c3151f4876349ed82df01ca06eac734406702c8431445b886a22703f");
    }
}
