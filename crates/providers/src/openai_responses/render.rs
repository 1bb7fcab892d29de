//! Renders a request: a pure function from our shape to theirs.
//!
//! Invariant: equal requests give equal bytes, and a conversation that goes on only adds items behind those before, so that
//! a provider's prompt cache can serve it. Begin at [`render`].

mod items;

use palyra_types::client_tool::ClientToolOffer;
use palyra_types::model::{ModelRequest, ResponseFormat};
use palyra_types::sampling::{
    AnswerVerbosity, CallsPerAnswer, ReasoningEffort, SamplingNumber, SamplingOptions,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use self::items::{Reasoning, items};
use crate::openai_server::tools::{self, FunctionChoice, OfferedFunction};
use crate::wire_format::exchange::RenderedRequest;
use crate::wire_format::features::OptionalFeature;
use crate::wire_format::sampling::accepted;
use crate::wire_format::schema;

/// The smallest cap on an answer that the format takes.
const OUTPUT_TOKENS_MIN: u32 = 16;
/// Asks for reasoning that only its service can read, to hand it back.
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";

/// The body of `POST /responses`, with its fields in the order of their names.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    input: Vec<Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    instructions: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    /// Nothing is kept at the server: the conversation is in the journal.
    store: bool,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    text: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    name: String,
    parameters: Value,
    strict: bool,
    r#type: &'static str,
}

/// Renders the body of `POST /responses` without what the model has refused, and names the optional features in it.
pub(super) fn render(request: &ModelRequest, refused: &[OptionalFeature]) -> RenderedRequest {
    let is_taken = |feature| !refused.contains(&feature);
    // The format has no field for the others.
    let known = SamplingOptions { stop: Vec::new(), seed: None, ..request.usable_sampling() };
    let (sampling, mut features) = accepted(&known, refused);
    let by_field = request.response_format.as_ref().filter(|_| is_taken(OptionalFeature::Schema));
    let mut instructions = request.system.expose().clone();
    match &request.response_format {
        Some(_) if by_field.is_some() => features.push(OptionalFeature::Schema),
        Some(format) => schema::instruct(&mut instructions, format),
        None => {}
    }
    let cap = request.output_tokens_max.filter(|_| is_taken(OptionalFeature::OutputCap));
    features.extend(cap.map(|_| OptionalFeature::OutputCap));
    // Last, since refusals of other settings name reasoning models.
    let keeps_reasoning = is_taken(OptionalFeature::Reasoning);
    features.extend(keeps_reasoning.then_some(OptionalFeature::Reasoning));
    let reasoning = if keeps_reasoning { Reasoning::GoesBack } else { Reasoning::IsLeftOut };
    let body = Body {
        include: keeps_reasoning.then_some(ENCRYPTED_REASONING).into_iter().collect(),
        input: items(&request.messages, &request.model, reasoning),
        instructions,
        max_output_tokens: cap.map(|tokens| tokens.max(OUTPUT_TOKENS_MIN)),
        model: request.model.model.as_str(),
        parallel_tool_calls: sampling.calls_per_answer.map(|calls| calls == CallsPerAnswer::Several),
        reasoning: sampling.reasoning_effort.map(|effort| json!({"effort": ReasoningEffort::as_str(effort)})),
        store: false,
        stream: true,
        temperature: sampling.temperature.map(SamplingNumber::value),
        text: text(by_field, sampling.verbosity),
        tool_choice: request.client_tools.as_deref().and_then(tool_choice),
        tools: tools::offered(&request.tools, request.client_tools.as_deref()).map(tool).collect(),
        top_p: sampling.top_p.map(SamplingNumber::value),
    };
    let body = serde_json::to_string(&body).expect("text and JSON can always be written");
    RenderedRequest { body, features }
}

/// Strict mode takes only a part of JSON Schema; the answer is checked against the whole of it anyway.
fn text(format: Option<&ResponseFormat>, verbosity: Option<AnswerVerbosity>) -> Map<String, Value> {
    let mut text = Map::new();
    if let Some(format) = format {
        let schema = schema::value(format);
        let format = json!({"type": "json_schema", "name": "answer", "schema": schema, "strict": false});
        text.insert("format".to_owned(), format);
    }
    if let Some(verbosity) = verbosity {
        text.insert("verbosity".to_owned(), verbosity.as_str().into());
    }
    text
}

/// The format assumes strict functions where nothing is said, which take only a part of JSON Schema.
fn tool(offered: OfferedFunction<'_>) -> Tool<'_> {
    let OfferedFunction { name, description, parameters, strict } = offered;
    Tool { description, name, parameters, strict: strict.unwrap_or(false), r#type: "function" }
}

fn tool_choice(offer: &ClientToolOffer) -> Option<Value> {
    Some(match tools::choice(offer)? {
        FunctionChoice::Word(word) => word.into(),
        FunctionChoice::Function(name) => json!({"type": "function", "name": name}),
    })
}

#[cfg(test)]
mod tests;
