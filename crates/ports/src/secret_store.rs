//! Keeping secrets, and giving them out to where they are used and nowhere else.
//!
//! No answer of this port holds a value but [`SecretStore::open`], which is for the adapters at the border to other
//! machines. It is not handed to tools, transports or models.

mod error;
mod sent_as;

use std::collections::BTreeSet;

use palyra_types::{Content, PrincipalId, Seq, Timestamp};

use crate::bound_credential::CredentialUser;

pub use error::SecretStoreError;
pub use sent_as::{NotAWayToSend, SentAs};

/// Characters of a value, at least: a shorter one could not be kept out of texts, where it occurs by chance.
pub const SECRET_CHARS_MIN: usize = 12;
/// Bytes of a value, at most.
pub const SECRET_BYTES_MAX: usize = 64 * 1024;
/// Hosts of one secret, at most.
pub const SECRET_HOSTS_MAX: usize = 64;
/// Principals beside the owner who may use one secret, at most.
pub const SECRET_PRINCIPALS_MAX: usize = 64;

/// Keeps secrets at rest.
///
/// A change is made in two steps, so that the journal can decide about it in between and both agree after a crash:
/// [`Self::stage`] makes it ready durably and changes nothing, [`Self::commit`] carries it out. Callers make changes
/// one after another.
pub trait SecretStore: Send + Sync {
    /// Returns what is kept, by name. What cannot be read is left out; the status names it.
    fn list(&self) -> Result<Vec<SecretRecord>, SecretStoreError>;

    /// Returns one secret, if there is one of this name.
    ///
    /// # Errors
    /// [`SecretStoreError::Damaged`] for one that does not open.
    fn find(&self, name: &SecretName) -> Result<Option<SecretRecord>, SecretStoreError>;

    /// Gives a value out, for the one host it is needed for, to somebody who may use it.
    ///
    /// # Errors
    /// [`SecretStoreError::NotFound`] also for one that the reader may not use, whatever else is wrong with it;
    /// [`SecretStoreError::NotBound`] when the secret is not for that host, [`SecretStoreError::Unguarded`] when its
    /// value could not be kept out of texts.
    fn open(
        &self,
        name: &SecretName,
        host: &str,
        reader: SecretReader,
    ) -> Result<OpenedSecret, SecretStoreError>;

    /// Says where the root key comes from, and whether it is there.
    fn status(&self) -> Result<VaultStatus, SecretStoreError>;

    /// Makes a change ready, in the place of what was ready before, and returns the secret as it will be; nothing for
    /// a removal and a passphrase. `since` is where the journal can say from that it was decided.
    ///
    /// # Errors
    /// [`SecretStoreError`] when it cannot be made; then everything is as it was, and nothing is ready.
    fn stage(&self, change: SecretChange, since: Seq) -> Result<Option<SecretRecord>, SecretStoreError>;

    /// Returns from where on the journal can say whether what is ready was decided; `None` when nothing is. Quick: a start
    /// asks it before anything else.
    fn staged(&self) -> Result<Option<Seq>, SecretStoreError>;

    /// Carries out what is ready, if anything is. May be repeated.
    ///
    /// # Errors
    /// [`SecretStoreError::Disk`]; it stays ready then.
    fn commit(&self) -> Result<(), SecretStoreError>;

    /// Gives up what is ready, if anything is, and a passphrase that was tried.
    fn discard(&self) -> Result<(), SecretStoreError>;

    /// Says whether a passphrase is the right one, and keeps what it opens ready. Takes a second of one core.
    ///
    /// # Errors
    /// [`SecretStoreError::Locked`] when the vault has none, or cannot be read.
    fn try_passphrase(&self, passphrase: &Content<String>) -> Result<PassphraseCheck, SecretStoreError>;

    /// Opens the vault, until the next start, with the passphrase that was tried last and was right.
    ///
    /// # Errors
    /// [`SecretStoreError::Locked`] when there is none.
    fn unlock(&self) -> Result<(), SecretStoreError>;
}

/// Says which secrets there are, and nothing else of them: for who may learn no more.
pub trait SecretNames: Send + Sync {
    /// Whether there certainly is none of this name for an effect; what cannot be told is not missing. One that the
    /// effect's principal may not use is missing. May wait for a disk.
    fn is_missing(&self, name: &str, used_by: Option<CredentialUser>) -> bool;
}

/// On whose behalf a secret is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretReader {
    /// The owner of the daemon, to whom every secret belongs.
    Owner,
    /// Another principal, who needs a binding.
    Principal(PrincipalId),
}

/// What is to become of a secret, or of all of them.
#[derive(Debug, Clone)]
pub enum SecretChange {
    /// A value is kept: of a new secret, or another value of one that is there.
    Put(NewSecret),
    /// The secret may be given to these hosts from now on; the value stays.
    Bind {
        /// Its name.
        name: SecretName,
        /// The hosts, in lower case.
        hosts: BTreeSet<String>,
    },
    /// The secret may be used by these principals from now on, beside the owner; value and hosts stay.
    Share {
        /// Its name.
        name: SecretName,
        /// The principals.
        principals: BTreeSet<PrincipalId>,
    },
    /// The secret is forgotten, also one that is damaged.
    Remove(SecretName),
    /// A passphrase takes the place of the key file, or of another passphrase.
    Passphrase(Content<String>),
}

/// The name of a secret: `[a-z][a-z0-9_.-]*`, at most 64 characters. It is no secret itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

/// A text is not the name of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid name for a secret: small letters, digits, `_`, `.` and `-`, a letter first, at most 64"
)]
pub struct NotASecretName(String);

impl std::str::FromStr for SecretName {
    type Err = NotASecretName;

    fn from_str(text: &str) -> Result<Self, NotASecretName> {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
        let fits =
            text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(inner);
        if fits { Ok(Self(text.to_owned())) } else { Err(NotASecretName(text.chars().take(64).collect())) }
    }
}

impl SecretName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A secret to keep.
#[derive(Debug, Clone)]
pub struct NewSecret {
    /// Its name.
    pub name: SecretName,
    /// Its value; [`SECRET_CHARS_MIN`] to [`SECRET_BYTES_MAX`].
    pub value: Content<String>,
    /// The hosts to which it may be given, in lower case, `host:port` where the port is not 443; empty for none yet.
    /// When the secret is there, `None` keeps its hosts.
    pub hosts: Option<BTreeSet<String>>,
    /// How it is sent; `None` for what it is, and for [`SentAs::Bearer`] when it is new.
    pub sent_as: Option<SentAs>,
    /// When it is put.
    pub now: Timestamp,
}

/// What is known of a secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRecord {
    /// Its name.
    pub name: SecretName,
    /// 1 at first; raised with each value.
    pub version: u32,
    /// The hosts to which it may be given.
    pub hosts: BTreeSet<String>,
    /// The principals beside the owner who may use it.
    pub principals: BTreeSet<PrincipalId>,
    /// How it is sent.
    pub sent_as: SentAs,
    /// When this value was put.
    pub changed: Timestamp,
}

impl SecretRecord {
    /// Returns whether somebody may use it.
    #[must_use]
    pub fn is_usable_by(&self, reader: SecretReader) -> bool {
        match reader {
            SecretReader::Owner => true,
            SecretReader::Principal(principal) => self.principals.contains(&principal),
        }
    }
}

/// A value in the clear, and how it is sent.
#[derive(Debug, Clone)]
pub struct OpenedSecret {
    /// The value.
    pub value: Content<String>,
    /// How it is sent.
    pub sent_as: SentAs,
}

/// Where the root key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// A file beside the secrets: whoever can read the state directory can open them.
    KeyFile,
    /// A passphrase, to be given after each start.
    Passphrase,
}

/// Whether a passphrase opened the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassphraseCheck {
    /// It did.
    Opened,
    /// It is another one.
    Wrong,
}

/// How a vault stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultStatus {
    /// Where its key comes from.
    pub key: RootKind,
    /// Why it is locked; `None` for one that is open.
    pub locked: Option<String>,
    /// Secrets that are kept.
    pub secrets: usize,
    /// Those that cannot be read, or do not open with the key that is there.
    pub damaged: Vec<SecretName>,
}

/// Returns why a value cannot be kept, if so: of the parts of a pair, the password counts.
///
/// # Errors
/// [`SecretStoreError::Unsuitable`].
pub fn check_value(value: &str, sent_as: &SentAs) -> Result<(), SecretStoreError> {
    let unsuitable = |why: String| Err(SecretStoreError::Unsuitable { why });
    let secret = match (sent_as, value.split_once(':')) {
        (SentAs::Basic, Some((_, password))) => password,
        (SentAs::Basic, None) => {
            return unsuitable("what is sent as `basic` is a pair: `user:password`".to_owned());
        }
        (SentAs::Bearer | SentAs::Header(_), _) => value,
    };
    if secret.chars().count() < SECRET_CHARS_MIN {
        unsuitable(format!(
            "a secret has {SECRET_CHARS_MIN} characters at least: a shorter one could not be kept out of texts"
        ))
    } else if value.len() > SECRET_BYTES_MAX {
        unsuitable(format!("a secret has {SECRET_BYTES_MAX} bytes at most"))
    } else if value.chars().any(char::is_control) {
        unsuitable("a secret has no line breaks and no other control characters".to_owned())
    } else if !matches!(sent_as, SentAs::Basic) && !value.is_ascii() {
        unsuitable("what is sent in a header as it is has no characters outside of ASCII".to_owned())
    } else {
        Ok(())
    }
}

/// Returns why hosts cannot be bound, if so.
///
/// # Errors
/// [`SecretStoreError::Unsuitable`].
pub fn check_hosts(hosts: &BTreeSet<String>) -> Result<(), SecretStoreError> {
    let plain = |host: &String| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-:[]".contains(c);
        !host.is_empty() && host.len() <= 253 && host.chars().all(inner)
    };
    let why = match hosts.iter().find(|host| !plain(host)) {
        Some(host) => {
            let shown: String = host.chars().take(64).collect();
            format!(
                "`{shown}` is not a host: a name in lowercase letters, or `name:port` where the port is not 443"
            )
        }
        None if hosts.len() > SECRET_HOSTS_MAX => format!("a secret is for {SECRET_HOSTS_MAX} hosts at most"),
        None => return Ok(()),
    };
    Err(SecretStoreError::Unsuitable { why })
}

/// Returns why principals cannot be bound, if so.
///
/// # Errors
/// [`SecretStoreError::Unsuitable`].
pub fn check_principals(principals: &BTreeSet<PrincipalId>) -> Result<(), SecretStoreError> {
    if principals.len() <= SECRET_PRINCIPALS_MAX {
        return Ok(());
    }
    let why = format!("a secret is for {SECRET_PRINCIPALS_MAX} principals beside the owner at most");
    Err(SecretStoreError::Unsuitable { why })
}
