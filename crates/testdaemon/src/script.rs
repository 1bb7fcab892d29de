//! What the model says in a scripted run: text, the pure tool, the opaque tool, the answer.
//!
//! Owns no state: what is said follows from what was asked alone, so that an attempt after a restart is
//! answered like the one before it.

use std::time::Duration;

use palyra_model_server::{Behaviour, ModelServer, Reply};
use serde_json::Value;

use crate::tools::{ACT, LOOK};

/// The input of a scripted run.
pub const INPUT: &str = "Look, then act.";
/// An input that the model never answers.
pub const ENDLESS_INPUT: &str = "Think for ever.";
/// What the model says at the end.
pub const ANSWER: &str = "It is looked at and done.";

/// How a call's result says that it shall be made anew.
const AGAIN: &str = "to be made again";

/// Between two pieces of text: long enough for an entry of their own, short for who waits.
const PACE: Duration = Duration::from_millis(2);

/// Starts the model's server.
///
/// # Errors
/// When no port can be had.
pub async fn model_server() -> std::io::Result<ModelServer> {
    ModelServer::start(Behaviour::by(reply)).await
}

fn reply(body: &Value) -> Reply {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let asked = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    if messages.get(asked).is_some_and(|message| message["content"].to_string().contains(ENDLESS_INPUT)) {
        return Reply::silent();
    }
    let results = messages[asked..].iter().filter(|message| message["role"] == "tool").count();
    match results {
        0 => Reply::text("I look at it first. ").paced(PACE).call(LOOK, "{}"),
        1 => Reply::text("Now I act. ").paced(PACE).call(ACT, "{}"),
        _ => Reply::text(ANSWER).paced(PACE),
    }
}

/// A call with what came of it, as a model is told.
#[derive(Debug)]
pub(crate) struct FinishedCall<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Value,
    pub(crate) result: String,
}

/// Returns the calls that have a result with which they are done.
pub(crate) fn made(messages: &[Value]) -> Vec<FinishedCall<'_>> {
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let made = |call: &'_ Value| {
        let result = messages.iter().find(|message| message["tool_call_id"] == call["id"])?;
        let result = result["content"].to_string();
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let arguments = serde_json::from_str(arguments).unwrap_or_default();
        (!result.contains(AGAIN)).then_some((arguments, result))
    };
    calls
        .filter_map(|call| {
            let (arguments, result) = made(call)?;
            Some(FinishedCall { tool: call["function"]["name"].as_str()?, arguments, result })
        })
        .collect()
}
