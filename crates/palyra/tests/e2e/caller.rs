//! A model that makes the call which its input spells.

use palyra_model_server::{Behaviour, Reply};
use serde_json::{Value, json};

/// Makes the call that its input is, `{"tool": ..., "arguments": ...}`, and ends its turn after the result.
pub(crate) fn caller() -> Behaviour {
    Behaviour::by(|body| {
        let last = body["messages"].as_array().unwrap().last().unwrap().clone();
        if last["role"] != "user" {
            return Reply::text("That is that.");
        }
        let call: Value = serde_json::from_str(last["content"].as_str().unwrap()).unwrap();
        Reply::empty().call(call["tool"].as_str().unwrap(), &call["arguments"].to_string())
    })
}

/// Returns the input for [`caller`] that makes this call.
pub(crate) fn call(tool: &str, arguments: &Value) -> String {
    json!({ "tool": tool, "arguments": arguments }).to_string()
}
