//! The model of the gauntlet: it wants what is left, turn by turn.
//!
//! Owns no state: what it says follows from the conversation alone, so that an attempt after a restart is answered
//! like the one before it. A call of which a person said that it shall be made again is left.

use palyra_testkit::model_server::{Behaviour, ModelServer, Reply};
use serde_json::Value;

use super::effects::{Effect, turns};

/// What the person asks for.
pub(super) const INPUT: &str = "Do the twenty things.";

/// How a call's result says that it shall be made anew.
const AGAIN: &str = "to be made again";

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
    let is_left = |effect: &Effect| {
        !made.iter().any(|(tool, arguments)| *tool == effect.tool && *arguments == effect.arguments)
    };
    let left = turns().into_iter().map(|turn| turn.into_iter().filter(is_left).collect::<Vec<_>>());
    match left.into_iter().find(|turn| !turn.is_empty()) {
        None => Reply::text("The twenty things are done."),
        Some(turn) => {
            turn.iter().fold(Reply::empty(), |reply, next| reply.call(next.tool, &next.arguments.to_string()))
        }
    }
}

/// Returns the calls that have a result with which they are done.
fn made(messages: &[Value]) -> Vec<(&str, Value)> {
    let is_made = |call: &&Value| {
        let result = messages.iter().find(|message| message["tool_call_id"] == call["id"]);
        result.is_some_and(|result| !result["content"].to_string().contains(AGAIN))
    };
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let parts = |call: &'_ Value| {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        serde_json::from_str(arguments).unwrap_or_default()
    };
    calls.filter(is_made).filter_map(|call| Some((call["function"]["name"].as_str()?, parts(call)))).collect()
}
