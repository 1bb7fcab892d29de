//! Reads token counts, which come twice: at the beginning of a message, and summed up at its end.

use palyra_types::model::{TokenUsage, UsageSource};
use serde_json::Value;

/// What the server has counted so far; later counts replace earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct UsageCounts {
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_written: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
}

impl UsageCounts {
    /// Takes a `usage` object.
    pub(super) fn take(&mut self, value: &Value) {
        let take =
            |kept: &mut Option<u64>, at: &str| *kept = value.pointer(at).and_then(Value::as_u64).or(*kept);
        take(&mut self.input, "/input_tokens");
        take(&mut self.cache_read, "/cache_read_input_tokens");
        take(&mut self.cache_written, "/cache_creation_input_tokens");
        take(&mut self.output, "/output_tokens");
        take(&mut self.reasoning, "/output_tokens_details/thinking_tokens");
    }

    /// Returns the usage in our terms, where cached tokens are a part of those read.
    pub(super) fn usage(self) -> Option<TokenUsage> {
        let count = |number: Option<u64>| number.unwrap_or(0);
        let cached = count(self.cache_read);
        let input = count(self.input).saturating_add(cached).saturating_add(count(self.cache_written));
        let output = count(self.output);
        (input > 0 || output > 0).then(|| TokenUsage {
            input_tokens: input,
            cached_input_tokens: cached,
            output_tokens: output,
            reasoning_tokens: count(self.reasoning).min(output),
            source: UsageSource::Reported,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(values: &[Value]) -> Option<(u64, u64, u64, u64)> {
        let mut counts = UsageCounts::default();
        values.iter().for_each(|value| counts.take(value));
        counts.usage().map(|u| (u.input_tokens, u.cached_input_tokens, u.output_tokens, u.reasoning_tokens))
    }

    #[test]
    fn cached_tokens_are_added_and_later_counts_replace_earlier_ones() {
        let begin = json!({"input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 70,
            "output_tokens": 1});
        assert_eq!(read(std::slice::from_ref(&begin)), Some((100, 70, 1, 0)));
        let end = json!({"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 30}, "new": {}});
        assert_eq!(read(&[begin.clone(), end]), Some((100, 70, 40, 30)));
        let again = json!({"input_tokens": 11, "cache_read_input_tokens": null, "output_tokens": 40});
        assert_eq!(read(&[begin, again]), Some((101, 70, 40, 0)));
    }

    #[test]
    fn what_is_no_count_counts_nothing() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[json!(null), json!({"input_tokens": -1, "output_tokens": "x"})]), None);
        assert_eq!(read(&[json!({"input_tokens": 0, "output_tokens": 0})]), None);
        let too_many = json!({"input_tokens": u64::MAX, "cache_read_input_tokens": 9});
        assert_eq!(read(&[too_many]), Some((u64::MAX, 9, 0, 0)));
    }
}
