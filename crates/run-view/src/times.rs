//! Times as people read them.

use std::time::{SystemTime, UNIX_EPOCH};

use palyra_screen_text::coarse_span;
use prost_types::Timestamp;

/// Returns a time as a date, UTC, to the second; empty when there is none.
pub fn date(time: Option<Timestamp>) -> String {
    let date = time.and_then(|time| jiff::Timestamp::from_second(time.seconds).ok());
    date.map_or_else(String::new, |date| date.to_string())
}

/// Returns how long ago a time was, such as `3m`; empty when there is none.
pub fn age(time: Option<Timestamp>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let passed = |time: Timestamp| now.saturating_sub(u64::try_from(time.seconds).unwrap_or(0));
    time.map_or_else(String::new, |time| coarse_span(passed(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_told_to_the_second_and_none_is_empty() {
        assert_eq!(date(Some(Timestamp { seconds: 1_800_000_000, nanos: 5 })), "2027-01-15T08:00:00Z");
        assert_eq!((date(None), age(None)), (String::new(), String::new()));
    }
}
