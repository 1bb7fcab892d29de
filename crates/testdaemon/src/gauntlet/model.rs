//! The model of the gauntlet: it wants what is left, turn by turn.
//!
//! Owns no state: what it says follows from the conversation alone, so that an attempt after a restart is answered
//! like the one before it. A call of which a person said that it shall be made again is left.

use palyra_model_server::{Behaviour, ModelServer, Reply};
use serde_json::Value;

use super::effects::{Effect, turns};
use crate::script::made;

/// What the person asks for.
pub(super) const INPUT: &str = "Do the twenty things.";

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
        !made.iter().any(|made| made.tool == effect.tool && made.arguments == effect.arguments)
    };
    let left = turns().into_iter().map(|turn| turn.into_iter().filter(is_left).collect::<Vec<_>>());
    match left.into_iter().find(|turn| !turn.is_empty()) {
        None => Reply::text("The twenty things are done."),
        Some(turn) => {
            turn.iter().fold(Reply::empty(), |reply, next| reply.call(next.tool, &next.arguments.to_string()))
        }
    }
}
