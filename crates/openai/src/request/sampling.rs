//! Settings of a request that have a range: they are checked alike for chat completions and responses.

use serde_json::Value;

use crate::error_reply::ErrorReply;
use crate::request::fields::FieldReader;

/// Tokens of one answer, at most, as a request may say.
const OUTPUT_TOKENS_MAX: u64 = 10_000_000;
/// Stop sequences, at most.
const STOP_MAX: usize = 4;

/// Checks the settings that both endpoints have.
pub(crate) fn check_sampling(fields: &FieldReader<'_>) -> Result<(), ErrorReply> {
    fields.number("temperature", 0.0..=2.0)?;
    fields.number("top_p", 0.0..=1.0)?;
    fields.number("presence_penalty", -2.0..=2.0)?;
    fields.number("frequency_penalty", -2.0..=2.0)?;
    fields.flag("parallel_tool_calls")?;
    fields.flag("store")?;
    if fields.integer("n", 1..=u64::MAX)?.is_some_and(|choices| choices > 1) {
        return Err(ErrorReply::unsupported("n", "Only one choice is made: `n` must be 1."));
    }
    check_stop(fields)
}

fn check_stop(fields: &FieldReader<'_>) -> Result<(), ErrorReply> {
    match fields.value("stop") {
        None | Some(Value::String(_)) => Ok(()),
        Some(Value::Array(texts)) if texts.len() <= STOP_MAX && texts.iter().all(Value::is_string) => Ok(()),
        Some(_) => Err(fields.wrong("stop", &format!("a string or at most {STOP_MAX} strings"))),
    }
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
