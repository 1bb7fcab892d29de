//! The steps of a run that may repeat: which calls are alike.

use serde_json::Value;

use crate::reflected_run::ReflectedCall;

/// What two calls have in common that are the same step: the tool, and the program that it starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StepKey(pub(crate) String);

/// A successful call as a step.
#[derive(Debug, Clone)]
pub(crate) struct ProcedureStep<'a> {
    pub(crate) key: StepKey,
    pub(crate) call: &'a ReflectedCall,
    pub(crate) arguments: Value,
}

/// Returns the sequences of steps of a run without a failure in them.
pub(crate) fn sequences(calls: &[ReflectedCall]) -> Vec<Vec<ProcedureStep<'_>>> {
    let mut sequences = vec![Vec::new()];
    for call in calls {
        let arguments = serde_json::from_str::<Value>(call.arguments.expose()).ok();
        match (arguments, call.has_succeeded, sequences.last_mut()) {
            (Some(arguments), true, Some(sequence)) => {
                let key = step_key(&call.tool, &arguments);
                sequence.push(ProcedureStep { key, call, arguments });
            }
            _ => sequences.push(Vec::new()),
        }
    }
    sequences.retain(|sequence| !sequence.is_empty());
    sequences
}

fn step_key(tool: &str, arguments: &Value) -> StepKey {
    let program = arguments.get("program").and_then(Value::as_str);
    let first = arguments.get("args").and_then(|args| args.get(0)).and_then(Value::as_str);
    let words = [Some(tool), program, first.filter(|word| is_subcommand(word))];
    StepKey(words.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_lowercase())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | ':' | '_'))
}
