//! The mode of each domain.

use palyra_types::incident::{HealingDomain, SelfHealingMode};

/// The mode of each domain; without a word about it, a domain is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HealingModes([SelfHealingMode; HealingDomain::ALL.len()]);

impl HealingModes {
    /// Returns the same mode for every domain.
    #[must_use]
    pub fn all(mode: SelfHealingMode) -> Self {
        Self([mode; HealingDomain::ALL.len()])
    }

    /// Returns the mode of a domain.
    #[must_use]
    pub fn of(&self, domain: HealingDomain) -> SelfHealingMode {
        self.0.get(domain as usize).copied().unwrap_or_default()
    }

    /// Returns whether no domain is watched.
    #[must_use]
    pub fn are_off(&self) -> bool {
        self.0.iter().all(|mode| *mode == SelfHealingMode::Disabled)
    }

    /// Sets the mode of a domain.
    pub fn set(&mut self, domain: HealingDomain, mode: SelfHealingMode) {
        if let Some(of_domain) = self.0.get_mut(domain as usize) {
            *of_domain = mode;
        }
    }
}
