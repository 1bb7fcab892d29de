//! AES-256-GCM as the format spells it: nonce, ciphertext, tag.

use palyra_ports::Entropy;
use palyra_types::{LogId, PrincipalId, Seq};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

/// Bytes of every key here.
pub(super) const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 12;
/// What sealing adds to a text.
#[cfg(test)]
pub(super) const SEAL_BYTES: usize = NONCE_BYTES + 16;

/// A key that seals and opens.
pub(super) struct Key(LessSafeKey);

impl Key {
    pub(super) fn new(bytes: &[u8; KEY_BYTES]) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, bytes).expect("a key of this cipher has 32 bytes");
        Self(LessSafeKey::new(key))
    }

    /// Seals a text under a nonce of its own.
    pub(super) fn seal(&self, entropy: &dyn Entropy, bound_to: &[u8], text: &[u8]) -> Vec<u8> {
        let mut nonce = [0; NONCE_BYTES];
        entropy.fill(&mut nonce);
        let mut sealed = Vec::with_capacity(NONCE_BYTES + text.len() + AES_256_GCM.tag_len());
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(text);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce, Aad::from(bound_to), &mut sealed[NONCE_BYTES..])
            .expect("no text comes near the cipher's limit");
        sealed.extend_from_slice(tag.as_ref());
        sealed
    }

    /// Opens what was sealed in this place; `None` when it was not, or not with this key.
    pub(super) fn open(&self, bound_to: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, text) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let mut text = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let bytes = self.0.open_in_place(nonce, Aad::from(bound_to), &mut text).ok()?.len();
        text.truncate(bytes);
        Some(text)
    }
}

/// Where a sealed text lies, so that it opens nowhere else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SealPlace {
    pub(crate) log_id: LogId,
    pub(crate) seq: Seq,
    /// The chunk's number; `None` for the payload's row.
    pub(crate) chunk: Option<u64>,
}

impl SealPlace {
    pub(super) fn bound_to(self) -> Vec<u8> {
        let mut bound = b"palyra/seal/v1\n".to_vec();
        bound.extend_from_slice(&self.log_id.0);
        bound.extend_from_slice(&self.seq.0.to_be_bytes());
        bound.extend_from_slice(&self.chunk.unwrap_or(u64::MAX).to_be_bytes());
        bound
    }
}

/// What a wrapped key is bound to.
pub(super) fn wrap_bound_to(key_id: i64, principal: PrincipalId) -> Vec<u8> {
    let mut bound = b"palyra/subject-key/v1\n".to_vec();
    bound.extend_from_slice(&key_id.to_be_bytes());
    bound.extend_from_slice(&principal.to_bytes());
    bound
}

#[cfg(test)]
mod tests {
    use palyra_testkit::FixedEntropy;

    use super::*;

    #[test]
    fn what_is_sealed_opens_in_its_place_only() {
        let entropy = FixedEntropy::new(3);
        let key = Key::new(&[7; 32]);
        let place = SealPlace { log_id: LogId([1; 16]), seq: Seq(9), chunk: None };
        let sealed = key.seal(&entropy, &place.bound_to(), b"a text");
        assert_eq!(sealed.len(), 6 + SEAL_BYTES);
        assert_eq!(key.open(&place.bound_to(), &sealed).as_deref(), Some(&b"a text"[..]));
        for other in [
            SealPlace { seq: Seq(10), ..place },
            SealPlace { chunk: Some(1), ..place },
            SealPlace { log_id: LogId([2; 16]), ..place },
        ] {
            assert_eq!(key.open(&other.bound_to(), &sealed), None);
        }
        assert_eq!(Key::new(&[8; 32]).open(&place.bound_to(), &sealed), None);
        let mut changed = sealed.clone();
        changed[14] ^= 1;
        assert_eq!(key.open(&place.bound_to(), &changed), None);
        assert_eq!(key.open(&place.bound_to(), &sealed[..11]), None);
        assert_ne!(key.seal(&entropy, &place.bound_to(), b"a text"), sealed, "every nonce is another one");
    }
}
