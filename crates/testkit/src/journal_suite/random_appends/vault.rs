//! Events about the vault, in all their forms.

use palyra_types::run::Surface;
use palyra_types::vault::{SecretPut, SecretUsed, UnlockOutcome, VaultEvent};
use palyra_types::{EffectId, ErrorCode, PrincipalId, RunId};

use super::RandomAppends;

const SURFACES: [Surface; 2] = [Surface::LocalSocket, Surface::Tcp];

impl RandomAppends {
    pub(super) fn vault_event(&mut self) -> VaultEvent {
        let via = self.one_of(&SURFACES);
        match self.below(6) {
            0 => VaultEvent::Put(SecretPut {
                version: self.number(),
                via,
                secret: self.text(),
                hosts: (0..self.below(3)).map(|_| self.text()).collect(),
                sent_as: self.text(),
            }),
            1 => VaultEvent::Bound {
                via,
                secret: self.text(),
                hosts: (0..self.below(3)).map(|_| self.text()).collect(),
                principals: (0..self.below(3))
                    .map(|id| PrincipalId::from_parts(5, 1 + u128::from(id)))
                    .collect(),
            },
            2 => VaultEvent::Removed { via, secret: self.text() },
            3 => VaultEvent::Unlocked {
                via,
                outcome: self.one_of(&[UnlockOutcome::Opened, UnlockOutcome::Wrong]),
            },
            4 => VaultEvent::PassphraseSet { via },
            _ => VaultEvent::Used(SecretUsed {
                on_behalf: self
                    .maybe(|me| (RunId::from_parts(3, 1 + u128::from(me.below(9))), EffectId(me.number()))),
                refused: self.maybe(|me| me.one_of(&[ErrorCode::VaultLocked, ErrorCode::SecretNotBound])),
                secret: self.text(),
                host: self.text(),
            }),
        }
    }
}
