//! Which model serves a request: by capability, health, preference of its class, and budgets.
//!
//! Owns the order, which depends on the inputs alone, and the reasons that are recorded with it. Knows no provider.
//! Begin at [`UsageRoutingPlan::make`].

use std::collections::BTreeSet;
use std::fmt::Write as _;

use palyra_types::Timestamp;
use palyra_types::event::RoutingReason;
use palyra_types::model::ModelRef;

use crate::candidate::{ModelCandidate, ModelCapability, ModelHealth};
use crate::catalogue::PriceQuote;
use crate::limit_hit::{LimitCause, LimitHit};
use crate::path_account::PathAccount;
use crate::path_decision::{BudgetStop, PathDecision, StopAction, decide_reservation};
use crate::routing_reason::{ModelPreference, PassOverReason};
use palyra_types::budget::RequestSize;
use palyra_types::budget::{LimitMeasure, UsageAmount};
use palyra_types::budget::{ReservationId, ReservationRequest, TaskClass};

/// A request that a model is sought for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingRequest {
    /// Its reservation.
    pub id: ReservationId,
    /// What it needs.
    pub needs: BTreeSet<ModelCapability>,
    /// Its size.
    pub size: RequestSize,
    /// Which model is asked first.
    pub preference: ModelPreference,
}

/// A model that may serve the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedModel {
    /// The model.
    pub model: ModelRef,
    /// The price that its reservation is made by.
    pub price: Option<PriceQuote>,
    /// What it reserves.
    pub amount: UsageAmount,
    /// Why it is at its place.
    pub reasons: Vec<RoutingReason>,
}

/// A model that may not serve the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOverModel {
    /// The model.
    pub model: ModelRef,
    /// Every reason. At least one.
    pub reasons: Vec<PassOverReason>,
}

/// Which models serve a request, in order, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRoutingPlan {
    /// On whose behalf.
    pub class: TaskClass,
    /// The models to ask: the first one serves the request, the others follow when it fails.
    pub choices: Vec<PlannedModel>,
    /// All other candidates, in their configured order.
    pub passed_over: Vec<PassedOverModel>,
    /// What budgets ask for when they are the only reason why no model is left; the mildest stop of all models.
    pub stop: Option<BudgetStop>,
    /// When the first unavailable model answers again, if health is the only reason why no model is left.
    pub retry_at: Option<Timestamp>,
}

impl UsageRoutingPlan {
    /// Makes the plan for a request among candidates in their configured order, under the accounts of its path.
    #[must_use]
    pub fn make(request: &RoutingRequest, candidates: &[ModelCandidate], path: &[PathAccount<'_>]) -> Self {
        let mut fitting = Vec::new();
        let mut passed_over = Vec::new();
        let mut stops = Vec::new();
        for candidate in candidates {
            let mut reasons = unfit(request, candidate);
            if reasons.is_empty()
                && let PathDecision::Stop(stop) = decide_reservation(path, &reservation(request, candidate))
            {
                reasons.extend(stop.hits.iter().map(over_budget));
                stops.push(stop);
            }
            if reasons.is_empty() {
                fitting.push(candidate);
            } else {
                passed_over.push(PassedOverModel { model: candidate.model.clone(), reasons });
            }
        }
        // The sort is stable, so the configured order decides between equals.
        fitting.sort_by_key(|candidate| place(request.preference, request.size, candidate));
        let by_order = if fitting.len() == 1 { RoutingReason::OnlyChoice } else { request.preference.into() };
        let by_budget = if path.is_empty() { RoutingReason::NoBudget } else { RoutingReason::WithinBudgets };
        let choices: Vec<PlannedModel> =
            fitting.into_iter().map(|candidate| planned(request, candidate, [by_order, by_budget])).collect();
        let none_left = choices.is_empty();
        Self {
            class: request.id.class,
            retry_at: none_left.then(|| first_recovery(&passed_over)).flatten(),
            stop: stops.into_iter().filter(|_| none_left).min_by_key(|stop| strictness(stop.action)),
            choices,
            passed_over,
        }
    }

    /// Returns the plan as people read it.
    #[must_use]
    pub fn explanation(&self) -> String {
        let mut text = String::new();
        match self.choices.first() {
            Some(first) => {
                let reasons: Vec<String> = first.reasons.iter().map(ToString::to_string).collect();
                let _ = write!(
                    text,
                    "{} serves this {} request ({}) and reserves {}",
                    first.model,
                    self.class,
                    reasons.join("; "),
                    LimitMeasure::Tokens.phrase(first.amount.tokens),
                );
                if first.price.is_some() {
                    let _ = write!(text, ", {}", LimitMeasure::Money.phrase(first.amount.money.0));
                }
            }
            None => {
                let _ = write!(text, "No model can serve this {} request", self.class);
            }
        }
        for next in self.choices.iter().skip(1) {
            let _ = write!(text, "; then {}", next.model);
        }
        text.push('.');
        for passed in &self.passed_over {
            let reasons: Vec<String> = passed.reasons.iter().map(ToString::to_string).collect();
            let _ = write!(text, " Not {}: {}.", passed.model, reasons.join("; "));
        }
        if let Some(stop) = &self.stop {
            let _ = write!(text, " {}.", stop.explanation());
        }
        text
    }
}

/// Returns why a model cannot serve the request, budgets left aside.
fn unfit(request: &RoutingRequest, candidate: &ModelCandidate) -> Vec<PassOverReason> {
    let missing = request.needs.difference(&candidate.capabilities);
    let mut reasons: Vec<PassOverReason> =
        missing.map(|capability| PassOverReason::CapabilityMissing { capability: *capability }).collect();
    let tokens = request.size.tokens();
    if let Some(most) = candidate.context_tokens_max.filter(|most| tokens > *most) {
        reasons.push(PassOverReason::ContextTooSmall { tokens, most });
    }
    if let ModelHealth::Unavailable { until } = candidate.health {
        reasons.push(PassOverReason::Unavailable { until });
    }
    reasons
}

fn reservation(request: &RoutingRequest, candidate: &ModelCandidate) -> ReservationRequest {
    ReservationRequest { id: request.id, size: request.size, price: candidate.price }
}

fn over_budget(hit: &LimitHit) -> PassOverReason {
    let budget = hit.budget.clone();
    match hit.cause {
        LimitCause::NoPrice => PassOverReason::NoPrice { budget },
        LimitCause::HardLimit | LimitCause::AuxiliaryShare | LimitCause::OpenReservations => {
            PassOverReason::OverBudget { budget, measure: hit.measure }
        }
    }
}

/// Sorts models by a preference, for requests of a size; the order of equals stays.
pub fn sort_by_preference(candidates: &mut [ModelCandidate], preference: ModelPreference, size: RequestSize) {
    candidates.sort_by_key(|candidate| place(preference, size, candidate));
}

/// The place of a model: healthy ones first, then by preference. In the configured order a degraded
/// model keeps its place, because no request would find out that it has recovered otherwise.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ModelPlace {
    degraded: bool,
    preferred: u128,
}

fn place(preference: ModelPreference, size: RequestSize, candidate: &ModelCandidate) -> ModelPlace {
    let preferred = match preference {
        ModelPreference::ConfiguredOrder => 0,
        ModelPreference::Cheapest => {
            candidate.price.map_or(u128::MAX, |quote| u128::from(quote.prices.most_for(size).0))
        }
        // One that nothing is known of is asked, so that it is measured.
        ModelPreference::Fastest => candidate.first_token.map_or(0, |span| span.as_micros()),
    };
    let by_health = preference != ModelPreference::ConfiguredOrder;
    ModelPlace { degraded: by_health && candidate.health != ModelHealth::Healthy, preferred }
}

/// Returns a choice; what is unusual about the model is named between the reasons of all choices.
fn planned(
    request: &RoutingRequest,
    candidate: &ModelCandidate,
    reasons: [RoutingReason; 2],
) -> PlannedModel {
    let [by_order, by_budget] = reasons;
    let degraded = (candidate.health == ModelHealth::Degraded).then_some(RoutingReason::Degraded);
    let unpriced = candidate.price.is_none().then_some(RoutingReason::Unpriced);
    PlannedModel {
        model: candidate.model.clone(),
        price: candidate.price,
        amount: reservation(request, candidate).amount(),
        reasons: [by_order].into_iter().chain(degraded).chain(unpriced).chain([by_budget]).collect(),
    }
}

/// Returns when the first model answers again, among those that lack nothing but health.
fn first_recovery(passed_over: &[PassedOverModel]) -> Option<Timestamp> {
    let times = passed_over.iter().filter_map(|passed| match passed.reasons.as_slice() {
        [PassOverReason::Unavailable { until }] => *until,
        _ => None,
    });
    times.min()
}

/// Returns a number that is higher for a stricter action.
fn strictness(action: StopAction) -> u8 {
    match action {
        StopAction::Park { resume: Some(_) } => 0,
        StopAction::Park { resume: None } => 1,
        StopAction::Ask => 2,
        StopAction::Refuse => 3,
    }
}

#[cfg(test)]
mod tests;
