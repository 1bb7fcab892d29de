//! What tapes look like, in few words, and what every tape must keep to.

use std::collections::BTreeMap;

use palyra_run_core::failure_table::ATTEMPTS_PER_TURN_MAX;
use palyra_types::EffectId;
use palyra_types::event::TapeEvent;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::EffectContract;

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
        TapeEvent::ToolStarted { effect, .. } => format!("tool {}", effect.0),
        TapeEvent::ToolFinished(finished) => match finished.failure {
            None => format!("outcome {}", finished.effect.0),
            Some(code) => format!("outcome {} {code:?}", finished.effect.0),
        },
        TapeEvent::ToolOutcomeUnknown { effect, cause } => format!("unknown {} {cause:?}", effect.0),
        TapeEvent::LoopDetected { guard, repeats } => format!("loop {guard:?} {repeats}"),
        TapeEvent::RunHeld { cause } => format!("held {cause:?}"),
        TapeEvent::CancelRequested { reason, .. } => format!("cancel {reason:?}"),
        TapeEvent::RunFinished(finished) => format!("finished {:?}", finished.reason),
        TapeEvent::Unknown { kind } => format!("kind {kind}"),
    }
}

/// Fails unless the tape keeps to what every tape must: dense numbers, one beginning, nothing after the end,
/// each call proposed, decided, started and settled at most once and in that order, each turn asked a few times at
/// most and its words repeated by nobody but the model that said them.
pub(crate) fn check(entries: &[OrchestratorTapeRecord]) {
    let words = shape(entries);
    check_attempts(entries, &words);
    let mut stations: BTreeMap<EffectId, u8> = BTreeMap::new();
    for (entry, number) in entries.iter().zip(1..) {
        assert_eq!(entry.tape_seq.0, number, "the numbers are dense: {words:?}");
        let started = matches!(entry.event, TapeEvent::RunStarted(_));
        assert_eq!(started, number == 1, "a tape begins once: {words:?}");
        let over = matches!(entry.event, TapeEvent::RunFinished(_));
        assert!(!over || number as usize == entries.len(), "nothing follows the end: {words:?}");
        let at = match &entry.event {
            TapeEvent::ToolProposed(proposed) => (proposed.effect, 1),
            TapeEvent::ToolDecided(decided) => (decided.effect, 2),
            TapeEvent::ToolStarted { effect, .. } => (*effect, 3),
            TapeEvent::ToolFinished(finished) => (finished.effect, 4),
            TapeEvent::ToolOutcomeUnknown { effect, .. } => (*effect, 4),
            _ => continue,
        };
        let before = stations.insert(at.0, at.1).unwrap_or(0);
        assert_eq!(before + 1, at.1, "each station of a call comes once and in order: {words:?}");
    }
    if matches!(entries.last().map(|entry| &entry.event), Some(TapeEvent::RunFinished(_))) {
        assert!(stations.values().all(|station| *station != 3), "nothing runs after the end: {words:?}");
    }
}

fn check_attempts(entries: &[OrchestratorTapeRecord], words: &[String]) {
    let mut turn = 0;
    let mut asked = Vec::new();
    let mut spoke = false;
    for entry in entries {
        match &entry.event {
            TapeEvent::ModelRequested(requested) => {
                if requested.turn != turn {
                    turn = requested.turn;
                    asked.clear();
                    spoke = false;
                }
                let model = requested.model.expose();
                assert!(!spoke || asked.last() == Some(model), "words change their model: {words:?}");
                asked.push(model.clone());
                assert!(asked.len() <= ATTEMPTS_PER_TURN_MAX as usize, "asked without end: {words:?}");
            }
            TapeEvent::ModelText { .. } => spoke = true,
            _ => {}
        }
    }
}

/// Returns the calls of a contract that were started.
pub(crate) fn started(entries: &[OrchestratorTapeRecord], wanted: EffectContract) -> Vec<EffectId> {
    let of = |event: &TapeEvent| match event {
        TapeEvent::ToolStarted { effect, contract, .. } if *contract == wanted => Some(*effect),
        _ => None,
    };
    entries.iter().filter_map(|entry| of(&entry.event)).collect()
}
