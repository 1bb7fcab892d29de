//! `BudgetService`: what model requests may cost.
//!
//! Invariant: amounts of money are millionths of the currency of the price catalogue, in both directions.

use palyra_admin::budgets::RaisedLimit;
use palyra_admin::usage::{BudgetChange, BudgetListing, ListedAccount, TopUp};
use palyra_runtime::Caller;
use palyra_types::budget::{
    BudgetScope, LimitAction, MoneyAmount, PurseKey, PurseKind, UsageAmount, UsageLimits, WindowKind,
};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::known_value::known;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::translate::InvalidValue;

/// The share of calls beside runs where a request does not say another, in percent.
const AUXILIARY_PERCENT_DEFAULT: u32 = 20;

impl OperationHandlers {
    /// Answers `ListBudgets`.
    pub async fn list_budgets(
        &self,
        caller: Caller,
        _message: v1::ListBudgetsRequest,
    ) -> Result<v1::ListBudgetsResponse, ApiError> {
        let listed = self.state.admin.usage.budgets(caller).await?;
        let currency = self.state.admin.usage.currency();
        Ok(v1::ListBudgetsResponse { budgets: listed.into_iter().map(budget).collect(), currency })
    }

    /// Answers `SetBudget`.
    pub async fn set_budget(
        &self,
        caller: Caller,
        message: v1::SetBudgetRequest,
    ) -> Result<v1::SetBudgetResponse, ApiError> {
        let kind = purse_kind(known(message.purse, "purse", v1::BudgetPurse::SHORT_NAMES)?);
        let scope = match (kind, message.purse_id.as_str()) {
            (PurseKind::Total, "") => BudgetScope::One(PurseKey::Total),
            (kind, "") => BudgetScope::Each(kind),
            (kind, id) => BudgetScope::One(purse(kind, id)?),
        };
        let change = BudgetChange {
            scope,
            window: window(known(message.window, "window", v1::BudgetWindow::SHORT_NAMES)?),
            at_limit: at_limit(known(message.at_limit, "at_limit", v1::BudgetAction::SHORT_NAMES)?),
            hard: limits(message.hard.as_ref()),
            soft: limits(message.soft.as_ref()),
            auxiliary_percent: message.auxiliary_percent.unwrap_or(AUXILIARY_PERCENT_DEFAULT),
            name: message.name,
        };
        self.state.admin.usage.set_budget(caller, change).await?;
        Ok(v1::SetBudgetResponse {})
    }

    /// Answers `RemoveBudget`.
    pub async fn remove_budget(
        &self,
        caller: Caller,
        message: v1::RemoveBudgetRequest,
    ) -> Result<v1::RemoveBudgetResponse, ApiError> {
        self.state.admin.usage.remove_budget(caller, &message.name).await?;
        Ok(v1::RemoveBudgetResponse {})
    }

    /// Answers `TopUpBudget`.
    pub async fn top_up_budget(
        &self,
        caller: Caller,
        message: v1::TopUpBudgetRequest,
    ) -> Result<v1::TopUpBudgetResponse, ApiError> {
        let purse = match message.purse_id.as_str() {
            "" => None,
            id => {
                let kind = self.state.admin.usage.purse_kind_of_budget(&message.name)?;
                Some(purse(kind, id)?)
            }
        };
        let amount = message.amount.unwrap_or_default();
        let amount = UsageAmount {
            tokens: amount.tokens,
            money: MoneyAmount(amount.money_millionths),
            requests: amount.requests,
        };
        let top_up = TopUp { name: message.name, purse, amount };
        self.state.admin.usage.top_up_budget(caller, top_up).await?;
        Ok(v1::TopUpBudgetResponse {})
    }

    /// Answers `GoOnOnce`.
    pub async fn go_on_once(
        &self,
        caller: Caller,
        message: v1::GoOnOnceRequest,
    ) -> Result<v1::GoOnOnceResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let raised = self.state.runs.go_on_once(caller, run).await?;
        let currency = self.state.admin.usage.currency();
        Ok(v1::GoOnOnceResponse { raised: raised.iter().map(raised_budget).collect(), currency })
    }
}

fn budget(listing: BudgetListing) -> v1::Budget {
    let definition = listing.budget.definition;
    let (purse, purse_id) = match definition.scope {
        BudgetScope::Each(kind) => (kind, String::new()),
        BudgetScope::One(purse) => (purse.kind(), id_of(purse)),
    };
    let hard = definition.hard;
    v1::Budget {
        name: definition.name.to_string(),
        purse: stored_purse(purse).into(),
        purse_id,
        window: stored_window(definition.window).into(),
        hard: Some(stored_limits(hard)),
        soft: Some(stored_limits(definition.soft)),
        at_limit: match definition.at_limit {
            LimitAction::Park => v1::BudgetAction::Park,
            LimitAction::Ask => v1::BudgetAction::Ask,
            LimitAction::Refuse => v1::BudgetAction::Refuse,
        }
        .into(),
        auxiliary_percent: definition.auxiliary_percent,
        changed: translate::timestamp(listing.budget.changed),
        accounts: listing.accounts.iter().map(|one| account(one, hard)).collect(),
    }
}

fn account(account: &ListedAccount, hard: UsageLimits) -> v1::BudgetAccount {
    let raised = account.topped_up;
    let limits = UsageLimits {
        tokens: hard.tokens.map(|limit| limit.saturating_add(raised.tokens)),
        money: hard.money.map(|limit| limit.saturating_add(raised.money)),
        requests: hard.requests.map(|limit| limit.saturating_add(raised.requests)),
    };
    v1::BudgetAccount {
        purse_id: id_of(account.key.purse),
        run_id: account.key.run.map(|run| run.to_string()).unwrap_or_default(),
        spent: Some(stored_amount(account.spent)),
        reserved: Some(stored_amount(account.reserved)),
        limits: Some(stored_limits(limits)),
        window_ends: account.window.resets().and_then(translate::timestamp),
        topped_up: (raised != UsageAmount::ZERO).then(|| stored_amount(raised)),
    }
}

fn raised_budget(raised: &RaisedLimit) -> v1::RaisedBudget {
    v1::RaisedBudget {
        budget: raised.budget.to_string(),
        amount: Some(stored_amount(raised.amount)),
        until: raised.until.and_then(translate::timestamp),
    }
}

fn id_of(purse: PurseKey) -> String {
    match purse {
        PurseKey::Total => String::new(),
        PurseKey::Principal(id) => id.to_string(),
        PurseKey::Agent(id) => id.to_string(),
        PurseKey::Session(id) => id.to_string(),
        PurseKey::Channel(id) => id.to_string(),
        PurseKey::Schedule(id) => id.to_string(),
    }
}

fn purse(kind: PurseKind, id: &str) -> Result<PurseKey, ApiError> {
    let field = "purse_id";
    Ok(match kind {
        PurseKind::Total => {
            return Err(InvalidValue::new(field, "no id: the budget limits all runs together").into());
        }
        PurseKind::Principal => PurseKey::Principal(translate::id(field, id)?),
        PurseKind::Agent => PurseKey::Agent(translate::id(field, id)?),
        PurseKind::Session => PurseKey::Session(translate::id(field, id)?),
        PurseKind::Channel => PurseKey::Channel(translate::id(field, id)?),
        PurseKind::Schedule => PurseKey::Schedule(translate::id(field, id)?),
    })
}

fn purse_kind(purse: v1::BudgetPurse) -> PurseKind {
    match purse {
        v1::BudgetPurse::Unspecified | v1::BudgetPurse::Total => PurseKind::Total,
        v1::BudgetPurse::Principal => PurseKind::Principal,
        v1::BudgetPurse::Agent => PurseKind::Agent,
        v1::BudgetPurse::Session => PurseKind::Session,
        v1::BudgetPurse::Channel => PurseKind::Channel,
        v1::BudgetPurse::Schedule => PurseKind::Schedule,
    }
}

fn stored_purse(kind: PurseKind) -> v1::BudgetPurse {
    match kind {
        PurseKind::Total => v1::BudgetPurse::Total,
        PurseKind::Principal => v1::BudgetPurse::Principal,
        PurseKind::Agent => v1::BudgetPurse::Agent,
        PurseKind::Session => v1::BudgetPurse::Session,
        PurseKind::Channel => v1::BudgetPurse::Channel,
        PurseKind::Schedule => v1::BudgetPurse::Schedule,
    }
}

fn window(window: v1::BudgetWindow) -> WindowKind {
    match window {
        v1::BudgetWindow::Run => WindowKind::Run,
        v1::BudgetWindow::Hour => WindowKind::Hour,
        v1::BudgetWindow::Unspecified | v1::BudgetWindow::Day => WindowKind::Day,
        v1::BudgetWindow::Week => WindowKind::Week,
        v1::BudgetWindow::Month => WindowKind::Month,
        v1::BudgetWindow::Endless => WindowKind::Endless,
    }
}

fn stored_window(window: WindowKind) -> v1::BudgetWindow {
    match window {
        WindowKind::Run => v1::BudgetWindow::Run,
        WindowKind::Hour => v1::BudgetWindow::Hour,
        WindowKind::Day => v1::BudgetWindow::Day,
        WindowKind::Week => v1::BudgetWindow::Week,
        WindowKind::Month => v1::BudgetWindow::Month,
        WindowKind::Endless => v1::BudgetWindow::Endless,
    }
}

fn at_limit(action: v1::BudgetAction) -> LimitAction {
    match action {
        v1::BudgetAction::Unspecified | v1::BudgetAction::Park => LimitAction::Park,
        v1::BudgetAction::Ask => LimitAction::Ask,
        v1::BudgetAction::Refuse => LimitAction::Refuse,
    }
}

fn limits(limits: Option<&v1::BudgetLimits>) -> UsageLimits {
    let Some(v1::BudgetLimits { tokens, money_millionths, requests }) = limits else {
        return UsageLimits::default();
    };
    UsageLimits { tokens: *tokens, money: money_millionths.map(MoneyAmount), requests: *requests }
}

fn stored_limits(limits: UsageLimits) -> v1::BudgetLimits {
    let UsageLimits { tokens, money, requests } = limits;
    v1::BudgetLimits { tokens, money_millionths: money.map(|money| money.0), requests }
}

fn stored_amount(amount: UsageAmount) -> v1::BudgetAmount {
    let UsageAmount { tokens, money, requests } = amount;
    v1::BudgetAmount { tokens, money_millionths: money.0, requests }
}
