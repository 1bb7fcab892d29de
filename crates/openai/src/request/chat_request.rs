//! A request for a chat completion.
//!
//! Owns which members are used, ignored and refused. Begin at [`ChatRequest::parse`].

use serde_json::Value;

use crate::error_reply::ErrorReply;
use crate::reply::chat_stream::UsageReport;
use crate::request::answer_format::{SchemaPlace, answer_schema};
use crate::request::client_message::{ClientMessage, MessageRole, check_calls};
use crate::request::content_parts::MessageContent;
use crate::request::fields::FieldReader;
use crate::request::offered_tools::{FunctionPlace, OfferedFunctions, offered_tools};
use crate::request::requested_model::NamedModel;
use crate::request::sampling::{
    ClientSampling, output_tokens, reasoning_effort, sampling_options, verbosity,
};

/// Messages of one request, at most.
pub const MESSAGES_MAX: usize = 8_192;

/// A request for a chat completion.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// What answers.
    pub model: NamedModel,
    /// The conversation.
    pub messages: Vec<ClientMessage>,
    /// Whether and how the answer is streamed.
    pub stream: Option<UsageReport>,
    /// The schema of the answer.
    pub schema: Option<Value>,
    /// Tokens of the answer, at most.
    pub output_tokens_max: Option<u64>,
    /// How the words of the answer are chosen.
    pub sampling: ClientSampling,
    /// Functions that the client performs; with them, the agent has no tools.
    pub functions: Option<OfferedFunctions>,
}

impl ChatRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// [`ErrorReply`] that names the member.
    pub fn parse(body: &Value) -> Result<Self, ErrorReply> {
        let fields = FieldReader::body(body)?;
        let model = NamedModel::of(&fields)?;
        let messages = messages(&fields)?;
        check_calls(&messages, None)?;
        let sampling = ClientSampling {
            reasoning_effort: reasoning_effort(&fields, "reasoning_effort")?,
            verbosity: verbosity(&fields)?,
            ..sampling_options(&fields)?
        };
        check_outputs(&fields)?;
        let functions = offered_tools(&fields, FunctionPlace::Member)?.functions;
        Ok(Self {
            model,
            messages,
            stream: stream(&fields)?,
            schema: answer_schema(fields.object("response_format")?, SchemaPlace::Member)?,
            output_tokens_max: output_tokens(&fields, &["max_completion_tokens", "max_tokens"])?,
            sampling,
            functions,
        })
    }
}

fn stream(fields: &FieldReader<'_>) -> Result<Option<UsageReport>, ErrorReply> {
    let streams = fields.flag("stream")?.unwrap_or(false);
    let options = fields.object("stream_options")?;
    let included = match options {
        Some(options) => options.flag("include_usage")?.unwrap_or(false),
        None => false,
    };
    let usage = if included { UsageReport::Included } else { UsageReport::Omitted };
    Ok(streams.then_some(usage))
}

/// Refuses what a model behind an agent does not give.
fn check_outputs(fields: &FieldReader<'_>) -> Result<(), ErrorReply> {
    if fields.flag("logprobs")?.unwrap_or(false) || fields.value("top_logprobs").is_some() {
        return Err(ErrorReply::unsupported("logprobs", "Log probabilities are not available."));
    }
    let modalities = fields.array("modalities")?.map_or(&[][..], Vec::as_slice);
    if modalities.iter().any(|modality| modality.as_str() != Some("text")) {
        return Err(ErrorReply::unsupported(
            "modalities",
            "Answers are text: other modalities are not available.",
        ));
    }
    if fields.value("audio").is_some() {
        return Err(ErrorReply::unsupported("audio", "Answers are text: audio is not available."));
    }
    Ok(())
}

fn messages(fields: &FieldReader<'_>) -> Result<Vec<ClientMessage>, ErrorReply> {
    let messages = fields.array("messages")?.ok_or_else(|| fields.missing("messages"))?;
    if messages.is_empty() || messages.len() > MESSAGES_MAX {
        return Err(fields.wrong("messages", &format!("1 to {MESSAGES_MAX} messages")));
    }
    let message = |(index, value)| message(format!("messages[{index}]"), value);
    messages.iter().enumerate().map(message).collect()
}

fn message(path: String, value: &Value) -> Result<ClientMessage, ErrorReply> {
    let fields = FieldReader::at(path.clone(), value)?;
    let role = match fields.text("role")?.ok_or_else(|| fields.missing("role"))? {
        "system" | "developer" => MessageRole::Instruction,
        "user" => MessageRole::User,
        "assistant" => MessageRole::Assistant,
        "tool" | "function" => MessageRole::Tool,
        _ => return Err(fields.wrong("role", "system, developer, user, assistant, tool or function")),
    };
    let content = MessageContent::read(&fields.path("content"), fields.value("content"))?;
    let mut message =
        ClientMessage { files: content.files, ..ClientMessage::words(role, content.text, path) };
    if role == MessageRole::Tool {
        message.answers = fields.text("tool_call_id")?.map(str::to_owned);
    }
    if role == MessageRole::Assistant {
        add_calls(&fields, &mut message)?;
    }
    if message.text.is_empty() && message.files.is_empty() && role != MessageRole::Tool {
        if role == MessageRole::User {
            return Err(fields.missing("content"));
        }
        message.text = fields.text("refusal")?.unwrap_or_default().to_owned();
    }
    Ok(message)
}

/// Reads the calls of an assistant's message: their ids, and the calls as text.
fn add_calls(fields: &FieldReader<'_>, message: &mut ClientMessage) -> Result<(), ErrorReply> {
    let calls = fields.array("tool_calls")?.map_or(&[][..], Vec::as_slice);
    for (index, call) in calls.iter().enumerate() {
        let path = format!("{}[{index}]", fields.path("tool_calls"));
        let read = FieldReader::at(path, call)?;
        let id = read.text("id")?.ok_or_else(|| read.missing("id"))?;
        message.calls.push(id.to_owned());
        if !message.text.is_empty() {
            message.text.push('\n');
        }
        message.text.push_str(&call.to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
