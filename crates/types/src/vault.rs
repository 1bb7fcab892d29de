//! What becomes of secrets, as recorded facts: kept, bound, removed, used. Never a value.
//!
//! Owns the values. Invariant: names and hosts are content, and what remains when it is erased tells which step was
//! taken by whom, on which surface, and for which effect.

use crate::content_walk::ContentClass::Identity;
use crate::content_walk::content_rows;
use crate::surface::Surface;
use crate::{EffectId, ErrorCode, PrincipalId, Redacted, RunId};

/// Something was done with the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VaultEvent {
    /// A value was put: the first one of a secret, or another one.
    Put(SecretPut),
    /// A secret got other hosts, or other principals.
    Bound {
        /// On which surface.
        via: Surface,
        /// Its name.
        secret: Redacted<String>,
        /// All hosts to which it may be given from now on.
        hosts: Vec<Redacted<String>>,
        /// All principals beside the owner who may use it from now on.
        principals: Vec<PrincipalId>,
    },
    /// A secret was removed.
    Removed {
        /// On which surface.
        via: Surface,
        /// Its name.
        secret: Redacted<String>,
    },
    /// Somebody gave a passphrase.
    Unlocked {
        /// On which surface.
        via: Surface,
        /// Whether it was the right one.
        outcome: UnlockOutcome,
    },
    /// A passphrase took the place of the key before it.
    PassphraseSet {
        /// On which surface.
        via: Surface,
    },
    /// A secret was given out for a request, or was not.
    Used(SecretUsed),
}

/// A value was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPut {
    /// 1 for the first value of a secret.
    pub version: u32,
    /// On which surface.
    pub via: Surface,
    /// Its name.
    pub secret: Redacted<String>,
    /// The hosts to which it may be given.
    pub hosts: Vec<Redacted<String>>,
    /// The header that carries it.
    pub sent_as: Redacted<String>,
}

/// Whether a passphrase was the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnlockOutcome {
    /// It opened the vault.
    Opened,
    /// It did not.
    Wrong,
}

/// A secret was asked for on behalf of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretUsed {
    /// For which effect of which run; `None` where no run is behind it.
    pub on_behalf: Option<(RunId, EffectId)>,
    /// Why it was not given out; `None` for one that was.
    pub refused: Option<ErrorCode>,
    /// Its name.
    pub secret: Redacted<String>,
    /// To whom.
    pub host: Redacted<String>,
}

content_rows! {
    fn vault_event(walk, event: VaultEvent) {
        match event {
            VaultEvent::Put(SecretPut { version: _, via: _, secret, hosts, sent_as }) => {
                walk.text(Identity, "secret", secret);
                walk.each(hosts, |walk, host| walk.text(Identity, "hosts", host));
                walk.text(Identity, "sent_as", sent_as);
            }
            VaultEvent::Bound { via: _, secret, hosts, principals: _ } => {
                walk.text(Identity, "secret", secret);
                walk.each(hosts, |walk, host| walk.text(Identity, "hosts", host));
            }
            VaultEvent::Removed { via: _, secret } => walk.text(Identity, "secret", secret),
            VaultEvent::Used(SecretUsed { on_behalf: _, refused: _, secret, host }) => {
                walk.text(Identity, "secret", secret);
                walk.text(Identity, "host", host);
            }
            VaultEvent::Unlocked { via: _, outcome: _ } | VaultEvent::PassphraseSet { via: _ } => {}
        }
    }
}
