//! Renders a request: a pure function from our shape to theirs.
//!
//! Invariant: equal requests give equal bytes, what comes first changes least, and marks for the provider's
//! prompt cache stand behind the tools, the instructions and the last two turns of the user, so that a
//! request finds what the one before it left there. Begin at [`render`].

mod turns;

use palyra_types::argument_meaning::without_meanings;
use palyra_types::client_tool::{ClientTool, ClientToolChoice};
use palyra_types::model::ModelRequest;
use palyra_types::sampling::{CallsPerAnswer, ReasoningEffort, SamplingOptions};
use palyra_types::tool::ToolSpec;
use serde_json::{Value, json};

use self::turns::{Reasoning, RenderedTurns};
use super::config::ThinkingMode;
use crate::wire_format::features::OptionalFeature;
use crate::wire_format::sampling::accepted;
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
    let (sampling, mut features) = accepted(&known_settings(request), &manner.refused);
    let mut body = json!({
        "model": request.model.model.as_str(),
        "max_tokens": request.output_tokens_max.map_or(manner.output_tokens, |cap| cap.min(manner.output_tokens)),
        "stream": true,
    });
    if request.offers_calls() {
        let of_client = request.client_tools.iter().flat_map(|offer| &offer.tools).map(client_tool);
        let mut tools: Vec<Value> = request.tools.iter().map(tool).chain(of_client).collect();
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
    add_settings(&mut body, &sampling);
    choose_tool(&mut body, request);
    body["messages"] = turns.into_messages();
    (body, features)
}

/// Returns the settings that the format has a field for.
fn known_settings(request: &ModelRequest) -> SamplingOptions {
    let SamplingOptions { reasoning_effort, calls_per_answer, .. } = request.sampling;
    SamplingOptions {
        seed: None,
        verbosity: None,
        reasoning_effort: reasoning_effort
            .filter(|effort| !matches!(effort, ReasoningEffort::None | ReasoningEffort::Minimal)),
        calls_per_answer: calls_per_answer
            .filter(|calls| *calls == CallsPerAnswer::One && request.offers_calls()),
        ..request.sampling.clone()
    }
}

fn add_settings(body: &mut Value, sampling: &SamplingOptions) {
    if let Some(temperature) = sampling.temperature {
        body["temperature"] = temperature.value().into();
    }
    if let Some(top_p) = sampling.top_p {
        body["top_p"] = top_p.value().into();
    }
    if !sampling.stop.is_empty() {
        body["stop_sequences"] = sampling.stop.iter().map(|text| text.expose().as_str()).collect();
    }
    if let Some(effort) = sampling.reasoning_effort {
        body["output_config"]["effort"] = effort.as_str().into();
    }
    if sampling.calls_per_answer.is_some() {
        body["tool_choice"] = json!({"type": "auto", "disable_parallel_tool_use": true});
    }
}

/// Adds which function of a client has to be called, to what is said about the number of calls. A model that reasons takes
/// no such order: it is left out where reasoning is asked for.
fn choose_tool(body: &mut Value, request: &ModelRequest) {
    let Some(offer) = request.client_tools.as_deref().filter(|offer| !offer.tools.is_empty()) else { return };
    let choice = match offer.choice {
        ClientToolChoice::Auto => return,
        ClientToolChoice::None => json!({"type": "none"}),
        ClientToolChoice::Required | ClientToolChoice::Tool(_) if body.get("thinking").is_some() => return,
        ClientToolChoice::Required => json!({"type": "any"}),
        ClientToolChoice::Tool(_) => match offer.chosen() {
            Some(tool) => json!({"type": "tool", "name": names::allowed(tool.name.expose())}),
            None => return,
        },
    };
    let one = body["tool_choice"].get("disable_parallel_tool_use").cloned();
    body["tool_choice"] = choice;
    if let Some(one) = one.filter(|_| offer.choice != ClientToolChoice::None) {
        body["tool_choice"]["disable_parallel_tool_use"] = one;
    }
}

fn client_tool(tool: &ClientTool) -> Value {
    let mut schema = schema::of_client_tool(tool);
    if let Some(fields) = schema.as_object_mut() {
        fields.entry("type").or_insert_with(|| "object".into());
    }
    json!({
        "name": names::allowed(tool.name.expose()),
        "description": tool.description.expose(),
        "input_schema": schema,
    })
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
