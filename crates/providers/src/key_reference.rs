//! Names where a key is kept, and fetches it from there.
//!
//! Configuration holds references, never values.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::str::FromStr;

use palyra_ports::SecretName;

use crate::secret::Secret;

/// How large a key file may be.
const KEY_FILE_BYTES_MAX: u64 = 16 * 1024;

/// Where a key is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyReference {
    /// In an environment variable.
    Env(String),
    /// In a file.
    File(PathBuf),
    /// In the vault of the daemon.
    Vault(SecretName),
}

/// Why a text is no reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseKeyReferenceError {
    /// It has no known scheme. It is not repeated: people paste keys where references belong.
    #[error(
        "a key reference is `env:NAME`, `file:PATH` or `vault:NAME`; the key itself is never written here"
    )]
    Scheme,
    /// The name of the variable cannot be one.
    #[error("the name behind `env:` is not that of an environment variable")]
    Name,
    /// The path is not absolute.
    #[error("the path behind `file:` is not absolute")]
    Path,
    /// The name of the secret cannot be one. It is not repeated either.
    #[error(
        "the name behind `vault:` is not that of a secret: small letters, digits, `_`, `.` and `-`, a letter first"
    )]
    Secret,
}

/// Why a key cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ResolveKeyError {
    /// The variable is not set, or empty.
    #[error("`{name}` is not set in the daemon's environment")]
    NotSet {
        /// The variable.
        name: String,
    },
    /// The file cannot be read.
    #[error("the key file `{}` cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The file holds no key, or is a folder, a pipe or a device.
    #[error("the key file `{}` is empty, too large, not text, or not a file", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// The vault has it, and gives it out through its own port only.
    #[error("the key is the secret `{}` of the vault, which only a running daemon can read", name.as_str())]
    InVault {
        /// The secret.
        name: SecretName,
    },
}

impl FromStr for KeyReference {
    type Err = ParseKeyReferenceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().split_once(':') {
            Some(("env", name)) if is_variable(name) => Ok(Self::Env(name.to_owned())),
            Some(("env", _)) => Err(ParseKeyReferenceError::Name),
            Some(("file", path)) if path.starts_with('/') => Ok(Self::File(PathBuf::from(path))),
            Some(("file", _)) => Err(ParseKeyReferenceError::Path),
            Some(("vault", name)) => {
                name.parse().map(Self::Vault).map_err(|_| ParseKeyReferenceError::Secret)
            }
            _ => Err(ParseKeyReferenceError::Scheme),
        }
    }
}

impl fmt::Display for KeyReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Vault(name) => write!(f, "vault:{}", name.as_str()),
        }
    }
}

impl KeyReference {
    /// Fetches the key from the environment or a file.
    ///
    /// # Errors
    /// [`ResolveKeyError`], which never holds any part of a value; [`ResolveKeyError::InVault`] for a secret of the vault.
    pub fn resolve(&self, environment: &BTreeMap<String, String>) -> Result<Secret, ResolveKeyError> {
        match self {
            Self::Env(name) => {
                let value = environment.get(name).filter(|value| !value.trim().is_empty());
                value
                    .map(|value| Secret::new(value).found_at(self))
                    .ok_or_else(|| ResolveKeyError::NotSet { name: name.clone() })
            }
            Self::File(path) => {
                let unreadable = |cause| ResolveKeyError::Unreadable { path: path.clone(), cause };
                let mut bytes = Vec::new();
                // Asked before it is opened: opening a pipe waits for whoever writes to it.
                if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
                    return Err(ResolveKeyError::NoKey { path: path.clone() });
                }
                let file = File::open(path).map_err(unreadable)?;
                file.take(KEY_FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
                let fits = bytes.len() as u64 <= KEY_FILE_BYTES_MAX;
                let text = String::from_utf8(bytes).ok().filter(|text| fits && !text.trim().is_empty());
                text.map(|text| Secret::new(&text).found_at(self))
                    .ok_or_else(|| ResolveKeyError::NoKey { path: path.clone() })
            }
            Self::Vault(name) => Err(ResolveKeyError::InVault { name: name.clone() }),
        }
    }
}

fn is_variable(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(allowed) && !name.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_and_written_alike() {
        for text in ["env:OPENAI_API_KEY", "file:/run/secrets/key", "vault:model-openai"] {
            assert_eq!(text.parse::<KeyReference>().expect("a reference").to_string(), text);
        }
        let refused = |text: &str| text.parse::<KeyReference>().expect_err("refused");
        assert_eq!(refused("sk-canary"), ParseKeyReferenceError::Scheme);
        assert_eq!(refused("env:"), ParseKeyReferenceError::Name);
        assert_eq!(refused("env:A B"), ParseKeyReferenceError::Name);
        assert_eq!(refused("file:key"), ParseKeyReferenceError::Path);
        assert_eq!(refused("vault:SK-Canary"), ParseKeyReferenceError::Secret);
        for text in ["sk-canary", "vault:SK-canary"] {
            assert!(!refused(text).to_string().contains("canary"), "{text}");
        }
    }

    #[test]
    fn keys_are_fetched_and_failures_hold_no_value() {
        let environment =
            BTreeMap::from([("A".to_owned(), " canary ".to_owned()), ("B".to_owned(), " ".to_owned())]);
        let env = |name: &str| KeyReference::Env(name.to_owned()).resolve(&environment);
        assert_eq!(env("A").expect("a key").expose(), "canary");
        assert!(matches!(env("B"), Err(ResolveKeyError::NotSet { .. })));
        assert!(matches!(env("C"), Err(ResolveKeyError::NotSet { .. })));
        let of_vault: KeyReference = "vault:a".parse().expect("a reference");
        assert!(matches!(of_vault.resolve(&environment), Err(ResolveKeyError::InVault { .. })));
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).expect("written");
            KeyReference::File(path).resolve(&environment)
        };
        assert_eq!(file("good", b"canary\n").expect("a key").expose(), "canary");
        assert!(matches!(file("empty", b"\n"), Err(ResolveKeyError::NoKey { .. })));
        assert!(matches!(file("binary", b"canary\xff"), Err(ResolveKeyError::NoKey { .. })));
        assert!(matches!(file("large", &[b'x'; 20_000]), Err(ResolveKeyError::NoKey { .. })));
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("coreutils");
        assert!(made.success());
        for odd in [pipe, folder.path().to_owned(), "/dev/zero".into()] {
            let found = KeyReference::File(odd).resolve(&environment);
            assert!(matches!(found, Err(ResolveKeyError::NoKey { .. })));
        }
        let gone = KeyReference::File(folder.path().join("gone")).resolve(&environment).expect_err("gone");
        assert!(matches!(gone, ResolveKeyError::Unreadable { .. }));
        let binary = file("binary", b"canary\xff").expect_err("no key");
        assert!(!format!("{binary:?} {binary}").contains("canary"));
    }
}
