//! What is recorded of budgets: how people define them, and what becomes of their accounts.
//!
//! Owns the facts and the one field of content, a budget's name. Begin at [`BudgetEvent`].

use super::account_event::{AccountEvent, AccountKey};
use super::auxiliary_use::AuxiliaryUse;
use super::purse::BudgetScope;
use super::time_window::WindowKind;
use super::usage_amount::UsageLimits;
use crate::content_walk::ContentClass::Identity;
use crate::content_walk::content_rows;
use crate::{BudgetId, PrincipalId, Redacted, Seq, Timestamp};

/// What follows when a request does not fit under a hard limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitAction {
    /// The run waits until the window is over, or a person tops the budget up or lets the run go on once.
    Park,
    /// A person is asked at once, and the run waits for the answer.
    Ask,
    /// The request is refused.
    Refuse,
}

impl LimitAction {
    /// Every action with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Park, "park"), (Self::Ask, "ask"), (Self::Refuse, "refuse")];
}

crate::words::words_of_table!(LimitAction);

/// Something happened to a budget; who did it is in the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetEvent {
    /// A budget was made, or replaced as a whole.
    Set(BudgetSet),
    /// A budget limits nothing any more.
    Removed {
        /// Which.
        budget: BudgetId,
    },
    /// Something happened to one of its accounts.
    Account {
        /// The account.
        account: AccountKey,
        /// What.
        event: AccountEvent,
    },
    /// A request beside a run ended. It is recorded where no budget is on its path as well.
    AuxiliaryUsed(AuxiliaryUse),
}

/// A budget, as it was defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetSet {
    /// Its id. A change of a budget keeps it.
    pub budget: BudgetId,
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
    /// The share of the hard limits that auxiliary calls may use, in percent.
    pub auxiliary_percent: u32,
    /// Its name; empty once erased.
    pub name: Redacted<String>,
}

/// A budget, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetRecord {
    /// How it was defined last.
    pub set: BudgetSet,
    /// Who defined it, in whose time zone its windows begin.
    pub by: PrincipalId,
    /// The entry that defined it.
    pub seq: Seq,
    /// When.
    pub changed: Timestamp,
}

content_rows! {
    fn budget_event(walk, event: BudgetEvent) {
        match event {
            BudgetEvent::Set(BudgetSet {
                budget: _, scope: _, window: _, hard: _, soft: _, at_limit: _, auxiliary_percent: _, name,
            }) => walk.text(Identity, "name", name),
            BudgetEvent::AuxiliaryUsed(used) => walk.auxiliary_use(used),
            BudgetEvent::Removed { budget: _ } | BudgetEvent::Account { account: _, event: _ } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_actions() {
        for (action, word) in LimitAction::ALL {
            assert_eq!((LimitAction::of(word), action.as_str()), (Some(action), word));
        }
    }
}
