//! One event of each kind about budgets.

use palyra_types::budget::{
    AccountEvent, AccountKey, AuxiliaryPurpose, AuxiliaryUse, BudgetEvent, BudgetScope, BudgetSet,
    CatalogueDigest, ChargeBasis, LimitAction, LimitMeasure, MoneyAmount, PriceQuote, PurseKey, PurseKind,
    RequestSize, ReservationId, ReservationRequest, SettledCharge, TaskClass, TokenPrices, TopUpReason,
    UsageAmount, UsageLimits, WindowKind, WindowSpan,
};
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::model::{ModelRef, TokenUsage, UsageSource};
use palyra_types::{AgentId, Attempt, BudgetId, RunId, SessionId, Timestamp};

fn amount(tokens: u64) -> UsageAmount {
    UsageAmount { tokens, money: MoneyAmount(tokens * 3), requests: 1 }
}

pub(super) fn budget_events() -> Vec<JournalEvent> {
    let budget = BudgetId::from_parts(12, 1);
    let set = BudgetSet {
        budget,
        scope: BudgetScope::Each(PurseKind::Session),
        window: WindowKind::Week,
        hard: UsageLimits { tokens: Some(1_000), money: Some(MoneyAmount(0)), requests: None },
        soft: UsageLimits { tokens: None, money: None, requests: Some(7) },
        at_limit: LimitAction::Ask,
        auxiliary_percent: 20,
        name: "weekly".into(),
    };
    let purse = PurseKey::Agent(AgentId::from_parts(1, 2));
    let account = AccountKey { budget, window: WindowKind::Run, purse, run: Some(RunId::from_parts(3, 4)) };
    let id = ReservationId { run: RunId::from_parts(3, 5), class: TaskClass::Auxiliary, attempt: Attempt(6) };
    let prices = TokenPrices {
        input: MoneyAmount(4),
        cached_input: MoneyAmount(1),
        output: MoneyAmount(9),
        reasoning: MoneyAmount(8),
    };
    let request = ReservationRequest {
        id,
        size: RequestSize { input_tokens: 900, output_tokens_max: 80 },
        price: Some(PriceQuote { prices, catalogue: CatalogueDigest([7; 32]) }),
    };
    let charge = SettledCharge {
        charged: amount(990),
        above_reservation: amount(10),
        not_charged: UsageAmount::ZERO,
        basis: ChargeBasis::ReportedUsage,
    };
    let span = WindowSpan { start: Timestamp(-5), end: Timestamp(i64::MAX) };
    let events = [
        AccountEvent::WindowOpened { span },
        AccountEvent::Reserved { request },
        AccountEvent::Settled { id, charge },
        AccountEvent::Released { id },
        AccountEvent::ToppedUp { amount: amount(5), reason: TopUpReason::Person },
        AccountEvent::SoftLimitPassed { measure: LimitMeasure::Requests },
    ];
    let of_account = events.map(|event| BudgetEvent::Account { account, event });
    let used = AuxiliaryUse {
        purpose: AuxiliaryPurpose::Embeddings,
        session: Some(SessionId::from_parts(3, 7)),
        agent: Some(AgentId::from_parts(1, 3)),
        usage: TokenUsage {
            input_tokens: 900,
            cached_input_tokens: 100,
            output_tokens: 80,
            reasoning_tokens: 20,
            source: UsageSource::Estimated,
        },
        model: Some(ModelRef::new("acme", "large")).into(),
    };
    let used = BudgetEvent::AuxiliaryUsed(used);
    let about_budget = [BudgetEvent::Set(set), BudgetEvent::Removed { budget }, used];
    about_budget.into_iter().chain(of_account).map(JournalEvent::from).collect()
}

pub(super) fn budget_notes() -> [TapeEvent; 2] {
    let explanation = "budget `weekly` allows 1000 tokens";
    [
        TapeEvent::Run(RunEvent::BudgetReached {
            resumes: Some(Timestamp(9_000_000)),
            explanation: explanation.into(),
        }),
        TapeEvent::Run(RunEvent::SoftLimitNoted { explanation: explanation.into() }),
    ]
}
