//! A step in the making: inputs are decided on a working copy until only outside effects remain.
//!
//! Pure but for the context, which is assembled inline, and for what policy says to calls that waited and to references.
//! Nothing here is visible before the commit.

use std::sync::Arc;

use palyra_admin::budgets::{
    MadeRequest, RoutedRequest, RoutingChain, RoutingInputs, RunBudget, StoppedRequest,
};
use palyra_context::references::PlannedInput;
use palyra_policy::ProgramsFound;
use palyra_ports::{EntryActor, EntryBlobs, StaticText};
use palyra_run_core::{
    BudgetOutcome, BudgetRefusal, Effect, RejudgedCall, RunError, RunInput, RunStateMachine,
};
use palyra_types::approval::ApprovalResolved;
use palyra_types::context_reference::ReferenceLimits;
use palyra_types::event::{ApprovalEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::model::{ModelRef, ModelRequest};
use palyra_types::session::SessionRef;
use palyra_types::tool::Taints;
use palyra_types::{Attempt, Content, EffectId, Redacted, Timestamp};

use crate::run::call_evaluator::{CallEvaluator, fresh_approval};
use crate::run::context::{PreparedInput, RequestSource, RequestSpec, started_of, transcript_with};
use crate::run::mailbox::RunCommand;
use crate::run::references::expand;
use crate::run::state::AgentRunLoopState;
use crate::run_context::RunContext;

/// What one step will record and perform.
pub(super) struct StepDraft {
    pub(super) now: Timestamp,
    pub(super) machine: RunStateMachine,
    pub(super) events: Vec<TapeEvent>,
    pub(super) effects: Vec<Effect>,
    pub(super) request: Option<Arc<ModelRequest>>,
    pub(super) statics: Vec<StaticText>,
    /// Which of the events brought files along.
    pub(super) blobs: Vec<EntryBlobs>,
    /// Who acted with which of the events.
    pub(super) actors: Vec<EntryActor>,
    pub(super) budget: RunBudget,
    session: SessionRef,
    /// What the runs before this one had read.
    inherited: Taints,
    /// Soft limits that the request of this step passes.
    soft_limits: Vec<Redacted<String>>,
}

impl StepDraft {
    pub(super) fn new(
        state: &AgentRunLoopState,
        session: SessionRef,
        inherited: Taints,
        budget: RunBudget,
        now: Timestamp,
    ) -> Self {
        Self {
            now,
            machine: state.machine.clone(),
            events: Vec::new(),
            effects: Vec::new(),
            request: None,
            statics: Vec::new(),
            blobs: Vec::new(),
            actors: Vec::new(),
            budget,
            session,
            inherited,
            soft_limits: Vec::new(),
        }
    }

    /// Decides what a command brings, with all its inline work.
    pub(super) fn take(
        &mut self,
        command: &RunCommand,
        state: &AgentRunLoopState,
        source: &RequestSource<'_>,
    ) -> Result<(), RunError> {
        let entry = self.events.len();
        self.decide(&command.input, state, source)?;
        // An input that the run has already is not recorded again.
        let heard = matches!(self.events.get(entry), Some(TapeEvent::Run(RunEvent::InputReceived { .. })));
        if heard && !command.beside.blobs.is_empty() {
            self.blobs.push(EntryBlobs { entry, blobs: command.beside.blobs.clone() });
        }
        if let Some(actor) = command.beside.actor {
            let acts = (entry..).zip(&self.events[entry..]).filter(|(_, event)| is_act(event));
            self.actors.extend(acts.map(|(entry, _)| EntryActor { entry, actor }));
        }
        Ok(())
    }

    fn decide(
        &mut self,
        input: &RunInput,
        state: &AgentRunLoopState,
        source: &RequestSource<'_>,
    ) -> Result<(), RunError> {
        let decision = self.machine.decide(input, self.now)?;
        for event in decision.events {
            self.machine.evolve(&event, self.now);
            self.events.push(event);
        }
        for effect in decision.effects {
            match effect {
                Effect::AssembleContext { attempt, model, instead, tokens_wished, output_tokens_left } => {
                    let first = RequestSpec {
                        model: model.as_ref(),
                        tokens: tokens_wished,
                        output_tokens_left,
                        now: self.now,
                    };
                    let other = |model| RequestSpec { model: Some(model), tokens: None, ..first };
                    let wanted: Vec<_> = std::iter::once(first).chain(instead.iter().map(other)).collect();
                    let answer = self
                        .expansion(state, source, first.model)
                        .unwrap_or_else(|| self.assemble(state, source, attempt, &wanted));
                    self.decide(&answer, state, source)?;
                    let passed = std::mem::take(&mut self.soft_limits);
                    if !passed.is_empty() && self.machine.open_attempt() == Some(attempt) {
                        self.decide(&RunInput::SoftLimitsPassed(passed), state, source)?;
                    }
                }
                Effect::Judge(calls) => {
                    let judged = self.judge_again(&calls, state, source.run_context);
                    self.decide(&judged, state, source)?;
                }
                Effect::CallModel { .. }
                | Effect::AbortModel { .. }
                | Effect::RetryAt { .. }
                | Effect::Prepare(_)
                | Effect::Execute(_)
                | Effect::AbortTools
                | Effect::End => self.effects.push(effect),
            }
        }
        Ok(())
    }

    /// Judges calls whose turn has come with what holds now.
    fn judge_again(
        &self,
        calls: &[EffectId],
        state: &AgentRunLoopState,
        run_context: &RunContext,
    ) -> RunInput {
        let (machine, started) = (&self.machine, state.started.as_ref());
        let mut judging = CallEvaluator::of(run_context, machine, started, self.session, self.inherited);
        let rejudged = calls.iter().filter_map(|effect| {
            let call = machine.call(*effect)?;
            let decision = judging.again(*effect, call, ProgramsFound::NotLookedAt);
            Some(RejudgedCall { effect: *effect, decision, fresh: fresh_approval(run_context) })
        });
        RunInput::Judged(rejudged.collect())
    }

    /// Lets references of inputs that nothing has resolved become judged proposals; `None` where there are none.
    fn expansion(
        &self,
        state: &AgentRunLoopState,
        source: &RequestSource<'_>,
        model: Option<&ModelRef>,
    ) -> Option<RunInput> {
        let mut unexpanded = self.machine.unexpanded_inputs().peekable();
        unexpanded.peek()?;
        let transcript = transcript_with(state, &self.events, self.now);
        let started = started_of(state, &self.events)?;
        let root = started.workspace_root.expose().to_str();
        let planned = unexpanded
            .filter_map(|input| PlannedInput::of(input, transcript.input_text(input)?, root))
            .collect::<Vec<_>>();
        if planned.is_empty() {
            return None;
        }
        let run_context = source.run_context;
        let mut judging =
            CallEvaluator::of(run_context, &self.machine, Some(started), self.session, self.inherited);
        let limits = ReferenceLimits::for_window(source.window_tokens(&source.model(model)));
        Some(RunInput::ReferencesExpanded(expand(&mut judging, planned, limits)))
    }

    /// Assembles the request for the first model that can serve it.
    fn assemble(
        &mut self,
        state: &AgentRunLoopState,
        source: &RequestSource<'_>,
        attempt: Attempt,
        wanted: &[RequestSpec<'_>],
    ) -> RunInput {
        let ports = &source.run_context.ports;
        let models: Vec<ModelRef> = wanted.iter().map(|spec| source.model(spec.model)).collect();
        let config = Arc::clone(&ports.config.borrow());
        let chain = RoutingChain {
            candidates: palyra_admin::models::chain(&ports.models.borrow(), &models, self.now),
            needs: source.needs(state, &self.events),
            over_budget: config.over_budget,
            preference: config.model_order,
        };
        let events = &self.events;
        let catalogue = config.prices.as_deref();
        let routed = self.budget.route(RoutingInputs { attempt, catalogue, events }, &chain, |model| {
            let at = models.iter().position(|known| known == model)?;
            let prepared = source.prepare_model_provider_input(state, events, wanted[at]).ok()?;
            let size = source.size_of(&prepared, wanted[at].output_tokens_left);
            Some(MadeRequest { request: prepared, size })
        });
        match routed {
            RoutedRequest::TooLarge => RunInput::ContextTooLarge,
            RoutedRequest::Stopped(StoppedRequest { resumes, refused, explanation }) => {
                let outcome = refused.map_or(BudgetOutcome::Wait { resumes }, BudgetOutcome::Refuse);
                let explanation = ports.redactor.redact(Content::new(explanation)).text;
                RunInput::OverBudget(BudgetRefusal { outcome, explanation })
            }
            RoutedRequest::Ready {
                request: PreparedInput { mut request, plan, statics },
                reserved,
                routing,
            } => {
                request.output_tokens_max = reserved.output_tokens_max.or(request.output_tokens_max);
                let passed = reserved.soft_limits.into_iter();
                self.soft_limits =
                    passed.map(|text| ports.redactor.redact(Content::new(text)).text).collect();
                let model = request.model.clone();
                self.request = Some(Arc::new(request));
                self.statics = statics;
                RunInput::ContextReady { plan, model, routing }
            }
        }
    }
}

/// Returns whether an event says what somebody did, and not what followed from it.
fn is_act(event: &TapeEvent) -> bool {
    matches!(
        event,
        TapeEvent::Run(
            RunEvent::InputReceived { .. }
                | RunEvent::CancelRequested { .. }
                | RunEvent::ClientToolsAnswered(_)
        ) | TapeEvent::Approval(
            ApprovalEvent::Voted(_)
                | ApprovalEvent::Resolved(ApprovalResolved { by: Some(_), .. })
                | ApprovalEvent::GrantStored(_)
        ) | TapeEvent::Tool(ToolEvent::EffectResolved { .. })
    )
}
