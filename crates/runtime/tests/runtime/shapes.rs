//! What tapes look like, in few words, and what every tape must keep to.

use std::collections::BTreeMap;

use palyra_run_core::failure_table::ATTEMPTS_PER_TURN_MAX;
use palyra_types::approval::ApprovalState;
use palyra_types::effect::OutputRest;
use palyra_types::event::{AbandonCause, TapeEvent};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::{EffectContract, ToolVerdict};
use palyra_types::{ApprovalId, EffectId};

/// Says a tape in words, one entry each.
pub(crate) fn shape(entries: &[OrchestratorTapeRecord]) -> Vec<String> {
    entries.iter().map(|entry| word(&entry.event)).collect()
}

fn word(event: &TapeEvent) -> String {
    match event {
        TapeEvent::RunStarted(started) => format!("started {}", started.input.text.expose()),
        TapeEvent::InputReceived { input, .. } => format!("input {}", input.text.expose()),
        TapeEvent::ModelRequested(requested) => format!("asked {}", requested.attempt.0),
        TapeEvent::ModelText { text, .. } => format!("text {}", text.expose()),
        TapeEvent::ModelReasoning { text, .. } => format!("reasoning {}", text.expose()),
        TapeEvent::ModelMessage(message) => format!("message {}", message.attempt.0),
        TapeEvent::ModelAttemptAbandoned { attempt, cause, .. } => {
            format!("abandoned {} {cause:?}", attempt.0)
        }
        TapeEvent::ToolProposed(proposed) => format!("proposed {}", proposed.effect.0),
        TapeEvent::ToolDecided(decided) => format!("decided {} {:?}", decided.effect.0, decided.verdict),
        TapeEvent::ToolStarted(started) => format!("tool {}", started.effect.0),
        TapeEvent::ToolOutput(output) => match output.rest {
            OutputRest::Follows => format!("prints {} {}", output.effect.0, output.text.expose()),
            OutputRest::InOutcome => {
                format!("prints {} {}, and no more", output.effect.0, output.text.expose())
            }
        },
        TapeEvent::ToolFinished(finished) => match finished.failure {
            None => format!("outcome {}", finished.effect.0),
            Some(code) => format!("outcome {} {code:?}", finished.effect.0),
        },
        TapeEvent::ToolOutcomeUnknown { effect, cause } => format!("unknown {} {cause:?}", effect.0),
        TapeEvent::EffectResolved { effect, resolution, .. } => {
            format!("resolved {} {resolution:?}", effect.0)
        }
        TapeEvent::ApprovalRequested(asked) => format!("asks {}", asked.effect.0),
        TapeEvent::ApprovalVoted(voted) => format!("vote {}", voted.effect.0),
        TapeEvent::ApprovalResolved(resolved) => format!("answer {} {:?}", resolved.effect.0, resolved.state),
        TapeEvent::GrantStored(_) => "grant".to_owned(),
        TapeEvent::LoopDetected { guard, repeats } => format!("loop {guard:?} {repeats}"),
        TapeEvent::RunHeld { cause } => format!("held {cause:?}"),
        TapeEvent::CancelRequested { reason, .. } => format!("cancel {reason:?}"),
        TapeEvent::RunFinished(finished) => format!("finished {:?}", finished.reason),
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
        let started = matches!(entry.event, TapeEvent::RunStarted(_));
        assert_eq!(started, number == 1, "a tape begins once: {words:?}");
        let over = matches!(entry.event, TapeEvent::RunFinished(_));
        assert!(!over || number as usize == entries.len(), "nothing follows the end: {words:?}");
        let fine = take(&mut calls, &entry.event);
        assert!(fine, "the stations of a call come in order, at entry {number}: {words:?}");
    }
    if matches!(entries.last().map(|entry| &entry.event), Some(TapeEvent::RunFinished(_))) {
        let open = |call: &Call| call.station == Station::Started || call.open.is_some();
        assert!(!calls.values().any(open), "nothing runs or asks after the end: {words:?}");
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Station {
    Proposed,
    Decided(ToolVerdict),
    Started,
    Settled,
}

struct Call {
    station: Station,
    /// The approval that waits.
    open: Option<ApprovalId>,
    /// Whether a person has to say yes, and whether one did.
    asked: bool,
    approved: bool,
}

/// Takes an entry into account; returns whether it may stand where it does.
fn take(calls: &mut BTreeMap<EffectId, Call>, event: &TapeEvent) -> bool {
    if let TapeEvent::ToolProposed(proposed) = event {
        let call = Call { station: Station::Proposed, open: None, asked: false, approved: false };
        return calls.insert(proposed.effect, call).is_none();
    }
    let effect = match event {
        TapeEvent::ToolDecided(decided) => decided.effect,
        TapeEvent::ApprovalRequested(asked) => asked.effect,
        TapeEvent::ApprovalVoted(voted) => voted.effect,
        TapeEvent::ApprovalResolved(resolved) => resolved.effect,
        TapeEvent::ToolStarted(started) => started.effect,
        TapeEvent::ToolOutput(output) => output.effect,
        TapeEvent::ToolFinished(finished) => finished.effect,
        TapeEvent::ToolOutcomeUnknown { effect, .. } => *effect,
        _ => return true,
    };
    let Some(call) = calls.get_mut(&effect) else { return false };
    match event {
        TapeEvent::ToolDecided(decided) => {
            let before = call.station;
            call.station = Station::Decided(decided.verdict);
            call.asked |= decided.verdict == ToolVerdict::Ask;
            let once = before == Station::Proposed;
            let again = matches!(before, Station::Decided(ToolVerdict::Ask | ToolVerdict::Allow));
            call.open.is_none() && (once || again)
        }
        TapeEvent::ApprovalRequested(asked) => {
            call.approved = false;
            call.open.replace(asked.approval).is_none() && matches!(call.station, Station::Decided(_))
        }
        TapeEvent::ApprovalVoted(voted) => call.open == Some(voted.approval),
        TapeEvent::ApprovalResolved(resolved) => {
            call.approved = resolved.state == ApprovalState::Approved;
            call.open.take() == Some(resolved.approval)
        }
        TapeEvent::ToolStarted(_) => {
            let allowed = call.station == Station::Decided(ToolVerdict::Allow);
            call.station = Station::Started;
            allowed && call.open.is_none() && (!call.asked || call.approved)
        }
        TapeEvent::ToolOutput(_) => call.station == Station::Started,
        _ => std::mem::replace(&mut call.station, Station::Settled) == Station::Started,
    }
}

fn check_attempts(entries: &[OrchestratorTapeRecord], words: &[String]) {
    let mut turn = 0;
    let mut asked = Vec::new();
    let (mut spoke, mut restarts) = (false, 0);
    for entry in entries {
        match &entry.event {
            TapeEvent::ModelRequested(requested) => {
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
            TapeEvent::ModelAttemptAbandoned { cause: AbandonCause::Restart, .. } => restarts += 1,
            TapeEvent::ModelText { .. } => spoke = true,
            _ => {}
        }
    }
}

/// Returns the calls of a contract that were started.
pub(crate) fn started(entries: &[OrchestratorTapeRecord], wanted: EffectContract) -> Vec<EffectId> {
    let of = |event: &TapeEvent| match event {
        TapeEvent::ToolStarted(started) if started.contract == wanted => Some(started.effect),
        _ => None,
    };
    entries.iter().filter_map(|entry| of(&entry.event)).collect()
}
