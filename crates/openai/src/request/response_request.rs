//! A request for a response.
//!
//! Owns which members are used, ignored and refused, and how items of the input become messages.
//! Begin at [`ResponseRequest::parse`].

use serde_json::{Map, Value};

use crate::error_reply::ErrorReply;
use crate::identifiers::{ResponseId, ResponseRetention};
use crate::reply::response_object::RequestEcho;
use crate::request::answer_format::{SchemaPlace, answer_schema};
use crate::request::chat_request::MESSAGES_MAX;
use crate::request::client_message::{ClientMessage, MessageRole, check_calls};
use crate::request::fields::FieldReader;
use crate::request::offered_tools::{FunctionPlace, OfferedFunctions, OfferedTools, offered_tools};
use crate::request::requested_model::NamedModel;
use crate::request::response_items::input_item;
use crate::request::sampling::{
    ClientSampling, output_tokens, reasoning_effort, sampling_options, verbosity,
};

/// Members that the answer to a request repeats.
const ECHOED: &[&str] = &[
    "instructions",
    "metadata",
    "previous_response_id",
    "temperature",
    "text",
    "top_p",
    "truncation",
    "max_output_tokens",
    "parallel_tool_calls",
    "reasoning",
    "tools",
    "tool_choice",
];

/// Whether the answer is streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseDelivery {
    /// When it is whole.
    Whole,
    /// As it is made.
    Stream,
}

/// A request for a response.
#[derive(Debug, Clone)]
pub struct ResponseRequest {
    /// What answers.
    pub model: NamedModel,
    /// Instructions for this request alone.
    pub instructions: Option<String>,
    /// The conversation, or what follows the previous response.
    pub input: Vec<ClientMessage>,
    /// The response that this one follows.
    pub previous: Option<ResponseId>,
    /// How the response may be used later.
    pub retention: ResponseRetention,
    /// Whether the answer is streamed.
    pub delivery: ResponseDelivery,
    /// The schema of the answer.
    pub schema: Option<Value>,
    /// Tokens of the answer, at most.
    pub output_tokens_max: Option<u64>,
    /// How the words of the answer are chosen.
    pub sampling: ClientSampling,
    /// Functions that the client performs; with them, the agent has no tools.
    pub functions: Option<OfferedFunctions>,
    /// Hosted tools that were named and do not exist here.
    pub ignored_tools: Vec<String>,
    /// What the answer repeats.
    pub echo: RequestEcho,
}

impl ResponseRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// [`ErrorReply`] that names the member.
    pub fn parse(body: &Value) -> Result<Self, ErrorReply> {
        let fields = FieldReader::body(body)?;
        let model = NamedModel::of(&fields)?;
        let OfferedTools { functions, hosted } = offered_tools(&fields, FunctionPlace::Tool)?;
        let input = input(&fields)?;
        let previous = previous(&fields)?;
        check_calls(&input, previous.map(|id| id.run))?;
        let format = match fields.object("text")? {
            Some(text) => text.object("format")?,
            None => None,
        };
        let streams = fields.flag("stream")?.unwrap_or(false);
        Ok(Self {
            model,
            instructions: fields.text("instructions")?.filter(|text| !text.is_empty()).map(str::to_owned),
            input,
            previous,
            retention: retention(&fields)?,
            delivery: if streams { ResponseDelivery::Stream } else { ResponseDelivery::Whole },
            schema: answer_schema(format, SchemaPlace::Format)?,
            output_tokens_max: output_tokens(&fields, &["max_output_tokens"])?,
            sampling: sampling(&fields)?,
            functions,
            ignored_tools: hosted,
            echo: echo(&fields),
        })
    }
}

fn sampling(fields: &FieldReader<'_>) -> Result<ClientSampling, ErrorReply> {
    let mut sampling = sampling_options(fields)?;
    if let Some(reasoning) = fields.object("reasoning")? {
        sampling.reasoning_effort = reasoning_effort(&reasoning, "effort")?;
    }
    if let Some(text) = fields.object("text")? {
        sampling.verbosity = verbosity(&text)?;
    }
    Ok(sampling)
}

fn echo(fields: &FieldReader<'_>) -> RequestEcho {
    let named = |name: &&str| fields.value(name).map(|value| ((*name).to_owned(), value.clone()));
    RequestEcho { members: ECHOED.iter().filter_map(named).collect::<Map<_, _>>() }
}

fn retention(fields: &FieldReader<'_>) -> Result<ResponseRetention, ErrorReply> {
    let store = fields.flag("store")?.unwrap_or(true);
    match (store, fields.flag("background")?.unwrap_or(false)) {
        (true, false) => Ok(ResponseRetention::Stored),
        (true, true) => Ok(ResponseRetention::Background),
        (false, false) => Ok(ResponseRetention::Unstored),
        (false, true) => Err(ErrorReply::invalid("background", "`background` needs `store` to be true.")),
    }
}

fn previous(fields: &FieldReader<'_>) -> Result<Option<ResponseId>, ErrorReply> {
    let previous = fields.text("previous_response_id")?;
    if fields.value("conversation").is_some() {
        let text = match previous {
            Some(_) => "`conversation` and `previous_response_id` exclude each other.",
            None => "Conversations are not supported; use `previous_response_id`.",
        };
        return Err(ErrorReply::unsupported("conversation", text));
    }
    let Some(text) = previous else { return Ok(None) };
    ResponseId::parse(text)
        .filter(|id| id.retention != ResponseRetention::Unstored)
        .map(Some)
        .ok_or_else(|| ErrorReply::previous_response_not_found(text))
}

fn input(fields: &FieldReader<'_>) -> Result<Vec<ClientMessage>, ErrorReply> {
    match fields.value("input") {
        None => Err(fields.missing("input")),
        Some(Value::String(text)) if text.is_empty() => Err(fields.missing("input")),
        Some(Value::String(text)) => Ok(vec![ClientMessage::words(MessageRole::User, text, "input")]),
        Some(Value::Array(items)) if !items.is_empty() && items.len() <= MESSAGES_MAX => {
            let read = |(index, item)| input_item(format!("input[{index}]"), item).transpose();
            items.iter().enumerate().filter_map(read).collect()
        }
        Some(_) => Err(fields.wrong("input", &format!("a string or 1 to {MESSAGES_MAX} items"))),
    }
}

#[cfg(test)]
mod tests;
