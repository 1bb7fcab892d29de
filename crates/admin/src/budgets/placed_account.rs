//! An account with its budget, as a request meets it.

use palyra_governance::{BudgetAccount, BudgetDefinition, PathAccount};
use palyra_types::budget::{AccountEvent, AccountKey, WindowSpan};

/// An account on the path of a request, at a time.
pub(super) struct PlacedAccount<'a> {
    pub(super) key: AccountKey,
    pub(super) definition: &'a BudgetDefinition,
    pub(super) account: BudgetAccount,
    pub(super) span: WindowSpan,
}

impl PlacedAccount<'_> {
    pub(super) fn place(&self) -> PathAccount<'_> {
        PathAccount { key: &self.key, definition: self.definition, account: &self.account, span: self.span }
    }

    /// Takes events of the same step into account.
    pub(super) fn evolve(&mut self, account: AccountKey, event: &AccountEvent) {
        if self.key == account {
            self.account.evolve(event);
        }
    }
}
