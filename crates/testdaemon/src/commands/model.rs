//! The model of the story: it wants what is left, one call at a time, and the job's end last.
//!
//! Owns no state, as [`crate::script`].

use palyra_model_server::{Behaviour, ModelServer, Reply};
use serde_json::{Value, json};

use super::programs::{START, STOP, calls};
use crate::script::made;

/// What the person asks for.
pub(super) const INPUT: &str = "Run the programs.";
/// How the job is called when its start did not come to say it.
const JOB_BY_GUESS: &str = "job-1";

/// Starts the model's server.
///
/// # Errors
/// When no port can be had.
pub(super) async fn start() -> std::io::Result<ModelServer> {
    ModelServer::start(Behaviour::by(reply)).await
}

fn reply(body: &Value) -> Reply {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let made = made(messages);
    let is_made = |(tool, arguments): &(&str, Value)| {
        made.iter().any(|made| made.tool == *tool && made.arguments == *arguments)
    };
    if let Some((tool, arguments)) = calls().iter().find(|call| !is_made(call)) {
        return Reply::empty().call(tool, &arguments.to_string());
    }
    if made.iter().any(|made| made.tool == STOP) {
        return Reply::text("The programs have run.");
    }
    let started = made.iter().filter(|made| made.tool == START).find_map(|made| job_in(&made.result));
    let job = started.unwrap_or_else(|| JOB_BY_GUESS.to_owned());
    Reply::empty().call(STOP, &json!({ "job": job }).to_string())
}

/// Returns the job's name in `started as job-7; ...`.
fn job_in(result: &str) -> Option<String> {
    let (_, rest) = result.split_once("started as job-")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some(format!("job-{digits}"))
}
