//! Which model of its chain a run's request goes to.
//!
//! Owns the order in which models are looked at: the first one that has what the request needs, answers at present, has a
//! window that the request fits, and is within budgets. Where none has and answers, the first one is asked all the same, so
//! that its failure says why. A request is made for a model only when it is looked at.
//!
//! Begin at [`RunBudget::route`].

use std::collections::BTreeSet;

use palyra_governance::{
    ModelCandidate, ModelCapability, ModelHealth, ModelPreference, PassOverReason, PassedOverModel,
    PriceCatalogue, RoutingRequest, UsageRoutingPlan,
};
use palyra_types::Attempt;
use palyra_types::budget::RequestSize;
use palyra_types::event::{ModelRouting, PassedOver, RoutingReason, TapeEvent};
use palyra_types::model::ModelRef;

use super::run_budget::{ReservedRequest, RunBudget, StoppedRequest};
use super::waiting_runs::WaitingRun;

/// The models that a request may go to, and what it needs of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingChain {
    /// The models in order, without prices.
    pub candidates: Vec<ModelCandidate>,
    /// What the request needs; something that none of the models has is not asked for.
    pub needs: BTreeSet<ModelCapability>,
    /// What follows when the request to a model is not within budgets.
    pub over_budget: OverBudgetModel,
    /// What their order is made by.
    pub preference: ModelPreference,
}

/// What follows when the request to a model is not within budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OverBudgetModel {
    /// The run waits, or ends, as the budget says.
    #[default]
    Stops,
    /// The next model of the chain is looked at first.
    PassedOver,
}

/// A request that was made for one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeRequest<R> {
    /// It.
    pub request: R,
    /// Its size.
    pub size: RequestSize,
}

/// The request that is to be sent, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoutedRequest<R> {
    /// It is reserved.
    Ready {
        /// It.
        request: R,
        /// What budgets say to it.
        reserved: ReservedRequest,
        /// Why it goes to its model.
        routing: ModelRouting,
    },
    /// It is larger than the window of every model.
    TooLarge,
    /// Budgets do not allow it.
    Stopped(StoppedRequest),
}

/// What a request is routed by.
#[derive(Clone, Copy)]
pub struct RoutingInputs<'a> {
    /// The number of the request.
    pub attempt: Attempt,
    /// The prices in force.
    pub catalogue: Option<&'a PriceCatalogue>,
    /// The events of the step so far.
    pub events: &'a [TapeEvent],
}

/// What came of looking at one model.
enum CandidateVerdict<R> {
    Chosen(R, ReservedRequest, Vec<RoutingReason>),
    TooSmall,
    Stopped(StoppedRequest, Vec<PassOverReason>),
}

impl RunBudget {
    /// Makes the request for the first model of the chain that can serve it, and reserves it.
    pub fn route<R>(
        &mut self,
        inputs: RoutingInputs<'_>,
        chain: &RoutingChain,
        mut make: impl FnMut(&ModelRef) -> Option<MadeRequest<R>>,
    ) -> RoutedRequest<R> {
        // What ended earlier in this step ends in the same commit.
        self.settle(inputs.events);
        let needs = chain.needs_that_help();
        let mut passed: Vec<PassedOverModel> = Vec::new();
        let mut unable = Vec::new();
        let mut stops: Vec<(StoppedRequest, Option<WaitingRun>)> = Vec::new();
        for candidate in &chain.candidates {
            if let Some(why) = self.unable(inputs.attempt, &needs, candidate) {
                passed.push(why);
                unable.push(candidate);
                continue;
            }
            match self.look_at(inputs, candidate, &mut make) {
                CandidateVerdict::Chosen(request, reserved, reasons) => {
                    let reasons = chain.reasons_of(&reasons);
                    return RoutedRequest::Ready { request, reserved, routing: routing(reasons, &passed) };
                }
                CandidateVerdict::TooSmall => passed.push(too_small(candidate)),
                CandidateVerdict::Stopped(stopped, reasons) => {
                    stops.push((stopped, self.take_wait()));
                    if chain.over_budget == OverBudgetModel::Stops {
                        break;
                    }
                    passed.push(PassedOverModel { model: candidate.model.clone(), reasons });
                }
            }
        }
        if let Some(stopped) = self.mildest(stops) {
            return RoutedRequest::Stopped(stopped);
        }
        self.last_resort(inputs, &unable, &passed, &mut make)
    }

    /// Asks the first of the models that lack something, or do not answer, because there is no better one.
    fn last_resort<R>(
        &mut self,
        inputs: RoutingInputs<'_>,
        unable: &[&ModelCandidate],
        passed: &[PassedOverModel],
        make: &mut impl FnMut(&ModelRef) -> Option<MadeRequest<R>>,
    ) -> RoutedRequest<R> {
        for candidate in unable {
            let able = ModelCandidate { health: ModelHealth::Healthy, ..(*candidate).clone() };
            match self.look_at(inputs, &able, make) {
                CandidateVerdict::Chosen(request, reserved, reasons) => {
                    let others: Vec<_> =
                        passed.iter().filter(|passed| passed.model != able.model).cloned().collect();
                    let first = std::iter::once(RoutingReason::LastResort);
                    let reasons = first.chain(reasons.into_iter().skip(1)).collect();
                    return RoutedRequest::Ready { request, reserved, routing: routing(reasons, &others) };
                }
                CandidateVerdict::TooSmall => {}
                CandidateVerdict::Stopped(stopped, _) => return RoutedRequest::Stopped(stopped),
            }
        }
        RoutedRequest::TooLarge
    }

    /// Returns why a model is not asked, its window and budgets left aside; `None` when it may be.
    fn unable(
        &self,
        attempt: Attempt,
        needs: &BTreeSet<ModelCapability>,
        candidate: &ModelCandidate,
    ) -> Option<PassedOverModel> {
        let size = RequestSize { input_tokens: 0, output_tokens_max: 0 };
        let preference = ModelPreference::ConfiguredOrder;
        let request = RoutingRequest { id: self.id(attempt), needs: needs.clone(), size, preference };
        let plan = UsageRoutingPlan::make(&request, std::slice::from_ref(candidate), &[]);
        plan.passed_over.into_iter().next()
    }

    fn look_at<R>(
        &mut self,
        inputs: RoutingInputs<'_>,
        candidate: &ModelCandidate,
        make: &mut impl FnMut(&ModelRef) -> Option<MadeRequest<R>>,
    ) -> CandidateVerdict<R> {
        let Some(MadeRequest { request, size }) = make(&candidate.model) else {
            return CandidateVerdict::TooSmall;
        };
        let price = inputs.catalogue.and_then(|catalogue| catalogue.price_at(&candidate.model, self.now()?));
        let mut candidate = ModelCandidate { price, ..candidate.clone() };
        // The request was made for its window.
        candidate.context_tokens_max = None;
        let preference = ModelPreference::ConfiguredOrder;
        let asked = RoutingRequest { id: self.id(inputs.attempt), needs: [].into(), size, preference };
        let plan = self.plan(&asked, std::slice::from_ref(&candidate));
        let reserved = self.reserve(&candidate.model, inputs.attempt, size, inputs.catalogue, inputs.events);
        match (reserved, plan.choices.into_iter().next()) {
            (Ok(reserved), chosen) => {
                // Going on once raises limits that are in the way of the plan.
                let reasons = chosen.map_or_else(|| raised(&candidate), |chosen| chosen.reasons);
                CandidateVerdict::Chosen(request, reserved, reasons)
            }
            (Err(stopped), _) => {
                let passed = plan.passed_over.into_iter().next();
                CandidateVerdict::Stopped(stopped, passed.map(|passed| passed.reasons).unwrap_or_default())
            }
        }
    }

    /// Returns the stop that is the least in the way, and notes what the run waits for: any of the requests.
    fn mildest(&mut self, stops: Vec<(StoppedRequest, Option<WaitingRun>)>) -> Option<StoppedRequest> {
        let requests: Vec<_> =
            stops.iter().filter_map(|(_, waiting)| Some(waiting.as_ref()?.request)).collect();
        let (stopped, waiting) = stops.into_iter().min_by_key(|(stopped, waiting)| {
            let asks = waiting.as_ref().is_some_and(|waiting| waiting.asks);
            (stopped.refused.is_some(), asks, stopped.resumes.is_none())
        })?;
        self.note_stop(waiting.map(|waiting| WaitingRun { alternatives: requests, ..waiting }));
        Some(stopped)
    }
}

impl RoutingChain {
    /// Returns the needs that some model of the chain has.
    fn needs_that_help(&self) -> BTreeSet<ModelCapability> {
        let has = |need: &&ModelCapability| {
            self.candidates.iter().any(|candidate| candidate.capabilities.contains(need))
        };
        self.needs.iter().filter(has).copied().collect()
    }

    /// Returns why a model was chosen: it was looked at alone, but is not the only one.
    fn reasons_of(&self, reasons: &[RoutingReason]) -> Vec<RoutingReason> {
        let several = self.candidates.len() > 1;
        let of = |reason: &RoutingReason| {
            let by_order = several && *reason == RoutingReason::OnlyChoice;
            if by_order { self.preference.into() } else { *reason }
        };
        reasons.iter().map(of).collect()
    }
}

/// Returns why a model is asked whose limits were raised for this request.
fn raised(candidate: &ModelCandidate) -> Vec<RoutingReason> {
    let unpriced = candidate.price.is_none().then_some(RoutingReason::Unpriced);
    [RoutingReason::OnlyChoice].into_iter().chain(unpriced).chain([RoutingReason::WithinBudgets]).collect()
}

fn too_small(candidate: &ModelCandidate) -> PassedOverModel {
    let most = candidate.context_tokens_max.unwrap_or_default();
    let reasons = vec![PassOverReason::ContextTooSmall { tokens: most, most }];
    PassedOverModel { model: candidate.model.clone(), reasons }
}

fn routing(reasons: Vec<RoutingReason>, passed_over: &[PassedOverModel]) -> ModelRouting {
    let passed = |passed: &PassedOverModel| {
        let causes: BTreeSet<_> = passed.reasons.iter().map(PassOverReason::cause).collect();
        PassedOver { model: passed.model.clone(), causes: causes.into_iter().collect() }
    };
    ModelRouting { reasons, passed_over: passed_over.iter().map(passed).collect::<Vec<_>>().into() }
}
