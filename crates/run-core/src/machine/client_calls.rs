//! Calls of functions that the client performs: made with an answer of the model, and answered by the client.
//!
//! Invariant: no grant and no effect comes of them; all calls of one answer are answered together, once.

use palyra_types::client_tool::{ClientToolCall, ClientToolOffer, ClientToolsCalled};
use palyra_types::event::{ClientToolsAnswered, RunEvent, TapeEvent};
use palyra_types::model::{ModelAnswer, ToolProposal};
use palyra_types::run::RunLifecycleState;
use palyra_types::{Attempt, Timestamp};

use super::proceed::proceed;
use super::step::Step;
use super::{HoldState, RunError, RunStateMachine};
use crate::input::{ClientResults, RunInput};

/// Functions are offered before the run begins, and later with results alone.
pub(super) fn admit_offer(machine: &RunStateMachine) -> Result<(), RunError> {
    let early = machine.state == RunLifecycleState::Pending && !machine.client.is_offered();
    if early { Ok(()) } else { Err(RunError::OutOfPlace) }
}

pub(super) fn admit_results(machine: &RunStateMachine, results: &ClientResults) -> Result<(), RunError> {
    if machine.received.knows(results.idempotency) {
        return Ok(());
    }
    if machine.stopping.is_some() {
        return Err(RunError::Finished);
    }
    if machine.is_parked() || machine.held == HoldState::Yes {
        return Err(RunError::NotWaiting);
    }
    let awaited = machine.client.awaited().is_some_and(|awaited| awaited.span == results.span);
    let whole = usize::try_from(results.span.count) == Ok(results.outputs.len());
    if awaited && whole { Ok(()) } else { Err(RunError::NotWaiting) }
}

pub(super) fn admit_expiry(machine: &RunStateMachine, now: Timestamp) -> Result<(), RunError> {
    let due = machine.client.awaited().is_some_and(|awaited| awaited.expires <= now);
    if due && machine.stopping.is_none() { Ok(()) } else { Err(RunError::NotWaiting) }
}

impl Step {
    /// Takes what a client brings.
    pub(super) fn take_of_client(&mut self, input: &RunInput) {
        if let RunInput::OfferClientTools(offer) = input {
            self.offer_client_tools(offer);
        } else if let RunInput::ClientToolsAnswered(results) = input {
            self.take_results(results);
        }
    }

    /// Records the calls of the answer that was recorded last.
    pub(super) fn record_client_calls(&mut self, answer: &ModelAnswer) {
        let call = |proposal: &ToolProposal| ClientToolCall {
            name: (&proposal.tool).into(),
            arguments: proposal.arguments.clone(),
            model_call: proposal.model_call_id.clone(),
        };
        let calls: Vec<_> = answer.proposals.iter().map(call).collect();
        let called = ClientToolsCalled {
            attempt: Attempt(self.machine.model.next_attempt().0.saturating_sub(1)),
            span: self.machine.client.next_span(calls.len()),
            expires: self.machine.client.expiry(self.now),
            calls,
        };
        self.record(TapeEvent::Run(RunEvent::ClientToolsCalled(called)));
        proceed(self);
    }

    fn offer_client_tools(&mut self, offer: &ClientToolOffer) {
        self.record(TapeEvent::Run(RunEvent::ClientToolsOffered(offer.clone())));
    }

    /// Records results that were admitted, and asks the model again; unless this run has them already.
    fn take_results(&mut self, results: &ClientResults) {
        if self.machine.received.knows(results.idempotency) {
            return;
        }
        if let Some(next) = &results.offer {
            self.offer_client_tools(next);
        }
        let answered = ClientToolsAnswered {
            span: results.span,
            idempotency: results.idempotency,
            outputs: results.outputs.clone(),
        };
        self.record(TapeEvent::Run(RunEvent::ClientToolsAnswered(answered)));
        proceed(self);
    }
}
