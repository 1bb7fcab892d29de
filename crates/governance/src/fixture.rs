//! Values that several tests begin with.

use palyra_types::model::{ModelRef, TokenUsage, UsageSource};
use palyra_types::{AgentId, Attempt, BudgetId, PrincipalId, RunId, SessionId, Timestamp};

use crate::account::BudgetAccount;
use crate::budget::{AUXILIARY_PERCENT_DEFAULT, AccountKey, BudgetDefinition, LimitAction};
use crate::candidate::{ModelCandidate, ModelCapability, ModelHealth};
use crate::catalogue::{CatalogueDigest, PriceQuote};
use crate::path_account::PathAccount;
use crate::time_window::{WindowKind, WindowSpan};
use palyra_types::budget::MoneyAmount;
use palyra_types::budget::RequestSize;
use palyra_types::budget::TokenPrices;
use palyra_types::budget::UsageLimits;
use palyra_types::budget::{BudgetScope, PurseKey, PursePath};
use palyra_types::budget::{ReservationId, ReservationRequest, TaskClass};

/// Returns a path without channel and schedule.
pub(crate) fn path() -> PursePath {
    PursePath {
        run: RunId::from_parts(1, 1),
        principal: PrincipalId::from_parts(1, 2),
        agent: Some(AgentId::from_parts(1, 3)),
        session: Some(SessionId::from_parts(1, 4)),
        channel: None,
        schedule: None,
    }
}

/// Returns a budget of 10,000 tokens a day for all runs together.
pub(crate) fn budget(name: &str) -> BudgetDefinition {
    BudgetDefinition {
        id: BudgetId::from_parts(2, name.bytes().map(u128::from).sum()),
        name: name.parse().unwrap(),
        scope: BudgetScope::One(PurseKey::Total),
        window: WindowKind::Day,
        hard: UsageLimits { tokens: Some(10_000), ..UsageLimits::default() },
        soft: UsageLimits::default(),
        at_limit: LimitAction::Park,
        auxiliary_percent: AUXILIARY_PERCENT_DEFAULT,
    }
}

/// Returns a price in whole money per million tokens, so in millionths a token.
pub(crate) fn quote(input: u64, output: u64) -> PriceQuote {
    let prices =
        TokenPrices::of_input_and_output(MoneyAmount(input * 1_000_000), MoneyAmount(output * 1_000_000));
    PriceQuote { prices, catalogue: CatalogueDigest([7; 32]) }
}

/// Names a reservation.
pub(crate) fn id(attempt: u32, class: TaskClass) -> ReservationId {
    ReservationId { run: RunId::from_parts(1, 1), class, attempt: Attempt(attempt) }
}

/// Returns an interactive request whose input costs one millionth a token, and its output two.
pub(crate) fn reservation(attempt: u32, input_tokens: u64, output_tokens_max: u64) -> ReservationRequest {
    ReservationRequest {
        id: id(attempt, TaskClass::Interactive),
        size: RequestSize { input_tokens, output_tokens_max },
        price: Some(quote(1, 2)),
    }
}

/// Returns usage as a provider reports it.
pub(crate) fn reported_usage(input_tokens: u64, output_tokens: u64) -> TokenUsage {
    TokenUsage { input_tokens, output_tokens, source: UsageSource::Reported, ..TokenUsage::default() }
}

/// Returns a window of a thousand microseconds, by its number.
pub(crate) fn day(number: i64) -> WindowSpan {
    WindowSpan { start: Timestamp(number * 1_000), end: Timestamp((number + 1) * 1_000) }
}

/// A budget with its account, outside of any store.
pub(crate) struct TestAccount {
    pub(crate) key: AccountKey,
    pub(crate) definition: BudgetDefinition,
    pub(crate) account: BudgetAccount,
}

impl TestAccount {
    pub(crate) fn of(definition: BudgetDefinition) -> Self {
        let key = definition.account_on(&path()).unwrap();
        Self { key, definition, account: BudgetAccount::default() }
    }

    /// Returns it on a path, in the window of a span.
    pub(crate) fn at(&self, span: WindowSpan) -> PathAccount<'_> {
        PathAccount { key: &self.key, definition: &self.definition, account: &self.account, span }
    }
}

/// Returns a healthy model that can do everything.
pub(crate) fn candidate(name: &str, price: Option<PriceQuote>) -> ModelCandidate {
    ModelCandidate {
        model: ModelRef::parse(name).unwrap(),
        capabilities: ModelCapability::ALL.iter().map(|(capability, _)| *capability).collect(),
        context_tokens_max: None,
        health: ModelHealth::Healthy,
        first_token: None,
        price,
    }
}
