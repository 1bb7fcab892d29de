//! Model requests beside runs, such as summaries and vectors of texts: reserved before they are sent, ended with their answer.
//!
//! Owns whose purses such a request draws on and which of several models it goes to. Knows no provider and no text.
//!
//! Invariant: a reservation that was decided is recorded or given back, and one that was recorded is ended, also where the
//! caller is gone by then. Begin at [`AuxiliaryBudgets::reserve`].

use std::sync::Arc;

use palyra_governance::{
    BudgetStop, ModelCandidate, ModelPreference, PriceCatalogue, RequestOutcome, RoutingRequest,
    UsageRoutingPlan,
};
use palyra_ports::{AppendClass, AppendError, Entropy};
use palyra_types::budget::{
    AuxiliaryPurpose, PursePath, RequestSize, ReservationId, ReservationRequest, TaskClass,
};
use palyra_types::model::ModelRef;
use palyra_types::{AgentId, Attempt, ErrorCode, PrincipalId, RunId, SessionId, Timestamp};

use super::budget_step::BudgetStep;
use super::run_budget::refused;
use super::unsettled_call::UnsettledCall;
use super::{BudgetBook, BudgetMode};
use crate::memories::ZoneOf;

/// Returns the price catalogue in force; `None` without one.
pub type PricesNow = Arc<dyn Fn() -> Option<Arc<PriceCatalogue>> + Send + Sync>;

/// Reserves requests beside runs; clones share everything.
#[derive(Clone)]
pub struct AuxiliaryBudgets {
    book: Arc<BudgetBook>,
    entropy: Arc<dyn Entropy>,
    zones: ZoneOf,
    prices: PricesNow,
}

/// Whose purses a request beside a run draws on, and for what it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuxiliaryPayer {
    /// On whose behalf.
    pub principal: PrincipalId,
    /// The agent of the session.
    pub agent: Option<AgentId>,
    /// The session.
    pub session: Option<SessionId>,
    /// The run for which the request is made; `None` where it counts as a run of its own.
    pub run: Option<RunId>,
    /// For what.
    pub purpose: AuxiliaryPurpose,
}

/// A request beside a run that is to be reserved.
struct AuxiliaryRequest {
    path: PursePath,
    id: ReservationId,
    purpose: AuxiliaryPurpose,
    size: RequestSize,
}

/// Why a request beside a run is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuxiliaryRefusal {
    /// A budget does not allow it.
    #[error("{explanation}")]
    OverBudget {
        /// The code that clients see.
        code: ErrorCode,
        /// Which limits are in the way.
        explanation: String,
        /// When the accounts in the way begin again; `None` when only a person can make room.
        resets: Option<Timestamp>,
    },
    /// None of the models can serve it.
    #[error("{explanation}")]
    NoModel {
        /// Why not, for each of them.
        explanation: String,
    },
    /// The reservation could not be recorded.
    #[error("the reservation of the request could not be recorded: {0}")]
    NotRecorded(#[from] AppendError),
}

impl AuxiliaryRefusal {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::OverBudget { code, .. } => *code,
            Self::NoModel { .. } => ErrorCode::ModelNotConfigured,
            Self::NotRecorded(error) => error.code(),
        }
    }
}

/// A request that may be sent to its model. Dropped without an end it is charged as reserved, or given back if it was not
/// sent.
#[must_use]
pub struct AuxiliaryCall {
    budgets: AuxiliaryBudgets,
    model: ModelRef,
    /// There until its end is recorded.
    unsettled: Option<UnsettledCall>,
}

impl AuxiliaryBudgets {
    /// Makes one over the accounts.
    #[must_use]
    pub fn new(book: Arc<BudgetBook>, entropy: Arc<dyn Entropy>, zones: ZoneOf, prices: PricesNow) -> Self {
        Self { book, entropy, zones, prices }
    }

    /// Chooses the cheapest model that can serve a request of this size, and reserves the request in every account of its
    /// path. The prices of the candidates are filled in.
    ///
    /// A reservation whose caller is dropped is completed, and given back afterwards.
    ///
    /// # Errors
    /// [`AuxiliaryRefusal`].
    pub async fn reserve(
        &self,
        payer: AuxiliaryPayer,
        candidates: Vec<ModelCandidate>,
        size: RequestSize,
    ) -> Result<AuxiliaryCall, AuxiliaryRefusal> {
        let budgets = self.clone();
        // An append that is cut off in the middle would leave open whether it was recorded.
        let reserving = tokio::spawn(async move { budgets.reserve_whole(payer, candidates, size).await });
        reserving.await.unwrap_or(Err(AuxiliaryRefusal::NotRecorded(AppendError::Closed)))
    }

    async fn reserve_whole(
        self,
        payer: AuxiliaryPayer,
        candidates: Vec<ModelCandidate>,
        size: RequestSize,
    ) -> Result<AuxiliaryCall, AuxiliaryRefusal> {
        let own: RunId = self.entropy.new_id(self.book.clock.wall());
        let id = ReservationId { run: own, class: TaskClass::Auxiliary, attempt: Attempt(1) };
        let AuxiliaryPayer { principal, agent, session, run, purpose } = payer;
        let run = run.unwrap_or(own);
        let path = PursePath { run, principal, agent, session, channel: None, schedule: None };
        let book = Arc::clone(&self.book);
        let asked = AuxiliaryRequest { path, id, purpose, size };
        let reserved = self.reserve_on(asked, candidates).await;
        // After an append in doubt the reservation counts until its end is recorded.
        if let Err(AuxiliaryRefusal::OverBudget { .. } | AuxiliaryRefusal::NoModel { .. }) = &reserved
            && path.run == own
        {
            book.forget(own);
        }
        reserved
    }

    async fn reserve_on(
        self,
        asked: AuxiliaryRequest,
        mut candidates: Vec<ModelCandidate>,
    ) -> Result<AuxiliaryCall, AuxiliaryRefusal> {
        let AuxiliaryRequest { path, id, purpose, size } = asked;
        let mut step = self.book.begin(path, BudgetMode::Limited, &self.zones).await?;
        if let Some(catalogue) = (self.prices)() {
            for candidate in &mut candidates {
                candidate.price = catalogue.price_at(&candidate.model, step.now());
            }
        }
        let preference = ModelPreference::of_class(TaskClass::Auxiliary);
        let plan = step.plan(&RoutingRequest { id, needs: [].into(), size, preference }, &candidates);
        let Some(chosen) = plan.choices.first() else { return Err(refusal(&plan)) };
        let model = chosen.model.clone();
        let request = ReservationRequest { id, size, price: chosen.price };
        let unsettled = UnsettledCall {
            path,
            id,
            purpose,
            model: model.clone(),
            size,
            outcome: RequestOutcome::NotSent,
            is_reserved: false,
        };
        let mut call = AuxiliaryCall { budgets: self, model, unsettled: Some(unsettled) };
        if step.is_limited() {
            step.reserve(&request).map_err(|stop| over_budget(&stop))?;
            call.record(step).await?;
        }
        Ok(call)
    }
}

impl AuxiliaryCall {
    /// Returns the model to ask.
    #[must_use]
    pub fn model(&self) -> &ModelRef {
        &self.model
    }

    /// Notes that the request is being sent: from now on it is charged as reserved if its answer is lost.
    pub fn sent(&mut self) {
        if let Some(call) = &mut self.unsettled {
            call.outcome = RequestOutcome::Lost;
        }
    }

    /// Records how the request ended. Where that fails now, it is recorded later.
    pub async fn end(mut self, outcome: RequestOutcome) {
        let Some(call) = &mut self.unsettled else { return };
        call.outcome = outcome;
        match self.budgets.book.settle_call(call, &self.budgets.zones).await {
            Ok(()) => self.unsettled = None,
            Err(error) => {
                tracing::warn!(%error, "the end of a request beside a run could not be recorded and is recorded later");
            }
        }
    }

    async fn record(&mut self, step: BudgetStep) -> Result<(), AppendError> {
        let entries = step.entries(step.now());
        let recorded = self.budgets.book.recorder.record(entries, AppendClass::Normal, Vec::new()).await;
        match &recorded {
            Ok(_) => step.committed(),
            Err(AppendError::Unknown) => step.in_doubt(),
            Err(_) => return recorded.map(drop),
        }
        // In doubt it counts until its end is recorded, which changes nothing where the reservation is not there.
        if let Some(call) = &mut self.unsettled {
            call.is_reserved = true;
        }
        recorded.map(drop)
    }
}

impl Drop for AuxiliaryCall {
    fn drop(&mut self) {
        if let Some(call) = self.unsettled.take().filter(UnsettledCall::has_end_to_record) {
            self.budgets.book.leave_unsettled(call);
        }
    }
}

impl BudgetBook {
    /// Ends the requests beside runs whose callers left before their end was recorded.
    ///
    /// # Errors
    /// [`AppendError`] of the first one that could not be recorded; it and those after it stay.
    pub(super) async fn settle_left(self: &Arc<Self>, zones: &ZoneOf) -> Result<(), AppendError> {
        while let Some(call) = self.next_unsettled() {
            if let Err(error) = self.settle_call(&call, zones).await {
                self.book().unsettled.push(call);
                return Err(error);
            }
        }
        Ok(())
    }

    async fn settle_call(self: &Arc<Self>, call: &UnsettledCall, zones: &ZoneOf) -> Result<(), AppendError> {
        let mut step = self.begin(call.path, BudgetMode::Limited, zones).await?;
        step.end(call.id, call.outcome);
        let mut entries = step.entries(step.now());
        // An end that changes no account was recorded before.
        if !call.is_reserved || !entries.is_empty() {
            entries.extend(call.use_entry(step.now()));
        }
        if !entries.is_empty() {
            match self.recorder.record(entries, AppendClass::Ending, Vec::new()).await {
                Ok(_) => step.committed(),
                // Without a reservation nothing says whether it was recorded, so it is not recorded again.
                Err(AppendError::Unknown) if !call.is_reserved => {}
                // The next step reads the accounts again: an end that is there is not recorded twice.
                Err(error @ AppendError::Unknown) => {
                    step.in_doubt();
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
        }
        if call.path.run == call.id.run {
            self.forget(call.id.run);
        }
        Ok(())
    }
}

fn refusal(plan: &UsageRoutingPlan) -> AuxiliaryRefusal {
    match &plan.stop {
        Some(stop) => over_budget(stop),
        None => AuxiliaryRefusal::NoModel { explanation: plan.explanation() },
    }
}

fn over_budget(stop: &BudgetStop) -> AuxiliaryRefusal {
    let resets: Option<Vec<Timestamp>> = stop.hits.iter().map(|hit| hit.resets).collect();
    AuxiliaryRefusal::OverBudget {
        code: refused(stop).unwrap_or(ErrorCode::OverBudget),
        explanation: stop.explanation(),
        resets: resets.and_then(|times| times.into_iter().max()),
    }
}
