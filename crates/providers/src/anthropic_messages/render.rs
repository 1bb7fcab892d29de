//! Renders a request: a pure function from our shape to theirs.
//!
//! Invariant: equal requests give equal bytes, what comes first changes least, and marks for the provider's
//! prompt cache stand behind the tools, the instructions and the last two turns of the user, so that a
//! request finds what the one before it left there. Begin at [`render`].

mod turns;

use palyra_types::argument_meaning::without_meanings;
use palyra_types::model::ModelRequest;
use palyra_types::tool::ToolSpec;
use serde_json::{Value, json};

use self::turns::{Reasoning, RenderedTurns};
use super::config::ThinkingMode;
use crate::wire_format::features::OptionalFeature;
use crate::wire_format::{names, schema};

/// How a server is spoken to, beside what the request itself says.
#[derive(Debug, Clone)]
pub(super) struct RenderOptions {
    /// The longest answer that is asked for; a request may name a lower cap.
    pub(super) output_tokens: u32,
    /// Whether the model is asked to reason.
    pub(super) thinking: ThinkingMode,
    /// What the model has refused.
    pub(super) refused: Vec<OptionalFeature>,
}

/// Renders the body of `POST /v1/messages`, and tells what it wishes for.
pub(super) fn render(request: &ModelRequest, manner: &RenderOptions) -> (Value, Vec<OptionalFeature>) {
    let mut features = Vec::new();
    let mut body = json!({
        "model": request.model.model.as_str(),
        "max_tokens": request.output_tokens_max.map_or(manner.output_tokens, |cap| cap.min(manner.output_tokens)),
        "stream": true,
    });
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
        tools.iter_mut().next_back().into_iter().for_each(mark);
        body["tools"] = tools.into();
    }
    let mut system = request.system.expose().clone();
    if let Some(format) = &request.response_format {
        let closed = schema::closed(schema::value(format)).filter(Value::is_object);
        match closed.filter(|_| !manner.refused.contains(&OptionalFeature::Schema)) {
            Some(schema) => {
                body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
                features.push(OptionalFeature::Schema);
            }
            None => schema::instruct(&mut system, format),
        }
    }
    if !system.trim().is_empty() {
        let mut block = json!({"type": "text", "text": system});
        mark(&mut block);
        body["system"] = json!([block]);
    }
    let may_reason = !manner.refused.contains(&OptionalFeature::Reasoning);
    let turns =
        RenderedTurns::read(request, if may_reason { Reasoning::GoesBack } else { Reasoning::IsLeftOut });
    // Reasoning that a model waits for is refused where reasoning is not asked for.
    if may_reason && (manner.thinking == ThinkingMode::Adaptive || turns.resumes_reasoning()) {
        body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
        features.push(OptionalFeature::Reasoning);
    }
    body["messages"] = turns.into_messages();
    (body, features)
}

fn tool(spec: &ToolSpec) -> Value {
    let mut schema = without_meanings(&spec.schema);
    if let Some(fields) = schema.as_object_mut() {
        fields.entry("type").or_insert_with(|| "object".into());
    }
    json!({
        "name": names::allowed(spec.name.as_str()),
        "description": spec.description,
        "input_schema": schema,
    })
}

/// Asks the provider to keep everything up to here.
fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

#[cfg(test)]
mod tests;
