//! What `run` and `chat` share: a Start from this folder, and what to say when another model answers.

use palyra_client::{Client, RunFollower};
use palyra_types::ErrorCode;
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::DaemonRun;
use crate::failure::Failure;
use crate::terminal::Mark;

/// Which model and agent a run is to use.
#[derive(Debug, Clone, Default, clap::Args)]
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

/// Says that variables which select a model are not used, where the daemon is another environment's.
pub(super) fn note_other_model(context: &Context, choice: &Choice, in_force: &str) {
    if choice.model.is_some() || context.is_local() {
        return;
    }
    let variables = (context.daemon.own_model)(context.global.config.as_deref()).variables;
    if !variables.is_empty() {
        let told = format!(
            "{} of this environment is not used with --connect: the daemon there uses {in_force}",
            variables.join(", ")
        );
        context.output.note(Mark::Doubt, &told);
    }
}
