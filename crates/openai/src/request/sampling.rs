//! Settings of a request that reach the model, and those that have a range: they are read alike for chat completions and
//! responses, which have two of them at different places.

use palyra_types::Content;
use palyra_types::sampling::{
    AnswerVerbosity, CallsPerAnswer, ReasoningEffort, SamplingNumber, SamplingOptions,
};
use serde_json::Value;

use crate::error_reply::ErrorReply;
use crate::request::fields::FieldReader;

/// Tokens of one answer, at most, as a request may say.
const OUTPUT_TOKENS_MAX: u64 = 10_000_000;
/// Texts to stop at, at most.
const STOP_MAX: usize = 4;
/// Bytes of a text to stop at, at most.
const STOP_BYTES_MAX: usize = 1_024;

/// Settings of one client, as it wrote them.
pub type ClientSampling = SamplingOptions<Content<String>>;

/// Reads the settings that both endpoints have at the same place.
pub(crate) fn sampling_options(fields: &FieldReader<'_>) -> Result<ClientSampling, ErrorReply> {
    fields.number("presence_penalty", -2.0..=2.0)?;
    fields.number("frequency_penalty", -2.0..=2.0)?;
    fields.flag("store")?;
    if fields.integer("n", 1..=u64::MAX)?.is_some_and(|choices| choices > 1) {
        return Err(ErrorReply::unsupported("n", "Only one choice is made: `n` must be 1."));
    }
    let calls = |several| if several { CallsPerAnswer::Several } else { CallsPerAnswer::One };
    Ok(SamplingOptions {
        temperature: fields.number("temperature", 0.0..=2.0)?.map(SamplingNumber::rounded),
        top_p: fields.number("top_p", 0.0..=1.0)?.map(SamplingNumber::rounded),
        stop: stop(fields)?,
        seed: fields.signed_integer("seed")?,
        reasoning_effort: None,
        verbosity: None,
        calls_per_answer: fields.flag("parallel_tool_calls")?.map(calls),
    })
}

/// Reads how much the model thinks, from the member of this name.
pub(crate) fn reasoning_effort(
    fields: &FieldReader<'_>,
    name: &str,
) -> Result<Option<ReasoningEffort>, ErrorReply> {
    fields.one_of(name, ReasoningEffort::ALL, ReasoningEffort::as_str)
}

/// Reads how long answers are.
pub(crate) fn verbosity(fields: &FieldReader<'_>) -> Result<Option<AnswerVerbosity>, ErrorReply> {
    fields.one_of("verbosity", AnswerVerbosity::ALL, AnswerVerbosity::as_str)
}

fn stop(fields: &FieldReader<'_>) -> Result<Vec<Content<String>>, ErrorReply> {
    let texts = match fields.value("stop") {
        None => &[][..],
        Some(Value::Array(texts)) => texts,
        Some(text) => std::slice::from_ref(text),
    };
    let read: Option<Vec<_>> = texts.iter().map(stop_text).collect();
    read.filter(|texts| texts.len() <= STOP_MAX).ok_or_else(|| {
        let wanted = format!("a string or at most {STOP_MAX} strings, each of 1 to {STOP_BYTES_MAX} bytes,");
        fields.wrong("stop", &wanted)
    })
}

fn stop_text(text: &Value) -> Option<Content<String>> {
    text.as_str().filter(|text| (1..=STOP_BYTES_MAX).contains(&text.len())).map(Content::from)
}

/// Reads the largest number of tokens of an answer, under its first name that is given.
pub(crate) fn output_tokens(fields: &FieldReader<'_>, names: &[&str]) -> Result<Option<u64>, ErrorReply> {
    for name in names {
        if let Some(tokens) = fields.integer(name, 1..=OUTPUT_TOKENS_MAX)? {
            return Ok(Some(tokens));
        }
    }
    Ok(None)
}
