//! Stored forms of entries about budgets, and of what runs note of them.
//!
//! Owns also the forms of accounts and requests, which the families of budgets keep in their rows.

use palyra_types::budget::{
    AccountEvent, AccountKey, AuxiliaryUse, BudgetEvent, BudgetScope, BudgetSet, CatalogueDigest,
    MoneyAmount, PriceQuote, PurseKey, RequestSize, ReservationId, ReservationRequest, SettledCharge,
    TokenPrices, UsageAmount, UsageLimits, WindowSpan,
};
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::{
    AgentId, Attempt, BudgetId, ChannelId, PrincipalId, Redacted, RunId, ScheduleId, SessionId, Timestamp,
};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, facts_only, fixed, pair, redacted_model_name,
    redacted_model_ref,
};
use super::run_entries::{usage_from_stored, usage_to_stored};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &BudgetEvent) -> EncodedParts {
    match event {
        BudgetEvent::Set(set) => encode_set(set),
        BudgetEvent::Removed { budget } => {
            facts_only(&store::BudgetRemovedFacts { version: VERSION, budget: budget.to_bytes().to_vec() })
        }
        BudgetEvent::Account { account, event } => encode_account_event(account, event),
        BudgetEvent::AuxiliaryUsed(used) => encode_auxiliary_use(used),
    }
}

fn encode_auxiliary_use(used: &AuxiliaryUse) -> EncodedParts {
    let AuxiliaryUse { purpose, session, agent, usage, model } = used;
    pair(
        &store::AuxiliaryUsedFacts {
            version: VERSION,
            purpose: purpose.to_stored(),
            session: session.map(|session| session.to_bytes().to_vec()),
            agent: agent.map(|agent| agent.to_bytes().to_vec()),
            usage: Some(usage_to_stored(*usage)),
        },
        &store::AuxiliaryUsedPayload { model: redacted_model_name(model) },
    )
}

pub(super) fn decode_auxiliary_used(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::AuxiliaryUsedFacts::decode(facts)?;
    let payload = store::AuxiliaryUsedPayload::decode(payload)?;
    let id = |bytes: Option<Vec<u8>>| bytes.map(|bytes| fixed(&bytes)).transpose();
    let used = AuxiliaryUse {
        purpose: StoredEnum::from_stored(facts.purpose)?,
        session: id(facts.session)?.map(SessionId::from_bytes),
        agent: id(facts.agent)?.map(AgentId::from_bytes),
        usage: usage_from_stored(facts.usage)?,
        model: redacted_model_ref(payload.model.as_ref()),
    };
    Ok(BudgetEvent::AuxiliaryUsed(used).into())
}

fn encode_set(set: &BudgetSet) -> EncodedParts {
    let BudgetSet { budget, scope, window, hard, soft, at_limit, auxiliary_percent, name } = set;
    let purse = match scope {
        BudgetScope::Each(kind) => store::BudgetPurse { kind: kind.to_stored(), id: Vec::new() },
        BudgetScope::One(purse) => purse_to_stored(*purse),
    };
    pair(
        &store::BudgetSetFacts {
            version: VERSION,
            budget: budget.to_bytes().to_vec(),
            each: matches!(scope, BudgetScope::Each(_)),
            purse: Some(purse),
            window: window.to_stored(),
            hard: Some(limits_to_stored(*hard)),
            soft: Some(limits_to_stored(*soft)),
            at_limit: at_limit.to_stored(),
            auxiliary_percent: *auxiliary_percent,
        },
        &store::BudgetSetPayload { name: name.expose().clone() },
    )
}

fn encode_account_event(account: &AccountKey, event: &AccountEvent) -> EncodedParts {
    let version = VERSION;
    let account = Some(account_to_stored(account));
    match event {
        AccountEvent::WindowOpened { span } => facts_only(&store::BudgetWindowOpenedFacts {
            version,
            account,
            start: span.start.0,
            end: span.end.0,
        }),
        AccountEvent::Reserved { request } => {
            let request = Some(request_to_stored(request));
            facts_only(&store::BudgetReservedFacts { version, account, request })
        }
        AccountEvent::Settled { id, charge } => facts_only(&store::BudgetSettledFacts {
            version,
            account,
            reservation: Some(reservation_to_stored(*id)),
            charged: Some(amount_to_stored(charge.charged)),
            above_reservation: Some(amount_to_stored(charge.above_reservation)),
            not_charged: Some(amount_to_stored(charge.not_charged)),
            basis: charge.basis.to_stored(),
        }),
        AccountEvent::Released { id } => {
            let reservation = Some(reservation_to_stored(*id));
            facts_only(&store::BudgetReleasedFacts { version, account, reservation })
        }
        AccountEvent::ToppedUp { amount, reason } => facts_only(&store::BudgetToppedUpFacts {
            version,
            account,
            amount: Some(amount_to_stored(*amount)),
            reason: reason.to_stored(),
        }),
        AccountEvent::SoftLimitPassed { measure } => {
            let measure = measure.to_stored();
            facts_only(&store::BudgetSoftLimitPassedFacts { version, account, measure })
        }
    }
}

pub(super) fn decode_set(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::BudgetSetFacts::decode(facts)?;
    let payload = store::BudgetSetPayload::decode(payload)?;
    let purse = facts.purse.ok_or(UnreadableEvent::Malformed)?;
    let scope = if facts.each {
        BudgetScope::Each(StoredEnum::from_stored(purse.kind)?)
    } else {
        BudgetScope::One(purse_from_stored(&purse)?)
    };
    let set = BudgetSet {
        budget: BudgetId::from_bytes(fixed(&facts.budget)?),
        scope,
        window: StoredEnum::from_stored(facts.window)?,
        hard: limits_from_stored(facts.hard),
        soft: limits_from_stored(facts.soft),
        at_limit: StoredEnum::from_stored(facts.at_limit)?,
        auxiliary_percent: facts.auxiliary_percent,
        name: Redacted::from_stored(payload.name),
    };
    Ok(BudgetEvent::Set(set).into())
}

pub(super) fn decode_removed(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::BudgetRemovedFacts::decode(facts)?;
    Ok(BudgetEvent::Removed { budget: BudgetId::from_bytes(fixed(&facts.budget)?) }.into())
}

pub(super) fn decode_window_opened(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::BudgetWindowOpenedFacts::decode(facts)?;
    let span = WindowSpan { start: Timestamp(facts.start), end: Timestamp(facts.end) };
    of_account(facts.account, AccountEvent::WindowOpened { span })
}

pub(super) fn decode_reserved(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::BudgetReservedFacts::decode(facts)?;
    let request = request_of(&facts.request.ok_or(UnreadableEvent::Malformed)?)?;
    of_account(facts.account, AccountEvent::Reserved { request })
}

pub(super) fn decode_settled(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::BudgetSettledFacts::decode(facts)?;
    let id = reservation_from_stored(facts.reservation.as_ref())?;
    let charge = SettledCharge {
        charged: amount_from_stored(facts.charged),
        above_reservation: amount_from_stored(facts.above_reservation),
        not_charged: amount_from_stored(facts.not_charged),
        basis: StoredEnum::from_stored(facts.basis)?,
    };
    of_account(facts.account, AccountEvent::Settled { id, charge })
}

pub(super) fn decode_released(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::BudgetReleasedFacts::decode(facts)?;
    let id = reservation_from_stored(facts.reservation.as_ref())?;
    of_account(facts.account, AccountEvent::Released { id })
}

pub(super) fn decode_topped_up(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::BudgetToppedUpFacts::decode(facts)?;
    let amount = amount_from_stored(facts.amount);
    let reason = StoredEnum::from_stored(facts.reason)?;
    of_account(facts.account, AccountEvent::ToppedUp { amount, reason })
}

pub(super) fn decode_soft_limit_passed(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::BudgetSoftLimitPassedFacts::decode(facts)?;
    let measure = StoredEnum::from_stored(facts.measure)?;
    of_account(facts.account, AccountEvent::SoftLimitPassed { measure })
}

fn of_account(account: Option<store::BudgetAccountKey>, event: AccountEvent) -> ReadResult<JournalEvent> {
    let account = account_of(&account.ok_or(UnreadableEvent::Malformed)?)?;
    Ok(BudgetEvent::Account { account, event }.into())
}

pub(super) fn encode_reached(resumes: Option<Timestamp>, explanation: &Redacted<String>) -> EncodedParts {
    let facts = store::BudgetReachedFacts { version: VERSION, resumes: resumes.map(|time| time.0) };
    pair(&facts, &store::BudgetNotePayload { explanation: explanation.expose().clone() })
}

pub(super) fn decode_reached(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::BudgetReachedFacts::decode(facts)?;
    let payload = store::BudgetNotePayload::decode(payload)?;
    Ok(TapeEvent::Run(RunEvent::BudgetReached {
        resumes: facts.resumes.map(Timestamp),
        explanation: Redacted::from_stored(payload.explanation),
    }))
}

pub(super) fn encode_noted(explanation: &Redacted<String>) -> EncodedParts {
    let payload = store::BudgetNotePayload { explanation: explanation.expose().clone() };
    pair(&store::SoftLimitNotedFacts { version: VERSION }, &payload)
}

pub(super) fn decode_noted(payload: &[u8]) -> ReadResult<TapeEvent> {
    let payload = store::BudgetNotePayload::decode(payload)?;
    let explanation = Redacted::from_stored(payload.explanation);
    Ok(TapeEvent::Run(RunEvent::SoftLimitNoted { explanation }))
}

/// Returns the stored form of an account's name.
pub(crate) fn account_to_stored(account: &AccountKey) -> store::BudgetAccountKey {
    let AccountKey { budget, window, purse, run } = account;
    store::BudgetAccountKey {
        budget: budget.to_bytes().to_vec(),
        window: window.to_stored(),
        purse: Some(purse_to_stored(*purse)),
        run: run.map_or_else(Vec::new, |run| run.to_bytes().to_vec()),
    }
}

/// Reads an account's name; `None` where it is not what this version writes.
pub(crate) fn account_from_stored(account: &store::BudgetAccountKey) -> Option<AccountKey> {
    account_of(account).ok()
}

fn account_of(account: &store::BudgetAccountKey) -> ReadResult<AccountKey> {
    let run = match account.run.as_slice() {
        [] => None,
        run => Some(RunId::from_bytes(fixed(run)?)),
    };
    Ok(AccountKey {
        budget: BudgetId::from_bytes(fixed(&account.budget)?),
        window: StoredEnum::from_stored(account.window)?,
        purse: purse_from_stored(account.purse.as_ref().ok_or(UnreadableEvent::Malformed)?)?,
        run,
    })
}

fn purse_to_stored(purse: PurseKey) -> store::BudgetPurse {
    let id = match purse {
        PurseKey::Total => Vec::new(),
        PurseKey::Principal(id) => id.to_bytes().to_vec(),
        PurseKey::Agent(id) => id.to_bytes().to_vec(),
        PurseKey::Session(id) => id.to_bytes().to_vec(),
        PurseKey::Channel(id) => id.to_bytes().to_vec(),
        PurseKey::Schedule(id) => id.to_bytes().to_vec(),
    };
    store::BudgetPurse { kind: purse.kind().to_stored(), id }
}

fn purse_from_stored(purse: &store::BudgetPurse) -> ReadResult<PurseKey> {
    use palyra_types::budget::PurseKind;
    let id = || fixed(&purse.id);
    Ok(match StoredEnum::from_stored(purse.kind)? {
        PurseKind::Total => PurseKey::Total,
        PurseKind::Principal => PurseKey::Principal(PrincipalId::from_bytes(id()?)),
        PurseKind::Agent => PurseKey::Agent(AgentId::from_bytes(id()?)),
        PurseKind::Session => PurseKey::Session(SessionId::from_bytes(id()?)),
        PurseKind::Channel => PurseKey::Channel(ChannelId::from_bytes(id()?)),
        PurseKind::Schedule => PurseKey::Schedule(ScheduleId::from_bytes(id()?)),
    })
}

/// Returns the stored form of a request.
pub(crate) fn request_to_stored(request: &ReservationRequest) -> store::BudgetRequest {
    store::BudgetRequest {
        reservation: Some(reservation_to_stored(request.id)),
        input_tokens: request.size.input_tokens,
        output_tokens_max: request.size.output_tokens_max,
        price: request.price.map(|PriceQuote { prices, catalogue }| store::BudgetPrice {
            input: prices.input.0,
            cached_input: prices.cached_input.0,
            output: prices.output.0,
            reasoning: prices.reasoning.0,
            catalogue: catalogue.0.to_vec(),
        }),
    }
}

/// Reads a request; `None` where it is not what this version writes.
pub(crate) fn request_from_stored(request: &store::BudgetRequest) -> Option<ReservationRequest> {
    request_of(request).ok()
}

fn request_of(request: &store::BudgetRequest) -> ReadResult<ReservationRequest> {
    let price = match &request.price {
        None => None,
        Some(price) => Some(PriceQuote {
            prices: TokenPrices {
                input: MoneyAmount(price.input),
                cached_input: MoneyAmount(price.cached_input),
                output: MoneyAmount(price.output),
                reasoning: MoneyAmount(price.reasoning),
            },
            catalogue: CatalogueDigest(fixed(&price.catalogue)?),
        }),
    };
    Ok(ReservationRequest {
        id: reservation_from_stored(request.reservation.as_ref())?,
        size: RequestSize {
            input_tokens: request.input_tokens,
            output_tokens_max: request.output_tokens_max,
        },
        price,
    })
}

fn reservation_to_stored(id: ReservationId) -> store::BudgetReservation {
    store::BudgetReservation {
        run: id.run.to_bytes().to_vec(),
        class: id.class.to_stored(),
        attempt: id.attempt.0,
    }
}

fn reservation_from_stored(id: Option<&store::BudgetReservation>) -> ReadResult<ReservationId> {
    let id = id.ok_or(UnreadableEvent::Malformed)?;
    Ok(ReservationId {
        run: RunId::from_bytes(fixed(&id.run)?),
        class: StoredEnum::from_stored(id.class)?,
        attempt: Attempt(id.attempt),
    })
}

/// Returns the stored form of an amount.
pub(crate) fn amount_to_stored(amount: UsageAmount) -> store::BudgetAmount {
    store::BudgetAmount { tokens: amount.tokens, money: amount.money.0, requests: amount.requests }
}

/// Reads an amount; an absent one is nothing.
pub(crate) fn amount_from_stored(amount: Option<store::BudgetAmount>) -> UsageAmount {
    let store::BudgetAmount { tokens, money, requests } = amount.unwrap_or_default();
    UsageAmount { tokens, money: MoneyAmount(money), requests }
}

fn limits_to_stored(limits: UsageLimits) -> store::BudgetLimits {
    let UsageLimits { tokens, money, requests } = limits;
    store::BudgetLimits { tokens, money: money.map(|money| money.0), requests }
}

fn limits_from_stored(limits: Option<store::BudgetLimits>) -> UsageLimits {
    let store::BudgetLimits { tokens, money, requests } = limits.unwrap_or_default();
    UsageLimits { tokens, money: money.map(MoneyAmount), requests }
}
