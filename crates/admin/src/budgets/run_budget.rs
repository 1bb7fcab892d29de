//! The budgets of one step of a run: a request is reserved before it is recorded, and ended with its answer.
//!
//! Owns the size of a request, and what became of it by the events of the step. Begin at [`RunBudget::begin`].

use std::sync::Arc;

use palyra_governance::{
    AnswerProgress, BudgetStop, LimitCause, ModelCandidate, PriceCatalogue, RequestOutcome, RoutingRequest,
    SoftLimitWarning, StopAction, UsageRoutingPlan,
};
use palyra_ports::AppendError;
use palyra_types::budget::{PursePath, RequestSize, ReservationId, ReservationRequest, TaskClass};
use palyra_types::event::{AbandonCause, ModelEvent, RunStarted, TapeEvent};
use palyra_types::model::ModelRef;
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::{Attempt, ErrorCode, RunId, ScheduleId, Timestamp};

use super::budget_step::BudgetStep;
use super::waiting_runs::WaitingRun;
use super::{BudgetBook, BudgetMode};
use crate::memories::ZoneOf;

/// The budgets of one step of a run.
pub struct RunBudget {
    step: Option<BudgetStep>,
    session: SessionRef,
    path: PursePath,
    class: TaskClass,
    /// How far the awaited answer has come.
    progress: AnswerProgress,
    /// How many events of the step were looked at.
    seen: usize,
    /// The request that was recorded in the step.
    requested: Option<Attempt>,
    reserved: Option<Attempt>,
    waits: Option<WaitingRun>,
}

/// A request that budgets allow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReservedRequest {
    /// The cap on the answer; `None` where no budget applies.
    pub output_tokens_max: Option<u32>,
    /// The soft limits that are passed, in words.
    pub soft_limits: Vec<String>,
}

/// A request that budgets do not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedRequest {
    /// When the accounts in the way begin again; `None` when only a person can let the run go on.
    pub resumes: Option<Timestamp>,
    /// The error with which the run ends; `None` where it waits.
    pub refused: Option<ErrorCode>,
    /// Which limits are in the way, and the ways to go on.
    pub explanation: String,
}

impl RunBudget {
    /// Makes that of a step which asks no model.
    #[must_use]
    pub fn new(session: SessionRef, run: RunId, started: Option<&RunStarted>) -> Self {
        let path = PursePath {
            run,
            principal: session.principal,
            agent: started.map(|started| started.agent),
            session: Some(session.id),
            channel: None,
            schedule: None,
        };
        Self {
            step: None,
            session,
            path,
            class: started.map_or(TaskClass::Interactive, task_class),
            progress: AnswerProgress::Nothing,
            seen: 0,
            requested: None,
            reserved: None,
            waits: None,
        }
    }

    /// Draws on the purse of a schedule too, where the run is one of its occurrences.
    #[must_use]
    pub fn of_schedule(mut self, schedule: Option<ScheduleId>) -> Self {
        self.path.schedule = schedule;
        self
    }

    /// Begins a step that may ask a model, or end a request; `progress` is that of the awaited answer.
    ///
    /// # Errors
    /// [`AppendError`] when a window that has begun could not be recorded.
    pub async fn begin(
        mut self,
        book: &Arc<BudgetBook>,
        mode: BudgetMode,
        progress: AnswerProgress,
        zones: &ZoneOf,
    ) -> Result<Self, AppendError> {
        self.progress = progress;
        self.step = Some(book.begin(self.path, mode, zones).await?);
        Ok(self)
    }

    /// Reserves an assembled request, given the events of the step so far. Returns the cap on the answer that has to be sent
    /// where a budget applies, and the soft limits that are passed.
    ///
    /// # Errors
    /// [`StoppedRequest`] when it does not fit.
    pub(super) fn reserve(
        &mut self,
        model: &ModelRef,
        attempt: Attempt,
        size: RequestSize,
        catalogue: Option<&PriceCatalogue>,
        events: &[TapeEvent],
    ) -> Result<ReservedRequest, StoppedRequest> {
        // What ended earlier in this step ends in the same commit.
        self.settle(events);
        let id = self.id(attempt);
        let Some(step) = self.step.as_mut().filter(|step| step.is_limited()) else {
            return Ok(ReservedRequest::default());
        };
        let cap = u32::try_from(size.output_tokens_max).unwrap_or(u32::MAX);
        let reservation = ReservationRequest {
            id,
            size: RequestSize { output_tokens_max: cap.into(), ..size },
            price: catalogue.and_then(|catalogue| catalogue.price_at(model, step.now())),
        };
        match step.reserve(&reservation) {
            Ok(warnings) => {
                self.reserved = Some(attempt);
                let soft_limits = warnings.iter().map(warned).collect();
                Ok(ReservedRequest { output_tokens_max: Some(cap), soft_limits })
            }
            Err(stop) => {
                let stopped = StoppedRequest {
                    resumes: resumes(&stop),
                    refused: refused(&stop),
                    explanation: format!("model `{model}` was not asked: {}", stop.explanation()),
                };
                let mut waiting = WaitingRun::new(self.session, self.path, reservation);
                waiting.asks = stop.action == StopAction::Ask;
                waiting.resumes = stopped.resumes;
                self.waits = Some(waiting);
                Err(stopped)
            }
        }
    }

    /// Takes the step out, to be recorded with its events; a reservation whose request is not among them is given back.
    pub fn take_step(&mut self, events: &[TapeEvent]) -> Option<BudgetStep> {
        self.settle(events);
        let reserved = self.reserved.map(|attempt| self.id(attempt));
        let step = self.step.as_mut()?;
        if let Some(id) = reserved.filter(|id| self.requested != Some(id.attempt)) {
            step.take_back(id);
        }
        self.step.take()
    }

    /// Notes that the run waits for a budget once the step is committed.
    pub fn note_wait(&mut self, book: &BudgetBook) {
        if let Some(waiting) = self.waits.take() {
            book.wait(self.path.run, waiting);
        }
    }

    /// Returns the time of the step; `None` for one that asks no model.
    pub(super) fn now(&self) -> Option<Timestamp> {
        Some(self.step.as_ref()?.now())
    }

    /// Plans which of some models serves a request.
    pub(super) fn plan(
        &mut self,
        request: &RoutingRequest,
        candidates: &[ModelCandidate],
    ) -> UsageRoutingPlan {
        match &mut self.step {
            Some(step) => step.plan(request, candidates),
            None => UsageRoutingPlan::make(request, candidates, &[]),
        }
    }

    /// Takes the wait that the last refused request noted.
    pub(super) fn take_wait(&mut self) -> Option<WaitingRun> {
        self.waits.take()
    }

    /// Notes for which requests the run waits.
    pub(super) fn note_stop(&mut self, waits: Option<WaitingRun>) {
        self.waits = waits;
    }

    pub(super) fn id(&self, attempt: Attempt) -> ReservationId {
        ReservationId { run: self.path.run, class: self.class, attempt }
    }

    /// Ends the requests that the events of the step so far end.
    pub(super) fn settle(&mut self, events: &[TapeEvent]) {
        let fresh = events.get(self.seen..).unwrap_or_default();
        self.seen = events.len();
        for event in fresh {
            if let TapeEvent::Model(event) = event {
                self.settle_event(event);
            }
        }
    }

    fn settle_event(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Requested(request) => {
                self.requested = Some(request.attempt);
                self.progress = AnswerProgress::Nothing;
            }
            ModelEvent::Text { .. } | ModelEvent::Reasoning { .. } => {
                self.progress = AnswerProgress::Begun;
            }
            ModelEvent::Message(message) => {
                self.end(message.attempt, RequestOutcome::Answered { usage: Some(message.usage) });
            }
            ModelEvent::AttemptAbandoned { attempt, cause, .. } => {
                let outcome = match cause {
                    // It was recorded in this very step, so it was not sent.
                    _ if self.requested == Some(*attempt) => RequestOutcome::NotSent,
                    AbandonCause::Failure(class) => RequestOutcome::of_failure(*class, self.progress),
                    AbandonCause::Cancelled => RequestOutcome::Answered { usage: None },
                    AbandonCause::Restart => RequestOutcome::Lost,
                };
                self.end(*attempt, outcome);
            }
            ModelEvent::Switched { .. } => {}
        }
    }

    fn end(&mut self, attempt: Attempt, outcome: RequestOutcome) {
        let id = self.id(attempt);
        if let Some(step) = &mut self.step {
            step.end(id, outcome);
        }
    }
}

fn task_class(started: &RunStarted) -> TaskClass {
    match started.surface {
        Surface::Schedule | Surface::Background => TaskClass::Background,
        Surface::LocalSocket
        | Surface::Tcp
        | Surface::Http
        | Surface::Console
        | Surface::Openai
        | Surface::Channel
        | Surface::Quic => TaskClass::Interactive,
    }
}

fn resumes(stop: &BudgetStop) -> Option<Timestamp> {
    match stop.action {
        StopAction::Park { resume } => resume,
        StopAction::Ask | StopAction::Refuse => None,
    }
}

pub(super) fn refused(stop: &BudgetStop) -> Option<ErrorCode> {
    let has_no_price = stop.hits.iter().any(|hit| hit.cause == LimitCause::NoPrice);
    match stop.action {
        StopAction::Park { .. } | StopAction::Ask => None,
        StopAction::Refuse if has_no_price => Some(ErrorCode::ModelWithoutPrice),
        StopAction::Refuse => Some(ErrorCode::OverBudget),
    }
}

fn warned(warning: &SoftLimitWarning) -> String {
    let SoftLimitWarning { budget, account, measure, limit, used } = warning;
    format!(
        "budget `{budget}` ({}, window {}) is above its soft limit of {}; spent or reserved: {}",
        account.purse,
        account.window.as_str(),
        measure.phrase(*limit),
        measure.phrase(*used),
    )
}
