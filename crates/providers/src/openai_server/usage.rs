//! Reads token counts.

use palyra_types::model::{TokenUsage, UsageSource};
use serde_json::Value;

/// Reads a `usage` object; `None` when it says nothing.
pub(crate) fn usage(value: &Value) -> Option<TokenUsage> {
    let count = |pointers: &[&str]| pointers.iter().find_map(|at| value.pointer(at).and_then(Value::as_u64));
    let input_tokens = count(&["/prompt_tokens", "/input_tokens"]);
    let output_tokens = count(&["/completion_tokens", "/output_tokens"]);
    if input_tokens.unwrap_or(0) == 0 && output_tokens.unwrap_or(0) == 0 {
        return None;
    }
    let input_tokens = input_tokens.unwrap_or(0);
    let output_tokens = output_tokens.unwrap_or(0);
    let cached = count(&[
        "/prompt_tokens_details/cached_tokens",
        "/input_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
    ]);
    let reasoning =
        count(&["/completion_tokens_details/reasoning_tokens", "/output_tokens_details/reasoning_tokens"]);
    Some(TokenUsage {
        input_tokens,
        cached_input_tokens: cached.unwrap_or(0).min(input_tokens),
        output_tokens,
        reasoning_tokens: reasoning.unwrap_or(0).min(output_tokens),
        source: UsageSource::Reported,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_read_and_kept_consistent() {
        let check = |value: Value, expect: Option<(u64, u64, u64, u64)>| {
            let found = usage(&value);
            let shown =
                found.map(|u| (u.input_tokens, u.cached_input_tokens, u.output_tokens, u.reasoning_tokens));
            assert_eq!(shown, expect, "{value}");
        };
        check(json!({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}), Some((9, 0, 4, 0)));
        check(
            json!({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5},
                "completion_tokens_details": {"reasoning_tokens": 3, "other": null}}),
            Some((9, 5, 4, 3)),
        );
        check(
            json!({"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 99}),
            Some((9, 9, 4, 0)),
        );
        check(
            json!({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 5}, "output_tokens": 4,
                "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 13}),
            Some((9, 5, 4, 3)),
        );
        check(json!({"prompt_tokens": 9}), Some((9, 0, 0, 0)));
        check(json!({"prompt_tokens": 0, "completion_tokens": 0}), None);
        check(json!({"prompt_tokens": -1, "completion_tokens": "x"}), None);
        check(json!(null), None);
    }
}
