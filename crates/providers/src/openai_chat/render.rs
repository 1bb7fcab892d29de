//! Renders a request: a pure function from our shape to theirs.
//!
//! Invariant: equal requests give equal bytes, and what comes first changes least, so that a
//! provider's prompt cache can serve it.

use palyra_types::attachment::RenderedAttachment;
use palyra_types::client_tool::ClientToolOffer;
use palyra_types::model::{ChatMessage, ModelRequest, RenderedCall, ResponseFormat};
use palyra_types::sampling::{
    AnswerVerbosity, CallsPerAnswer, ReasoningEffort, SamplingNumber, SamplingOptions,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::openai_server::tools::{self, FunctionChoice, OfferedFunction};
use crate::wire_format::attachments::{self, RenderedFile};
use crate::wire_format::{names, schema};

/// Under which name the cap on the answer is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputCapField {
    /// What nearly every server knows.
    MaxTokens,
    /// What OpenAI's newer models want instead.
    MaxCompletionTokens,
    /// It is not sent: the server has refused it.
    None,
}

/// Who makes an answer fit a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaBy {
    /// The provider, which is sent the schema in a field of its own.
    Field,
    /// The model, which is told to; for servers that do not know the field.
    Instruction,
}

/// What is sent beside the conversation, where servers differ.
#[derive(Debug, Clone)]
pub(super) struct RenderOptions {
    /// The name of the cap on the answer.
    pub(super) cap: OutputCapField,
    /// Who makes the answer fit a schema.
    pub(super) schema_by: SchemaBy,
    /// How words are chosen, as far as the model knows it.
    pub(super) sampling: SamplingOptions,
}

/// The body of `POST /chat/completions`, with its fields in the order of their names.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    messages: Vec<Value>,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop: Vec<&'a str>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    /// Most of a short conversation's body: written from the catalogue, never copied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<&'static str>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    function: FunctionSchema<'a>,
    r#type: &'static str,
}

#[derive(Serialize)]
struct FunctionSchema<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    name: String,
    parameters: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

/// Renders the body of `POST /chat/completions`.
pub(super) fn render(request: &ModelRequest, options: &RenderOptions) -> String {
    let RenderOptions { cap, schema_by, sampling } = options;
    let mut system = request.system.expose().clone();
    let format = request.response_format.as_ref();
    if let Some(format) = format.filter(|_| *schema_by == SchemaBy::Instruction) {
        schema::instruct(&mut system, format);
    }
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system}));
    }
    messages.extend(request.messages.iter().filter_map(message));
    let (max_tokens, max_completion_tokens) = match cap {
        OutputCapField::MaxTokens => (request.output_tokens_max, None),
        OutputCapField::MaxCompletionTokens => (None, request.output_tokens_max),
        OutputCapField::None => (None, None),
    };
    let body = Body {
        max_completion_tokens,
        max_tokens,
        messages,
        model: request.model.model.as_str(),
        parallel_tool_calls: sampling.calls_per_answer.map(|calls| calls == CallsPerAnswer::Several),
        reasoning_effort: sampling.reasoning_effort.map(ReasoningEffort::as_str),
        response_format: format.filter(|_| *schema_by == SchemaBy::Field).map(response_format),
        seed: sampling.seed,
        stop: sampling.stop.iter().map(|text| text.expose().as_str()).collect(),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        temperature: sampling.temperature.map(SamplingNumber::value),
        tool_choice: request.client_tools.as_deref().and_then(tool_choice),
        tools: tools::offered(&request.tools, request.client_tools.as_deref()).map(tool).collect(),
        top_p: sampling.top_p.map(SamplingNumber::value),
        verbosity: sampling.verbosity.map(AnswerVerbosity::as_str),
    };
    serde_json::to_string(&body).expect("text and JSON can always be written")
}

/// Strict mode takes only a part of JSON Schema; the answer is checked against the whole of it anyway.
fn response_format(format: &ResponseFormat) -> Value {
    let schema = json!({"name": "answer", "schema": schema::value(format), "strict": false});
    json!({"type": "json_schema", "json_schema": schema})
}

fn message(message: &ChatMessage) -> Option<Value> {
    match message {
        ChatMessage::User { text, attachments, said } if attachments.is_empty() => {
            let words = ChatMessage::words_with_time(text.expose(), said.as_deref());
            Some(json!({"role": "user", "content": words}))
        }
        ChatMessage::User { text, attachments, said } => {
            let mut parts: Vec<Value> = attachments.iter().map(attached).collect();
            if !text.expose().is_empty() {
                let words = ChatMessage::words_with_time(text.expose(), said.as_deref());
                parts.push(json!({"type": "text", "text": words}));
            }
            Some(json!({"role": "user", "content": plain(&parts).unwrap_or_else(|| parts.into())}))
        }
        // What a provider wanted back goes only to the format that made it.
        ChatMessage::Assistant { text, calls, .. } if calls.is_empty() => {
            // Several servers refuse an assistant message that holds nothing.
            (!text.expose().is_empty()).then(|| json!({"role": "assistant", "content": text.expose()}))
        }
        ChatMessage::Assistant { text, calls, .. } => {
            let content = if text.expose().is_empty() { Value::Null } else { json!(text.expose()) };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            Some(json!({"role": "assistant", "content": content, "tool_calls": calls}))
        }
        ChatMessage::ToolResult { call, tool, text, status, delimiter } => {
            let content = tools::result_text(tool, text.expose(), *status, delimiter);
            Some(json!({"role": "tool", "tool_call_id": call.0, "content": content}))
        }
    }
}

fn attached(file: &RenderedAttachment) -> Value {
    match attachments::shown(file) {
        RenderedFile::Text(text) => json!({"type": "text", "text": text}),
        RenderedFile::Image { media_type, base64 } => {
            let url = format!("data:{media_type};base64,{base64}");
            json!({"type": "image_url", "image_url": {"url": url}})
        }
    }
}

/// Joins parts into one string where all are text: many servers take nothing else.
fn plain(parts: &[Value]) -> Option<Value> {
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    texts.map(|texts| texts.join("\n\n").into())
}

fn call(call: &RenderedCall) -> Value {
    json!({
        "id": call.call.0,
        "type": "function",
        "function": {"name": names::allowed(call.tool.as_str()), "arguments": call.arguments.expose()},
    })
}

fn tool(offered: OfferedFunction<'_>) -> Tool<'_> {
    let OfferedFunction { name, description, parameters, strict } = offered;
    Tool { function: FunctionSchema { description, name, parameters, strict }, r#type: "function" }
}

fn tool_choice(offer: &ClientToolOffer) -> Option<Value> {
    Some(match tools::choice(offer)? {
        FunctionChoice::Word(word) => word.into(),
        FunctionChoice::Function(name) => json!({"type": "function", "function": {"name": name}}),
    })
}

#[cfg(test)]
mod tests;
