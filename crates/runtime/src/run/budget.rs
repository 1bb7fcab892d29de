//! Budgets in the steps of a run: a request is reserved before it is recorded, and ended with its answer.
//!
//! Owns the size of a request and what became of it. Whether it fits is decided by `palyra_admin::budgets`.

use std::sync::Arc;

use palyra_admin::budgets::{BudgetMode, BudgetStep, WaitingRun};
use palyra_context::prompt::request_tokens_max;
use palyra_governance::{
    AnswerProgress, BudgetStop, LimitCause, RequestOutcome, SoftLimitWarning, StopAction,
};
use palyra_ports::AppendError;
use palyra_run_core::{BudgetOutcome, BudgetRefusal, BudgetWake, RunInput};
use palyra_types::budget::{PursePath, RequestSize, ReservationId, ReservationRequest, TaskClass};
use palyra_types::event::{AbandonCause, ModelEvent, RunStarted, TapeEvent};
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::{Attempt, Content, ErrorCode, Redacted, RunId};

use crate::run::actor::RunActor;
use crate::run::context::{PreparedInput, RequestSource};
use crate::run::mailbox::RunAcceptance;
use crate::run_context::RunContext;

/// The budgets of one step.
pub(super) struct StepBudget {
    step: Option<BudgetStep>,
    session: SessionRef,
    run: RunId,
    class: TaskClass,
    /// Whether a part of the answer that was awaited before the step had arrived.
    begun: bool,
    /// How many events of the step were looked at.
    seen: usize,
    /// The request that was recorded in the step.
    requested: Option<Attempt>,
    reserved: Option<Attempt>,
    waits: Option<WaitingRun>,
}

impl RunActor {
    /// Begins what the step may reserve and end.
    pub(super) async fn begin_budget(
        &mut self,
        accepts: Option<&RunAcceptance>,
    ) -> Result<StepBudget, AppendError> {
        let started = accepts.map(|acceptance| &acceptance.started).or(self.state.started.as_ref());
        let (session, run) = (self.session, self.state.machine.run());
        let path = PursePath {
            run,
            principal: session.principal,
            agent: started.map(|started| started.agent),
            session: Some(session.id),
            channel: None,
            schedule: None,
        };
        let goes_on = |input: &RunInput| matches!(input, RunInput::BudgetDue(BudgetWake::GoOnOnce));
        let is_let_go_on = self.inputs.batch().iter().any(|command| goes_on(&command.input));
        let mode = if is_let_go_on { BudgetMode::GoOnOnce } else { BudgetMode::Limited };
        let class = started.map_or(TaskClass::Interactive, task_class);
        let begun = self.state.machine.has_answer_begun();
        let run_context = Arc::clone(&self.run_context);
        let step = run_context.views.budgets.begin(path, mode, &run_context.zones).await?;
        Ok(StepBudget {
            step: Some(step),
            class,
            begun,
            ..StepBudget::without_requests(session, run)
        })
    }

    /// Notes what the run waits for after a step, or that it is over.
    pub(super) fn note_budget_wait(&self, budget: &mut StepBudget) {
        let machine = &self.state.machine;
        let book = &self.run_context.views.budgets;
        match machine.phase() {
            RunPhase::Finished => book.forget(machine.run()),
            RunPhase::Waiting(WaitReason::Budget) => {
                budget.waits.take().into_iter().for_each(|waiting| book.wait(machine.run(), waiting));
            }
            RunPhase::Queued | RunPhase::Running | RunPhase::Waiting(_) => {}
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

impl StepBudget {
    /// Makes that of a run that asks no model.
    pub(super) fn without_requests(session: SessionRef, run: RunId) -> Self {
        let class = TaskClass::Interactive;
        Self { step: None, session, run, class, begun: false, seen: 0, requested: None, reserved: None, waits: None }
    }

    /// Reserves an assembled request. Where a budget applies and no cap on the answer would be sent, one is sent.
    pub(super) fn reserve(
        &mut self,
        prepared: &mut PreparedInput,
        attempt: Attempt,
        output_tokens_left: u64,
        source: &RequestSource<'_>,
        events: &[TapeEvent],
    ) -> Result<Vec<Redacted<String>>, BudgetRefusal> {
        // What ended earlier in this step ends in the same commit.
        self.settle(events);
        let Some(step) = self.step.as_mut().filter(|step| step.is_limited()) else { return Ok(Vec::new()) };
        let request = &mut prepared.request;
        let window = source.window_tokens(&request.model);
        let room = output_tokens_left.min(window - request_tokens_max(window));
        let cap = *request.output_tokens_max.get_or_insert(u32::try_from(room).unwrap_or(u32::MAX));
        let prices = source.run_context.ports.config.borrow().prices.clone();
        let now = source.run_context.ports.clock.wall();
        let reservation = ReservationRequest {
            id: ReservationId { run: self.run, class: self.class, attempt },
            size: RequestSize { input_tokens: prepared.plan.tokens_estimated, output_tokens_max: cap.into() },
            price: prices.and_then(|prices| prices.price_at(&request.model, now)),
        };
        match step.reserve(&reservation) {
            Ok(warnings) => {
                self.reserved = Some(attempt);
                Ok(warnings.iter().map(|warning| cleaned(source.run_context, warned(warning))).collect())
            }
            Err(stop) => {
                let mut waiting = WaitingRun::new(self.session, step.path(), reservation);
                waiting.asks = stop.action == StopAction::Ask;
                let outcome = outcome_of(&stop);
                if let BudgetOutcome::Wait { resumes } = outcome {
                    waiting.resumes = resumes;
                }
                self.waits = Some(waiting);
                let text = format!("model `{}` was not asked: {}", request.model, stop.explanation());
                Err(BudgetRefusal { outcome, explanation: cleaned(source.run_context, text) })
            }
        }
    }

    /// Ends the requests that the events of the step so far end.
    pub(super) fn settle(&mut self, events: &[TapeEvent]) {
        let Some(step) = &mut self.step else { return };
        let (run, class) = (self.run, self.class);
        let id = |attempt: Attempt| ReservationId { run, class, attempt };
        let fresh = events.get(self.seen..).unwrap_or_default();
        self.seen = events.len();
        for event in fresh {
            let TapeEvent::Model(event) = event else { continue };
            match event {
                ModelEvent::Requested(request) => {
                    (self.requested, self.begun) = (Some(request.attempt), false);
                }
                ModelEvent::Text { .. } | ModelEvent::Reasoning { .. } => self.begun = true,
                ModelEvent::Message(message) => {
                    step.end(id(message.attempt), RequestOutcome::Answered { usage: Some(message.usage) });
                }
                ModelEvent::AttemptAbandoned { attempt, cause, .. } => {
                    let progress = if self.begun { AnswerProgress::Begun } else { AnswerProgress::Nothing };
                    let outcome = match cause {
                        // It was recorded in this very step, so it was not sent.
                        _ if self.requested == Some(*attempt) => RequestOutcome::NotSent,
                        AbandonCause::Failure(class) => RequestOutcome::of_failure(*class, progress),
                        AbandonCause::Cancelled => RequestOutcome::Answered { usage: None },
                        AbandonCause::Restart => RequestOutcome::Lost,
                    };
                    step.end(id(*attempt), outcome);
                }
                ModelEvent::Switched { .. } => {}
            }
        }
    }

    /// Takes the step out, to be recorded with its events; a reservation whose request is not among them is given back.
    pub(super) fn take_step(&mut self, events: &[TapeEvent]) -> Option<BudgetStep> {
        self.settle(events);
        let mut step = self.step.take()?;
        if let Some(attempt) = self.reserved.filter(|attempt| self.requested != Some(*attempt)) {
            step.take_back(ReservationId { run: self.run, class: self.class, attempt });
        }
        Some(step)
    }
}

fn outcome_of(stop: &BudgetStop) -> BudgetOutcome {
    match stop.action {
        StopAction::Park { resume } => BudgetOutcome::Wait { resumes: resume },
        StopAction::Ask => BudgetOutcome::Wait { resumes: None },
        StopAction::Refuse if stop.hits.iter().any(|hit| hit.cause == LimitCause::NoPrice) => {
            BudgetOutcome::Refuse(ErrorCode::ModelWithoutPrice)
        }
        StopAction::Refuse => BudgetOutcome::Refuse(ErrorCode::OverBudget),
    }
}

fn warned(warning: &SoftLimitWarning) -> String {
    let SoftLimitWarning { budget, account, measure, limit, used } = warning;
    format!(
        "budget `{budget}` ({}, window {}) is above its soft limit of {}: {} are spent or reserved",
        account.purse,
        account.window.as_str(),
        measure.phrase(*limit),
        measure.phrase(*used),
    )
}

fn cleaned(run_context: &RunContext, text: String) -> Redacted<String> {
    run_context.ports.redactor.redact(Content::new(text)).text
}
