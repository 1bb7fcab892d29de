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
use palyra_types::budget::{PursePath, RequestSize, ReservationId, ReservationRequest, TaskClass};
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

/// Whose purses a request beside a run draws on.
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
    reserved: Option<UnsettledCall>,
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
        let AuxiliaryPayer { principal, agent, session, run } = payer;
        let run = run.unwrap_or(own);
        let path = PursePath { run, principal, agent, session, channel: None, schedule: None };
        let book = Arc::clone(&self.book);
        let reserved = self.reserve_on(path, id, candidates, size).await;
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
        path: PursePath,
        id: ReservationId,
        mut candidates: Vec<ModelCandidate>,
        size: RequestSize,
    ) -> Result<AuxiliaryCall, AuxiliaryRefusal> {
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
        let mut call = AuxiliaryCall { budgets: self, model, reserved: None };
        if step.is_limited() {
            step.reserve(&request).map_err(|stop| over_budget(&stop))?;
            call.record(step, UnsettledCall { path, id, outcome: RequestOutcome::NotSent }).await?;
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
        if let Some(reserved) = &mut self.reserved {
            reserved.outcome = RequestOutcome::Lost;
        }
    }

    /// Records how the request ended. Where that fails now, it is recorded later.
    pub async fn end(mut self, outcome: RequestOutcome) {
        let Some(reserved) = &mut self.reserved else { return };
        reserved.outcome = outcome;
        match self.budgets.book.settle_call(reserved, &self.budgets.zones).await {
            Ok(()) => self.reserved = None,
            Err(error) => {
                tracing::warn!(%error, "the end of a request beside a run could not be recorded and is recorded later");
            }
        }
    }

    async fn record(&mut self, step: BudgetStep, call: UnsettledCall) -> Result<(), AppendError> {
        let entries = step.entries(step.now());
        match self.budgets.book.recorder.record(entries, AppendClass::Normal, Vec::new()).await {
            Ok(_) => {
                step.committed();
                self.reserved = Some(call);
                Ok(())
            }
            Err(error) => {
                if error == AppendError::Unknown {
                    step.in_doubt();
                    // It counts until its end is recorded, which changes nothing where the reservation is not there.
                    self.reserved = Some(call);
                }
                Err(error)
            }
        }
    }
}

impl Drop for AuxiliaryCall {
    fn drop(&mut self) {
        if let Some(call) = self.reserved.take() {
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
        let entries = step.entries(step.now());
        if !entries.is_empty() {
            self.recorder.record(entries, AppendClass::Ending, Vec::new()).await?;
            step.committed();
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
