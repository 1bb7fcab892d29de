//! Answers to approvals on their way into a run: before one counts, what would run is found out and judged again.
//!
//! Owns that nothing is started by an answer to something that was true when it was asked and is no longer.

use std::sync::Arc;

use palyra_policy::ProgramsFound;
use palyra_ports::RedactionFindings;
use palyra_run_core::{
    AnswerStage, ApprovalAnswer, Intent, JudgedAnswer, JudgementNeed, RunInput, ToolCallState,
};
use palyra_types::StoredGrantId;
use palyra_types::approval::ApprovalDecision;
use palyra_types::tool::{ToolName, ToolVerdict};

use super::actor::RunActor;
use crate::error::RequestError;
use crate::run::call_evaluator::CallEvaluator;
use crate::run::mailbox::RunCommand;
use crate::run::perform::prepare_tool::{BindingScope, prepare_tool_call};

impl RunActor {
    /// Returns what a binding covers beside the call.
    pub(super) fn bound(&self) -> BindingScope {
        let run = self.state.machine.run();
        BindingScope { run, session: self.session, salt: self.salt(), stop: self.stop.clone() }
    }

    /// Returns a command that can be decided; an answer for which a tool has to be asked again comes back later.
    pub(super) fn reprepare(&mut self, mut command: RunCommand) -> Option<RunCommand> {
        let RunInput::ApprovalAnswered(stage) = &mut command.input else { return Some(command) };
        let AnswerStage::Said(answer) = stage else {
            self.answering = self.answering.saturating_sub(1);
            return Some(command);
        };
        let Some(tool) = self.approvable_tool(answer) else { return Some(command) };
        if let Some((arguments, digest)) = &mut answer.edited {
            *digest = self.judging().digest_of(&tool, arguments);
        }
        let edited = answer.edited.as_ref().map(|(arguments, _)| arguments);
        let Some(intent) = self.state.machine.intent_for_answer(answer.approval, edited) else {
            return Some(command);
        };
        let judged = self.judging().decide(&tool, intent.arguments(), RedactionFindings::default());
        let intent = intent.with_read_only(self.judging().read_only_folders(&judged));
        self.answering += 1;
        let (run_context, mailbox, bound) =
            (Arc::clone(&self.run_context), self.own_mailbox.clone(), self.bound());
        tokio::spawn(async move {
            let prepared = prepare_tool_call(&run_context, intent, &bound).await;
            let RunCommand { input, beside, reply } = command;
            let input = if let RunInput::ApprovalAnswered(stage) = input {
                RunInput::ApprovalAnswered(stage.with_prepared(prepared))
            } else {
                input
            };
            // A run that has gone decides nothing; who asks again finds it as it is.
            let _ = mailbox.send(RunCommand { input, beside, reply }).await;
        });
        None
    }

    /// Returns a permission to look at what a call would do, with the folders to which the rules of now let it not write.
    pub(super) fn intent_by_rules(&self, intent: Intent) -> Intent {
        let effect = intent.effect();
        let Some(call) = self.state.machine.call(effect) else { return intent };
        let judged = self.judging().again(effect, call, ProgramsFound::NotLookedAt);
        intent.with_read_only(self.judging().read_only_folders(&judged))
    }

    /// Judges what the held answers would let run, right before they are decided. An edited call that cannot run is
    /// refused here, and its approval still waits.
    pub(super) fn judge_answers(&mut self) {
        let machine = &self.state.machine;
        let mut judging =
            CallEvaluator::of_run(&self.run_context, &self.state, self.session, self.earlier.taints);
        self.inputs.each_answer(|stage| {
            let answer = stage.answer();
            if answer.decision == ApprovalDecision::Deny {
                return Ok(stage);
            }
            let Some((_, call)) = machine.call_of(answer.approval) else { return Ok(stage) };
            judge_answer(&mut judging, call, stage).map(|judged| AnswerStage::Judged(Box::new(judged)))
        });
    }

    /// Judges the calls of which it was found out what they would do, right before they are decided.
    pub(super) fn judge_prepared(&mut self) {
        let machine = &self.state.machine;
        let mut judging =
            CallEvaluator::of_run(&self.run_context, &self.state, self.session, self.earlier.taints);
        self.inputs.each_prepared(|effect, prepared| {
            let call = machine.call(effect)?;
            let judged = judging.again(effect, call, ProgramsFound::Found(prepared.programs));
            Some(Box::new(judging.deny_other_folders(judged, &prepared.read_only)))
        });
    }

    /// Judges anew what a stored grant was to cover that another run has used up, or a person revoked, in the same
    /// moment.
    pub(super) fn reevaluate_without_grant(&mut self, gone: Option<StoredGrantId>) {
        gone.into_iter().for_each(|grant| self.run_context.views.grants.forget(grant));
        let mut judging =
            CallEvaluator::of_run(&self.run_context, &self.state, self.session, self.earlier.taints);
        self.inputs.each_judged(|call| {
            if call.decision.grant.is_some() {
                let (tool, arguments) = (&call.proposal.tool, &call.proposal.arguments);
                call.decision = judging.decide(tool, arguments, RedactionFindings::default());
            }
        });
    }

    /// Returns the tool that an answer may let run; what does not wait for it, or not for this person, is the machine's
    /// to refuse.
    fn approvable_tool(&self, answer: &ApprovalAnswer) -> Option<ToolName> {
        let (machine, now) = (&self.state.machine, self.run_context.ports.clock.wall());
        match machine.approval_needs_judgement(answer.approval, answer.by, answer.decision, now) {
            Ok(JudgementNeed::Needed) => machine.call_of(answer.approval).map(|(_, call)| call.tool.clone()),
            Ok(JudgementNeed::NotNeeded) | Err(_) => None,
        }
    }

    fn judging(&self) -> CallEvaluator<'_> {
        CallEvaluator::of_run(&self.run_context, &self.state, self.session, self.earlier.taints)
    }
}

fn judge_answer(
    judging: &mut CallEvaluator<'_>,
    call: &ToolCallState,
    stage: AnswerStage,
) -> Result<JudgedAnswer, RequestError> {
    let (mut answer, prepared) = stage.into_parts();
    let edited = answer.edited.as_ref().map(|(edited, _)| edited);
    let arguments = edited.unwrap_or(&call.arguments);
    let mut judged = judging.decide(&call.tool, arguments, RedactionFindings::default());
    if let Some(Ok(prepared)) = &prepared {
        judged = judging.deny_other_folders(judged, &prepared.read_only);
    }
    let refused = |what: &str| Err(RequestError::EditRefused { what: what.to_owned() });
    if edited.is_some() && judged.verdict == ToolVerdict::Deny {
        return refused(judged.explanation.expose());
    }
    if edited.is_some()
        && let Some(Err(refusal)) = &prepared
    {
        return refused(refusal.message.expose());
    }
    if let Some(requested) = &mut answer.remember {
        judging.check_grant_request(requested, &call.tool, arguments, &judged)?;
    }
    Ok(JudgedAnswer { answer, prepared, judged })
}
