//! Tokens used, in the two shapes that clients parse; every number is always there.

use palyra_types::model::TokenUsage;
use serde_json::{Value, json};

/// Returns the usage of a chat completion.
#[must_use]
pub(crate) fn chat_usage(usage: &TokenUsage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": total(usage),
        "prompt_tokens_details": { "cached_tokens": usage.cached_input_tokens, "audio_tokens": 0 },
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

/// Returns the usage of a response.
#[must_use]
pub(crate) fn response_usage(usage: &TokenUsage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": { "cached_tokens": usage.cached_input_tokens, "cache_write_tokens": 0 },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
        "total_tokens": total(usage),
    })
}

fn total(usage: &TokenUsage) -> u64 {
    usage.input_tokens.saturating_add(usage.output_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(value: &Value) -> usize {
        match value {
            Value::Number(number) => usize::from(number.is_u64()),
            Value::Object(members) => members.values().map(numbers).sum(),
            _ => 0,
        }
    }

    #[test]
    fn usage_has_every_number_as_an_integer() {
        let usage = TokenUsage { input_tokens: 7, output_tokens: 5, ..TokenUsage::default() };
        assert_eq!(numbers(&response_usage(&usage)), 6);
        assert_eq!(response_usage(&usage)["total_tokens"], 12);
        assert_eq!(numbers(&chat_usage(&usage)), 9);
        assert_eq!(chat_usage(&usage)["total_tokens"], 12);
    }
}
