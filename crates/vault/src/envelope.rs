//! One secret, sealed: a key of its own seals the value, and the root key seals that key.
//!
//! AES-256-GCM with random nonces (NIST SP 800-38D); what the value is bound to is authenticated with both.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use palyra_ports::{Entropy, SecretName, SentAs};
use palyra_types::PrincipalId;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub(crate) const KEY_BYTES: usize = 32;

/// A key in memory; cleared when it is let go.
pub(crate) type VaultKey = Zeroizing<[u8; KEY_BYTES]>;

/// Bytes that were sealed, with their nonce before them; base64 in files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedBytes(String);

/// What a file of the vault holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Envelope {
    pub(crate) form: u32,
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) hosts: BTreeSet<String>,
    /// Those beside the owner who may use it. A file without them is as it was before there were any.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) principals: BTreeSet<PrincipalId>,
    /// As [`SentAs`] is shown.
    pub(crate) sent_as: String,
    pub(crate) changed: i64,
    pub(crate) key: SealedBytes,
    pub(crate) value: SealedBytes,
}

/// The form that is written.
pub(crate) const FORM: u32 = 1;

/// Why something sealed does not open: it was changed, or the key is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DoesNotOpen;

/// What a value is bound to.
pub(crate) struct BoundTo<'a> {
    pub(crate) name: &'a SecretName,
    pub(crate) version: u32,
    pub(crate) hosts: &'a BTreeSet<String>,
    pub(crate) principals: &'a BTreeSet<PrincipalId>,
    pub(crate) sent_as: &'a SentAs,
    pub(crate) changed: i64,
}

impl BoundTo<'_> {
    fn bytes(&self, of: &str) -> Vec<u8> {
        let hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        let (name, version, changed) = (self.name.as_str(), self.version, self.changed);
        let (hosts, sent_as) = (hosts.join(","), self.sent_as);
        let mut text = format!("palyra/vault/v1/{of}\n{name}\n{version}\n{changed}\n{hosts}\n{sent_as}");
        if !self.principals.is_empty() {
            let principals: Vec<String> = self.principals.iter().map(PrincipalId::to_string).collect();
            text = format!("{text}\n{}", principals.join(","));
        }
        text.into_bytes()
    }
}

impl Envelope {
    pub(crate) fn seal(root: &VaultKey, bound: &BoundTo<'_>, value: &[u8], entropy: &dyn Entropy) -> Self {
        let key = new_key(entropy);
        Self {
            form: FORM,
            name: bound.name.as_str().to_owned(),
            version: bound.version,
            hosts: bound.hosts.clone(),
            principals: bound.principals.clone(),
            sent_as: bound.sent_as.to_string(),
            changed: bound.changed,
            key: seal(root, &bound.bytes("key"), &*key, entropy),
            value: seal(&key, &bound.bytes("value"), value, entropy),
        }
    }

    pub(crate) fn sent_as(&self) -> Result<SentAs, DoesNotOpen> {
        self.sent_as.parse().map_err(|_| DoesNotOpen)
    }

    pub(crate) fn open(&self, root: &VaultKey, name: &SecretName) -> Result<Zeroizing<Vec<u8>>, DoesNotOpen> {
        if self.form != FORM || self.name != name.as_str() {
            return Err(DoesNotOpen);
        }
        let sent_as = self.sent_as()?;
        let (version, hosts, changed) = (self.version, &self.hosts, self.changed);
        let bound =
            BoundTo { name, version, hosts, principals: &self.principals, sent_as: &sent_as, changed };
        let key = open(root, &bound.bytes("key"), &self.key)?;
        let key = VaultKey::new(key.as_slice().try_into().map_err(|_| DoesNotOpen)?);
        open(&key, &bound.bytes("value"), &self.value)
    }
}

pub(crate) fn new_key(entropy: &dyn Entropy) -> VaultKey {
    let mut key = VaultKey::new([0; KEY_BYTES]);
    entropy.fill(&mut *key);
    key
}

pub(crate) fn seal(key: &VaultKey, bound: &[u8], clear: &[u8], entropy: &dyn Entropy) -> SealedBytes {
    let mut nonce = [0; NONCE_LEN];
    entropy.fill(&mut nonce);
    let mut sealed = Zeroizing::new(clear.to_vec());
    let tag = cipher(key)
        .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(bound), &mut sealed)
        .expect("a value is far below the cipher's limit");
    SealedBytes(STANDARD.encode([&nonce, sealed.as_slice(), tag.as_ref()].concat()))
}

pub(crate) fn open(
    key: &VaultKey,
    bound: &[u8],
    sealed: &SealedBytes,
) -> Result<Zeroizing<Vec<u8>>, DoesNotOpen> {
    let bytes = STANDARD.decode(&sealed.0).map_err(|_| DoesNotOpen)?;
    let (nonce, rest) = bytes.split_at_checked(NONCE_LEN).ok_or(DoesNotOpen)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| DoesNotOpen)?;
    let mut rest = Zeroizing::new(rest.to_vec());
    let clear = cipher(key).open_in_place(nonce, Aad::from(bound), &mut rest).map_err(|_| DoesNotOpen)?;
    Ok(Zeroizing::new(clear.to_vec()))
}

fn cipher(key: &VaultKey) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &**key).expect("the key has the cipher's length"))
}
