//! What tapes look like, in few words, and what every tape must keep to.

use std::collections::BTreeMap;

use palyra_run_core::failure_table::ATTEMPTS_PER_TURN_MAX;
use palyra_types::approval::ApprovalState;
use palyra_types::effect::OutputRest;
use palyra_types::event::{AbandonCause, ApprovalEvent, ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::{EffectContract, ToolVerdict};
use palyra_types::{ApprovalId, EffectId};

/// Says a tape in words, one entry each.
pub(crate) fn shape(entries: &[OrchestratorTapeRecord]) -> Vec<String> {
    entries.iter().map(|entry| word(&entry.event)).collect()
}

fn word(event: &TapeEvent) -> String {
    match event {
        TapeEvent::Run(RunEvent::Started(started)) => format!("started {}", started.input.text.expose()),
        TapeEvent::Run(RunEvent::InputReceived { input, .. }) => format!("input {}", input.text.expose()),
        TapeEvent::Model(ModelEvent::Requested(requested)) => format!("asked {}", requested.attempt.0),
        TapeEvent::Model(ModelEvent::Text { text, .. }) => format!("text {}", text.expose()),
        TapeEvent::Model(ModelEvent::Reasoning { text, .. }) => format!("reasoning {}", text.expose()),
        TapeEvent::Model(ModelEvent::Switched { attempt, .. }) => format!("switched {}", attempt.0),
        TapeEvent::Model(ModelEvent::Message(message)) => format!("message {}", message.attempt.0),
        TapeEvent::Model(ModelEvent::AttemptAbandoned { attempt, cause, .. }) => {
            format!("abandoned {} {cause:?}", attempt.0)
        }
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => format!("proposed {}", proposed.effect.0),
        TapeEvent::Tool(ToolEvent::Decided(decided)) => {
            format!("decided {} {:?}", decided.effect.0, decided.verdict)
        }
        TapeEvent::Tool(ToolEvent::Started(started)) => format!("tool {}", started.effect.0),
        TapeEvent::Tool(ToolEvent::Output(output)) => match output.rest {
            OutputRest::Follows => format!("prints {} {}", output.effect.0, output.text.expose()),
            OutputRest::InOutcome => {
                format!("prints {} {}, and no more", output.effect.0, output.text.expose())
            }
        },
        TapeEvent::Tool(ToolEvent::Finished(finished)) => match finished.failure {
            None => format!("outcome {}", finished.effect.0),
            Some(code) => format!("outcome {} {code:?}", finished.effect.0),
        },
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, cause }) => {
            format!("unknown {} {cause:?}", effect.0)
        }
        TapeEvent::Tool(ToolEvent::EffectResolved { effect, resolution, .. }) => {
            format!("resolved {} {resolution:?}", effect.0)
        }
        TapeEvent::Approval(ApprovalEvent::Requested(asked)) => format!("asks {}", asked.effect.0),
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => format!("vote {}", voted.effect.0),
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
            format!("answer {} {:?}", resolved.effect.0, resolved.state)
        }
        TapeEvent::Approval(ApprovalEvent::GrantStored(_)) => "grant".to_owned(),
        TapeEvent::Run(RunEvent::LoopDetected { guard, repeats }) => format!("loop {guard:?} {repeats}"),
        TapeEvent::Run(RunEvent::Held { cause }) => format!("held {cause:?}"),
        TapeEvent::Run(RunEvent::ClientToolsOffered(offer)) => format!("client offers {}", offer.tools.len()),
        TapeEvent::Run(RunEvent::ClientToolsCalled(called)) => format!("client called {:?}", called.span),
        TapeEvent::Run(RunEvent::ClientToolsAnswered(answered)) => {
            format!("client answered {:?}", answered.span)
        }
        TapeEvent::Run(RunEvent::ReferencesExpanded(expanded)) => {
            format!("references {} calls of {}", expanded.calls().count(), expanded.items.len())
        }
        TapeEvent::Run(RunEvent::BudgetReached { .. }) => "over budget".to_owned(),
        TapeEvent::Run(RunEvent::SoftLimitNoted { .. }) => "soft limit".to_owned(),
        TapeEvent::Run(RunEvent::CancelRequested { reason, .. }) => format!("cancel {reason:?}"),
        TapeEvent::Run(RunEvent::Finished(finished)) => format!("finished {:?}", finished.reason),
        TapeEvent::Unknown { kind } => format!("kind {kind}"),
    }
}

/// Fails unless the tape keeps to what every tape must: dense numbers, one beginning, nothing after the end,
/// each call proposed, decided, started and settled in that order and started once at most, started only by its latest
/// decision, asked calls only after a yes; each turn asked a few times at most and its words repeated by nobody but the
/// model that said them.
pub(crate) fn check(entries: &[OrchestratorTapeRecord]) {
    let words = shape(entries);
    check_attempts(entries, &words);
    let mut calls: BTreeMap<EffectId, Call> = BTreeMap::new();
    for (entry, number) in entries.iter().zip(1..) {
        assert_eq!(entry.tape_seq.0, number, "the numbers are dense: {words:?}");
        let started = matches!(entry.event, TapeEvent::Run(RunEvent::Started(_)));
        assert_eq!(started, number == 1, "a tape begins once: {words:?}");
        let over = matches!(entry.event, TapeEvent::Run(RunEvent::Finished(_)));
        assert!(!over || number as usize == entries.len(), "nothing follows the end: {words:?}");
        let fine = take(&mut calls, &entry.event);
        assert!(fine, "the stations of a call come in order, at entry {number}: {words:?}");
    }
    if matches!(entries.last().map(|entry| &entry.event), Some(TapeEvent::Run(RunEvent::Finished(_)))) {
        let open = |call: &Call| call.station == CallStage::Started || call.open.is_some();
        assert!(!calls.values().any(open), "nothing runs or asks after the end: {words:?}");
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallStage {
    Proposed,
    Decided(ToolVerdict),
    Started,
    Settled,
}

struct Call {
    station: CallStage,
    /// The approval that waits.
    open: Option<ApprovalId>,
    /// Whether a person has to say yes, and whether one did.
    asked: bool,
    approved: bool,
}

/// Takes an entry into account; returns whether it may stand where it does.
fn take(calls: &mut BTreeMap<EffectId, Call>, event: &TapeEvent) -> bool {
    if let TapeEvent::Tool(ToolEvent::Proposed(proposed)) = event {
        let call = Call { station: CallStage::Proposed, open: None, asked: false, approved: false };
        return calls.insert(proposed.effect, call).is_none();
    }
    let effect = match event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) => decided.effect,
        TapeEvent::Approval(ApprovalEvent::Requested(asked)) => asked.effect,
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => voted.effect,
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => resolved.effect,
        TapeEvent::Tool(ToolEvent::Started(started)) => started.effect,
        TapeEvent::Tool(ToolEvent::Output(output)) => output.effect,
        TapeEvent::Tool(ToolEvent::Finished(finished)) => finished.effect,
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => *effect,
        _ => return true,
    };
    let Some(call) = calls.get_mut(&effect) else { return false };
    match event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) => {
            let before = call.station;
            call.station = CallStage::Decided(decided.verdict);
            call.asked |= decided.verdict == ToolVerdict::Ask;
            let once = before == CallStage::Proposed;
            let again = matches!(before, CallStage::Decided(ToolVerdict::Ask | ToolVerdict::Allow));
            call.open.is_none() && (once || again)
        }
        TapeEvent::Approval(ApprovalEvent::Requested(asked)) => {
            call.approved = false;
            call.open.replace(asked.approval).is_none() && matches!(call.station, CallStage::Decided(_))
        }
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => call.open == Some(voted.approval),
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
            call.approved = resolved.state == ApprovalState::Approved;
            call.open.take() == Some(resolved.approval)
        }
        TapeEvent::Tool(ToolEvent::Started(_)) => {
            let allowed = call.station == CallStage::Decided(ToolVerdict::Allow);
            call.station = CallStage::Started;
            allowed && call.open.is_none() && (!call.asked || call.approved)
        }
        TapeEvent::Tool(ToolEvent::Output(_)) => call.station == CallStage::Started,
        _ => std::mem::replace(&mut call.station, CallStage::Settled) == CallStage::Started,
    }
}

fn check_attempts(entries: &[OrchestratorTapeRecord], words: &[String]) {
    let mut turn = 0;
    let mut asked = Vec::new();
    let (mut spoke, mut restarts) = (false, 0);
    for entry in entries {
        match &entry.event {
            TapeEvent::Model(ModelEvent::Requested(requested)) => {
                if requested.turn != turn {
                    turn = requested.turn;
                    asked.clear();
                    (spoke, restarts) = (false, 0);
                }
                let model = requested.model.expose();
                assert!(!spoke || asked.last() == Some(model), "words change their model: {words:?}");
                asked.push(model.clone());
                assert!(
                    asked.len() - restarts <= ATTEMPTS_PER_TURN_MAX as usize,
                    "asked without end: {words:?}"
                );
            }
            TapeEvent::Model(ModelEvent::AttemptAbandoned { cause: AbandonCause::Restart, .. }) => {
                restarts += 1;
            }
            TapeEvent::Model(ModelEvent::Text { .. }) => spoke = true,
            _ => {}
        }
    }
}

/// Returns the calls of a contract that were started.
pub(crate) fn started(entries: &[OrchestratorTapeRecord], wanted: EffectContract) -> Vec<EffectId> {
    let of = |event: &TapeEvent| match event {
        TapeEvent::Tool(ToolEvent::Started(started)) if started.contract == wanted => Some(started.effect),
        _ => None,
    };
    entries.iter().filter_map(|entry| of(&entry.event)).collect()
}
