//! Budgets as people set and read them.
//!
//! Owns who may change one, and what a definition may say. What counts is in [`BudgetBook`](crate::budgets::BudgetBook).

use palyra_governance::{BudgetAccount, BudgetDefinition, BudgetName};
use palyra_journal_core::families::budget_accounts::accounts_of;
use palyra_journal_core::family::QueryFamilies;
use palyra_types::BudgetId;
use palyra_types::budget::{
    AccountEvent, AccountKey, BudgetEvent, BudgetScope, BudgetSet, LimitAction, LimitMeasure, PurseKey,
    PurseKind, TopUpReason, UsageAmount, UsageLimits, WindowKind, WindowSpan,
};

use super::UsageHandle;
use crate::budgets::BudgetInForce;
use crate::caller::Caller;
use crate::error::AdminError;
use crate::identity::check_identity;

/// Budgets in force, at most: each may add several entries to an append of a run.
const BUDGETS_MAX: usize = 16;
/// Accounts that are topped up in one append, at most.
const TOPPED_UP_MAX: usize = 100;
/// Accounts of a budget that a list shows, at most.
const ACCOUNTS_SHOWN_MAX: usize = 100;

/// A budget as a person defines it. It replaces one of the same name.
#[derive(Debug, Clone)]
pub struct BudgetChange {
    /// Its name.
    pub name: String,
    /// The purses it limits.
    pub scope: BudgetScope,
    /// How long an account counts.
    pub window: WindowKind,
    /// The hard limits.
    pub hard: UsageLimits,
    /// The soft limits.
    pub soft: UsageLimits,
    /// What follows at a hard limit.
    pub at_limit: LimitAction,
    /// The share of auxiliary calls, in percent.
    pub auxiliary_percent: u32,
}

/// By how much the limits of a budget are raised in the current windows.
#[derive(Debug, Clone)]
pub struct TopUp {
    /// The budget.
    pub name: String,
    /// The account of this purse; `None` for all accounts that the budget has.
    pub purse: Option<PurseKey>,
    /// By how much.
    pub amount: UsageAmount,
}

/// A budget with its accounts.
#[derive(Debug, Clone)]
pub struct BudgetListing {
    /// The budget.
    pub budget: BudgetInForce,
    /// Its accounts that have entries, at most a hundred.
    pub accounts: Vec<ListedAccount>,
}

/// An account as a list shows it.
#[derive(Debug, Clone)]
pub struct ListedAccount {
    /// Its name.
    pub key: AccountKey,
    /// The window that counts now.
    pub window: WindowSpan,
    /// What is spent in it.
    pub spent: UsageAmount,
    /// What requests in flight reserve.
    pub reserved: UsageAmount,
    /// By how much the limits were raised in it.
    pub topped_up: UsageAmount,
}

impl UsageHandle {
    /// Lists the budgets in force with their accounts: to an owner all, to others what limits all and their own.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn budgets(&self, caller: Caller) -> Result<Vec<BudgetListing>, AdminError> {
        let mut listed = Vec::new();
        for budget in self.budgets.in_force() {
            let id = budget.definition.id;
            let window = budget.definition.window;
            let span = budget.span_at(self.ports.clock.wall(), &self.zones);
            let found = self.ports.families.query(move |rows, _| accounts_of(rows, id, ACCOUNTS_SHOWN_MAX));
            let accounts = found.await?.into_iter().filter(|row| row.key.window == window);
            let accounts = accounts.filter(|row| caller.is_owner() || is_own(row.key.purse, caller));
            let accounts = accounts.map(|row| listed_account(row.key, &row.account, span)).collect();
            listed.push(BudgetListing { budget, accounts });
        }
        listed.sort_by(|one, other| one.budget.definition.name.cmp(&other.budget.definition.name));
        Ok(listed)
    }

    /// Makes a budget, or replaces the one of the same name as a whole. It applies from the next request on.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] for a name or limits that make no sense, and one budget too many;
    /// [`AdminError::SecretInIdentity`]; [`AdminError::Append`].
    pub async fn set_budget(&self, caller: Caller, change: BudgetChange) -> Result<(), AdminError> {
        let name: BudgetName = change.name.parse().map_err(|error| invalid(&error))?;
        let checked = check_identity(
            &self.ports.recorder,
            caller.actor.principal,
            "the name of a budget",
            name.as_str(),
        )?;
        let fresh: BudgetId = self.ports.entropy.new_id(self.ports.clock.wall());
        let set = BudgetSet {
            budget: fresh,
            scope: change.scope,
            window: change.window,
            hard: change.hard,
            soft: change.soft,
            at_limit: change.at_limit,
            auxiliary_percent: change.auxiliary_percent,
            name: checked,
        };
        BudgetDefinition::of_recorded(&set).check().map_err(|error| invalid(&error))?;
        let known = self.budgets.in_force();
        if known.len() >= BUDGETS_MAX && known.iter().all(|budget| budget.definition.name != name) {
            return Err(invalid(&format!("there are {BUDGETS_MAX} budgets; remove one first")));
        }
        let recorded = self.budgets.change(caller.actor, |view| {
            let known = view.budgets().find(|budget| budget.definition.name == name);
            let budget = known.map_or(fresh, |budget| budget.definition.id);
            vec![BudgetEvent::Set(BudgetSet { budget, ..set })]
        });
        Ok(recorded.await?)
    }

    /// Removes a budget: it limits nothing any more.
    ///
    /// # Errors
    /// [`AdminError::BudgetNotFound`]; [`AdminError::Append`].
    pub async fn remove_budget(&self, caller: Caller, name: &str) -> Result<(), AdminError> {
        let budget = self.named(name)?.definition.id;
        Ok(self.budgets.change(caller.actor, |_| vec![BudgetEvent::Removed { budget }]).await?)
    }

    /// Raises the limits of a budget in the current windows of its accounts.
    ///
    /// # Errors
    /// [`AdminError::BudgetNotFound`]; [`AdminError::InvalidArgument`] for an amount of nothing, and where the budget has
    /// no such account; [`AdminError::Append`].
    pub async fn top_up_budget(&self, caller: Caller, top_up: TopUp) -> Result<(), AdminError> {
        let TopUp { name, purse, amount } = top_up;
        if amount == UsageAmount::ZERO {
            return Err(invalid(
                &"name what the budget is topped up by, such as `palyra budget top-up NAME tokens=50000`",
            ));
        }
        let budget = self.named(&name)?;
        check_limited(&budget.definition, amount)?;
        let keys = self.accounts_to_top_up(&budget, purse).await?;
        self.budgets.read_accounts(keys.clone()).await?;
        let topped_up = AccountEvent::ToppedUp { amount, reason: TopUpReason::Person };
        for some in keys.chunks(TOPPED_UP_MAX) {
            let recorded = self.budgets.change(caller.actor, |view| {
                let of = |key: &AccountKey| {
                    let raised = BudgetEvent::Account { account: *key, event: topped_up };
                    view.opening(*key, &self.zones).into_iter().chain([raised]).collect::<Vec<_>>()
                };
                some.iter().flat_map(of).collect()
            });
            recorded.await?;
        }
        Ok(())
    }

    /// Returns the kind of purse that a budget limits.
    ///
    /// # Errors
    /// [`AdminError::BudgetNotFound`].
    pub fn purse_kind_of_budget(&self, name: &str) -> Result<PurseKind, AdminError> {
        Ok(match self.named(name)?.definition.scope {
            BudgetScope::Each(kind) => kind,
            BudgetScope::One(purse) => purse.kind(),
        })
    }

    async fn accounts_to_top_up(
        &self,
        budget: &BudgetInForce,
        purse: Option<PurseKey>,
    ) -> Result<Vec<AccountKey>, AdminError> {
        let BudgetDefinition { id, window, scope, .. } = budget.definition;
        let found = self.ports.families.query(move |rows, _| accounts_of(rows, id, usize::MAX)).await?;
        let known = found.into_iter().map(|row| row.key).filter(|key| key.window == window);
        let mut keys: Vec<AccountKey> =
            known.filter(|key| purse.is_none_or(|purse| key.purse == purse)).collect();
        // An account that has no entry yet can be named where its name is known.
        if keys.is_empty() && window != WindowKind::Run {
            let named = match scope {
                BudgetScope::One(own) => purse.is_none_or(|purse| purse == own).then_some(own),
                BudgetScope::Each(kind) => purse.filter(|purse| purse.kind() == kind),
            };
            keys.extend(named.map(|purse| AccountKey { budget: id, window, purse, run: None }));
        }
        if keys.is_empty() {
            return Err(invalid(
                &"the budget has no such account; `palyra budget` shows the accounts it has",
            ));
        }
        Ok(keys)
    }

    fn named(&self, name: &str) -> Result<BudgetInForce, AdminError> {
        let mut known = self.budgets.in_force().into_iter();
        let found = known.find(|budget| budget.definition.name.as_str() == name);
        found.ok_or_else(|| AdminError::BudgetNotFound { name: name.chars().take(64).collect() })
    }
}

/// Refuses an amount in a measure that a budget does not limit: it would change nothing.
fn check_limited(budget: &BudgetDefinition, amount: UsageAmount) -> Result<(), AdminError> {
    let is_limited =
        |measure: &LimitMeasure| budget.hard.of(*measure).is_some() || budget.soft.of(*measure).is_some();
    let without =
        LimitMeasure::ALL.into_iter().find(|measure| amount.of(*measure) > 0 && !is_limited(measure));
    let Some(without) = without else { return Ok(()) };
    let limited: Vec<&str> =
        LimitMeasure::ALL.into_iter().filter(is_limited).map(LimitMeasure::as_str).collect();
    Err(invalid(&format!(
        "the budget `{}` does not limit {}; it limits {}",
        budget.name,
        without.as_str(),
        limited.join(" and ")
    )))
}

fn is_own(purse: PurseKey, caller: Caller) -> bool {
    match purse {
        PurseKey::Total => true,
        PurseKey::Principal(principal) => principal == caller.actor.principal,
        PurseKey::Agent(_) | PurseKey::Session(_) | PurseKey::Channel(_) | PurseKey::Schedule(_) => false,
    }
}

fn listed_account(key: AccountKey, account: &BudgetAccount, span: WindowSpan) -> ListedAccount {
    let totals = account.totals_in(span);
    ListedAccount {
        key,
        window: totals.span.unwrap_or(span),
        spent: totals.spent,
        reserved: account.reserved(),
        topped_up: totals.topped_up,
    }
}

fn invalid(what: &impl std::fmt::Display) -> AdminError {
    AdminError::InvalidArgument { what: what.to_string() }
}
