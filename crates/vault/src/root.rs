//! The key below which all others lie: 32 random bytes in a file, or what a passphrase comes to.
//!
//! Owns its two files. Invariant: a passphrase is never stored; what is stored beside its salt only tells whether one
//! is right. Argon2id (RFC 9106) with the parameters that the file names.

use std::io;
use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use palyra_ports::{Entropy, RootKind, SecretStoreError};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::envelope::{KEY_BYTES, SealedBytes, VaultKey, new_key, open, seal};
use crate::files;

const KEY_FILE: &str = "root.key";
const PASSPHRASE_FILE: &str = "passphrase.json";
/// Sealed under the key of a passphrase, to tell a right one from a wrong one.
const CHECK: &[u8] = b"palyra/vault/v1/check";
const SALT_BYTES: usize = 16;
/// RFC 9106, section 4, second choice: 64 MiB, three passes.
const MEMORY_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
const LANES: u32 = 4;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PassphraseFile {
    form: u32,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    salt: [u8; SALT_BYTES],
    check: SealedBytes,
}

/// What a vault has of its root key.
pub(crate) enum RootState {
    /// There is none, and nothing that was sealed: one is made with the first secret.
    NotYet,
    Key(VaultKey),
    /// With what is missing.
    Locked(String),
}

/// Returns where the key comes from. Makes none, for a daemon starts on a full disk as well.
pub(crate) fn find(folder: &Path, sealings: io::Result<usize>) -> (RootKind, RootState) {
    let unreadable =
        |file: &str, error: &io::Error| RootState::Locked(format!("`{file}` cannot be read: {error}"));
    let sealings = match sealings {
        Ok(sealings) => sealings,
        Err(error) => return (RootKind::KeyFile, unreadable("vault", &error)),
    };
    match files::read(&folder.join(PASSPHRASE_FILE)) {
        Ok(None) => {}
        Ok(Some(_)) => {
            return (RootKind::Passphrase, RootState::Locked("its passphrase was not given yet".to_owned()));
        }
        Err(error) => return (RootKind::Passphrase, unreadable(PASSPHRASE_FILE, &error)),
    }
    let root = match files::read(&folder.join(KEY_FILE)) {
        Ok(Some(bytes)) => {
            let bytes = Zeroizing::new(bytes);
            match bytes.as_slice().try_into() {
                Ok(key) => RootState::Key(VaultKey::new(key)),
                Err(_) => {
                    RootState::Locked(format!("the key file `{KEY_FILE}` does not have {KEY_BYTES} bytes"))
                }
            }
        }
        Ok(None) if sealings > 0 => RootState::Locked(format!("the key file `{KEY_FILE}` is not there")),
        Ok(None) => RootState::NotYet,
        Err(error) => unreadable(KEY_FILE, &error),
    };
    (RootKind::KeyFile, root)
}

/// Makes a key file where there is none.
pub(crate) fn make(folder: &Path, entropy: &dyn Entropy) -> Result<VaultKey, SecretStoreError> {
    let key = new_key(entropy);
    files::write(folder, KEY_FILE, &*key)
        .and_then(files::WriteDurability::durable)
        .map_err(disk("written"))?;
    Ok(key)
}

/// Returns the key of a passphrase, unless it is the wrong one.
pub(crate) fn derived(folder: &Path, passphrase: &str) -> Result<Option<VaultKey>, SecretStoreError> {
    let file = passphrase_file(folder)?;
    let cost = DeriveCost { memory_kib: file.memory_kib, passes: file.passes, lanes: file.lanes };
    let key = derive(passphrase, &file.salt, cost)?;
    Ok(file.is_opened_by(&key).then_some(key))
}

/// Returns whether a key is that of the passphrase which is set by now.
pub(crate) fn is_right(folder: &Path, key: &VaultKey) -> Result<bool, SecretStoreError> {
    Ok(passphrase_file(folder)?.is_opened_by(key))
}

fn passphrase_file(folder: &Path) -> Result<PassphraseFile, SecretStoreError> {
    let bytes = files::read(&folder.join(PASSPHRASE_FILE)).map_err(disk("read"))?;
    let missing = || SecretStoreError::Locked { why: "it has no passphrase".to_owned() };
    serde_json::from_slice(&bytes.ok_or_else(missing)?)
        .map_err(|error| disk("read")(io::Error::new(io::ErrorKind::InvalidData, error)))
}

impl PassphraseFile {
    fn is_opened_by(&self, key: &VaultKey) -> bool {
        open(key, CHECK, &self.check).is_ok_and(|clear| clear.as_slice() == CHECK)
    }
}

/// Makes the key of a new passphrase, and what will tell it.
pub(crate) fn with_passphrase(
    passphrase: &str,
    entropy: &dyn Entropy,
) -> Result<(VaultKey, Vec<u8>), SecretStoreError> {
    let mut salt = [0; SALT_BYTES];
    entropy.fill(&mut salt);
    let cost = DeriveCost { memory_kib: MEMORY_KIB, passes: PASSES, lanes: LANES };
    let key = derive(passphrase, &salt, cost)?;
    let check = seal(&key, CHECK, CHECK, entropy);
    let file = PassphraseFile { form: 1, memory_kib: MEMORY_KIB, passes: PASSES, lanes: LANES, salt, check };
    let bytes = serde_json::to_vec(&file).map_err(|error| disk("written")(error.into()))?;
    Ok((key, bytes))
}

pub(crate) fn store_passphrase(folder: &Path, file: &[u8]) -> io::Result<()> {
    files::write(folder, PASSPHRASE_FILE, file)?.durable()
}

/// Returns whether a folder was made ready for a passphrase.
pub(crate) fn has_passphrase(folder: &Path) -> bool {
    folder.join(PASSPHRASE_FILE).is_file()
}

/// The work that Argon2 does for a key.
#[derive(Debug, Clone, Copy)]
struct DeriveCost {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

fn derive(passphrase: &str, salt: &[u8], cost: DeriveCost) -> Result<VaultKey, SecretStoreError> {
    let unfit = |error: argon2::Error| SecretStoreError::Locked { why: error.to_string() };
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(KEY_BYTES)).map_err(unfit)?;
    let mut key = VaultKey::new([0; KEY_BYTES]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, &mut *key)
        .map_err(unfit)?;
    Ok(key)
}

pub(crate) fn disk(doing: &'static str) -> impl FnOnce(io::Error) -> SecretStoreError {
    move |cause| SecretStoreError::Disk { doing, cause }
}
