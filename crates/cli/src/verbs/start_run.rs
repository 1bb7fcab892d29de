//! What `run` and `chat` share: a Start from this folder, and what to say when another model answers.

use palyra_client::{Client, RunFollower};
use palyra_types::ErrorCode;
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::DaemonRun;
use crate::failure::Failure;
use crate::terminal::{Mark, Output};

/// Which model and agent a run is to use.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Choice {
    /// The model to ask, as provider/model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The agent [default: the session's, else main]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// Returns this folder's real path, where the daemon takes one.
pub(super) fn workspace_root(context: &Context) -> Result<String, Failure> {
    if !context.is_local() {
        return Ok(String::new());
    }
    let unusable = |what: String| Failure::local(ErrorCode::InvalidArgument, what);
    let folder = std::env::current_dir().and_then(std::fs::canonicalize);
    let folder = folder.map_err(|error| unusable(format!("this folder cannot be used: {error}")))?;
    let not_text = |_| unusable("this folder's name is not valid UTF-8".to_owned());
    folder.into_os_string().into_string().map_err(not_text)
}

/// Starts a run and returns it as one to be driven.
pub(super) fn start(client: &Client, choice: &Choice, mut start: v1::StartRunRequest) -> DaemonRun {
    start.model = choice.model.clone().unwrap_or_default();
    start.agent = choice.agent.clone().unwrap_or_default();
    DaemonRun { client: client.clone(), follower: RunFollower::start(client, start) }
}

/// Says so when a run uses another model than this environment names.
pub(super) fn note_other_model(output: &Output, choice: &Choice, in_force: &str) {
    if choice.model.is_some() {
        return;
    }
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(named) = other_model(variable, in_force) {
        let told = format!(
            "the daemon uses {in_force}, while this environment names {named}; `palyra admin stop` lets the next start take that"
        );
        output.note(Mark::Doubt, &told);
    }
}

/// Returns what the environment names, when that is not the model in force.
fn other_model(variable: impl Fn(&str) -> Option<String>, in_force: &str) -> Option<String> {
    // The daemon looks at a model's name only where a server is named.
    let server = variable("OPENAI_BASE_URL")?;
    match variable("PALYRA_MODEL") {
        Some(model) => {
            let same = in_force == model || in_force.strip_prefix("openai/") == Some(model.as_str());
            (!same).then_some(model)
        }
        None => in_force.starts_with("demo/").then_some(server),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_model_than_the_environments_is_noticed() {
        let check = |pairs: &[(&str, &str)], in_force: &str| {
            let find =
                |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            other_model(find, in_force)
        };
        let server = ("OPENAI_BASE_URL", "http://localhost:1/v1");
        assert_eq!(check(&[], "demo/demo"), None);
        assert_eq!(check(&[("PALYRA_MODEL", "m")], "demo/demo"), None);
        assert_eq!(check(&[server], "demo/demo"), Some("http://localhost:1/v1".to_owned()));
        assert_eq!(check(&[server], "openai/anything"), None);
        assert_eq!(check(&[server, ("PALYRA_MODEL", "m")], "openai/m"), None);
        assert_eq!(check(&[server, ("PALYRA_MODEL", "a/m")], "openai/a/m"), None);
        assert_eq!(check(&[server, ("PALYRA_MODEL", "m")], "openai/other"), Some("m".to_owned()));
    }
}
