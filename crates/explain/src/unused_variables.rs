//! The note about variables that select a model and do not count.

use std::path::Path;

/// The variable that selects a server of models.
pub const SERVER_VARIABLE: &str = "OPENAI_BASE_URL";
/// The command that lets the environment choose the model.
pub const UNSET_COMMAND: &str = "palyra model use --unset";
/// The model that is built in.
const DEMO_MODEL: &str = "demo/demo";
/// How variables begin that are settings.
const SETTING_BEGINS: &str = "PALYRA__";

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

/// Says which variables of this environment are settings that a running daemon does not have from its own; `in_force` are its
/// settings, each with its value as TOML and its origin.
#[must_use]
pub fn settings_not_used(
    variables: impl Iterator<Item = (String, String)>,
    in_force: &[(&str, &str)],
) -> Option<String> {
    let is_unused = |(name, value): &(String, String)| {
        let of_daemon = in_force.iter().find(|(_, origin)| origin.rsplit(' ').next() == Some(name.as_str()));
        name.starts_with(SETTING_BEGINS) && of_daemon.is_none_or(|(in_force, _)| is_other(in_force, value))
    };
    let mut names: Vec<String> = variables.filter(is_unused).map(|(name, _)| name).collect();
    names.sort();
    let are = if names.len() > 1 { "are" } else { "is" };
    (!names.is_empty()).then(|| {
        format!(
            "{} of this environment {are} not used: a daemon keeps the settings that it was started with; `palyra admin stop`, and the \
             next command here starts one that has them",
            names.join(", ")
        )
    })
}

/// Returns whether a setting differs from the text of a variable; lists are written in several ways and count as equal.
fn is_other(in_force: &str, variable: &str) -> bool {
    !in_force.starts_with('[') && in_force.trim_matches('"') != variable.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_this_environment_is_compared_with_that_of_the_daemon() {
        let in_force =
            [("50", "environment variable PALYRA__LIMITS__TURNS_MAX"), ("\"demo/demo\"", "/a/palyra.toml:3")];
        let unused = |name: &str, value: &str| {
            settings_not_used([(name.to_owned(), value.to_owned())].into_iter(), &in_force)
        };
        assert_eq!(unused("PALYRA__LIMITS__TURNS_MAX", "50"), None);
        assert!(unused("PALYRA__LIMITS__TURNS_MAX", "7").is_some());
        let said = unused("PALYRA__MODEL__DEFAULT", "a/b").unwrap();
        assert!(said.starts_with("PALYRA__MODEL__DEFAULT of this environment is not used"), "{said}");
        assert_eq!(unused("PALYRA_MODEL", "a"), None);
    }
}
