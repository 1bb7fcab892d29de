//! The note about variables that select a model and do not count.

use std::path::Path;

/// The variable that selects a server of models.
pub const SERVER_VARIABLE: &str = "OPENAI_BASE_URL";
/// The command that lets the environment choose the model.
pub const UNSET_COMMAND: &str = "palyra model use --unset";
/// The model that is built in.
const DEMO_MODEL: &str = "demo/demo";

/// Says which model is asked instead of the one that variables name, what names it, and how the variables count.
#[must_use]
pub fn variables_not_used(variables: &[&str], in_force: &str, place: &str, file: Option<&Path>) -> String {
    let unset = unset_command(place, file);
    let counts = match (variables.contains(&SERVER_VARIABLE), place.is_empty()) {
        (true, false) => format!("{place} names it; `{unset}` lets the environment choose"),
        (true, true) => "nothing else is named; `palyra admin stop` lets the next start use them".to_owned(),
        (false, true) => format!("and the variable counts only beside {SERVER_VARIABLE}, which is not set"),
        (false, false) if in_force == DEMO_MODEL => {
            format!("{place} names it; set {SERVER_VARIABLE} too, then `{unset}` lets the environment choose")
        }
        (false, false) => format!("{place} names it; `--model {DEMO_MODEL}` asks another"),
    };
    let are = if variables.len() > 1 { "are" } else { "is" };
    format!("{} of this environment {are} not used: the model is {in_force}, {counts}", variables.join(", "))
}

/// Returns the command that takes the default model out of the file that names it.
fn unset_command(place: &str, file: Option<&Path>) -> String {
    let named = place.strip_prefix("model.default of ").and_then(|place| place.rsplit_once(':'));
    match named {
        Some((named, _line)) if file != Some(Path::new(named)) => {
            format!("palyra model use --unset --config {named}")
        }
        _ => UNSET_COMMAND.to_owned(),
    }
}
