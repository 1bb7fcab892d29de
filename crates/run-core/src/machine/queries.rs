//! What a runtime asks the machine about calls that ask, and calls that are prepared.
//!
//! Owns no state: all is read from the machine's parts.

use palyra_types::approval::ApprovalDecision;
use palyra_types::event::TapeEvent;
use palyra_types::tool::{Taints, ToolConduct};
use palyra_types::{ApprovalId, EffectId, PrincipalId, Redacted, SessionId, TapeSeq, Timestamp};

use super::approvals::{self, JudgementNeed};
use super::{RunError, RunStateMachine};
use crate::approvals::PendingApproval;
use crate::client_tools::ClientTools;
use crate::grant::Intent;
use crate::tool_calls::ToolCallState;

/// What a run has used so far, as policy is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunConsumption {
    /// Model turns.
    pub turns: u32,
    /// Tool calls.
    pub tool_calls: u32,
}

impl RunStateMachine {
    /// Returns the approvals that wait for a decision, in order of id.
    pub fn pending_approvals(&self) -> impl Iterator<Item = &PendingApproval> {
        self.approvals.iter()
    }

    /// Returns whether a queued run begins with this event: with its first model request, or with the references that come
    /// before it.
    #[must_use]
    pub fn is_begun_by(event: &TapeEvent) -> bool {
        event.begins_run()
    }

    /// Returns the functions of the client.
    #[must_use]
    pub fn client_tools(&self) -> ClientTools {
        self.client
    }

    /// Returns the inputs whose references may become calls, in order: no request has shown them, and they were not
    /// expanded. A run with functions of its client has none.
    pub fn unexpanded_inputs(&self) -> impl Iterator<Item = TapeSeq> {
        self.received.unexpanded().filter(move |_| !self.client.is_offered())
    }

    /// Returns the call about which a waiting approval asks.
    #[must_use]
    pub fn call_of(&self, approval: ApprovalId) -> Option<(EffectId, &ToolCallState)> {
        let effect = self.approvals.get(approval)?.effect;
        self.tools.get(effect).map(|call| (effect, call))
    }

    /// Returns whether this answer has to be [`AnswerStage::Judged`](crate::AnswerStage::Judged).
    ///
    /// # Errors
    /// Those with which the answer itself would be refused: [`RunError::ApprovalDecided`],
    /// [`RunError::NotEligible`], [`RunError::NotWaiting`].
    pub fn approval_needs_judgement(
        &self,
        approval: ApprovalId,
        by: PrincipalId,
        decision: ApprovalDecision,
        now: Timestamp,
    ) -> Result<JudgementNeed, RunError> {
        approvals::judgement(self, approval, by, decision, now)
    }

    /// Makes the permission to look again at what an asked call would do, with the arguments that a person wants
    /// instead, if any. `None` for a call that is not prepared, and for an approval that does not wait.
    #[must_use]
    pub fn intent_for_answer(
        &self,
        approval: ApprovalId,
        edited: Option<&Redacted<String>>,
    ) -> Option<Intent> {
        let (effect, call) = self.call_of(approval)?;
        let prepared = call.terms.conduct == ToolConduct::Prepared;
        prepared.then(|| self.intent(effect, call, edited))
    }

    /// The only place where an [`Intent`] comes into being.
    fn intent(&self, effect: EffectId, call: &ToolCallState, edited: Option<&Redacted<String>>) -> Intent {
        Intent {
            effect,
            run: self.run,
            principal: self.principal,
            tool: call.tool.clone(),
            arguments: edited.unwrap_or(&call.arguments).clone(),
            workspace_root: self.workspace_root.clone(),
            read_only: Vec::new(),
        }
    }

    /// Returns the permissions to look at what the calls would do whose turn it is to be prepared.
    pub(super) fn intents(&self) -> Vec<Intent> {
        self.preparing().into_iter().map(|(effect, call)| self.intent(effect, call, None)).collect()
    }

    /// Returns the calls that are being prepared: each was announced by [`Effect::Prepare`](crate::Effect), and
    /// [`RunInput::ToolPrepared`](crate::RunInput) is awaited.
    #[must_use]
    pub fn preparing(&self) -> Vec<(EffectId, &ToolCallState)> {
        let turns = self.turns().into_iter();
        turns.filter(|(_, call)| call.terms.conduct == ToolConduct::Prepared).collect()
    }

    /// Returns the calls whose turn it is to start as they are.
    pub(super) fn unprepared_turns(&self) -> Vec<EffectId> {
        let turns = self.turns().into_iter();
        turns
            .filter(|(_, call)| call.terms.conduct != ToolConduct::Prepared)
            .map(|(effect, _)| effect)
            .collect()
    }

    /// Returns an open call.
    #[must_use]
    pub fn call(&self, effect: EffectId) -> Option<&ToolCallState> {
        self.tools.get(effect)
    }

    /// Returns the calls whose turn it is, when any may go on.
    pub(super) fn turns(&self) -> Vec<(EffectId, &ToolCallState)> {
        let held_back = self.state.is_terminal()
            || self.stopping.is_some()
            || self.wait.is_some()
            || self.model.open().is_some()
            || self.model.retry().is_some();
        if held_back { Vec::new() } else { self.tools.turns(self.limits().parallel_tools_max) }
    }

    /// Returns what the run has read; it only grows.
    #[must_use]
    pub fn taints(&self) -> Taints {
        self.effects.taints()
    }

    /// Returns what the run had read when the model made its open calls.
    #[must_use]
    pub fn taints_of_open_calls(&self) -> Taints {
        self.effects.answered_with()
    }

    /// Returns what the run has used so far.
    #[must_use]
    pub fn counts(&self) -> RunConsumption {
        RunConsumption { turns: self.budget.turns(), tool_calls: self.budget.tool_calls() }
    }

    /// Returns the effects whose outcome nobody knows and nobody said, in order.
    pub fn unknown_effects(&self) -> impl Iterator<Item = EffectId> {
        self.effects.unknown()
    }

    /// Returns the session of the run.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Returns for whom it works.
    #[must_use]
    pub fn principal(&self) -> PrincipalId {
        self.principal
    }
}
