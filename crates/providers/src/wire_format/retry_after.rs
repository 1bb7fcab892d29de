//! Reads how long a server wants to be left alone.

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;

/// The longest pause that is believed.
const PAUSE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The headers that tell of a pause.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PauseHeaders<'a> {
    /// `retry-after-ms`.
    pub(crate) retry_after_ms: Option<&'a str>,
    /// `retry-after`: seconds, or a date.
    pub(crate) retry_after: Option<&'a str>,
    /// `date`: what a date in `retry-after` is measured from, so that no clock is asked.
    pub(crate) date: Option<&'a str>,
}

/// Returns the pause asked for.
pub(crate) fn retry_after(headers: PauseHeaders<'_>) -> Option<Duration> {
    let milliseconds = headers.retry_after_ms.and_then(|text| span(text, 1_000.0));
    let pause = milliseconds.or_else(|| {
        let text = headers.retry_after?;
        span(text, 1.0).or_else(|| until(text, headers.date?))
    })?;
    Some(pause.min(PAUSE_MAX))
}

fn span(text: &str, per_second: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(number / per_second).ok()
}

fn until(then: &str, now: &str) -> Option<Duration> {
    let parse = |text: &str| DateTimeParser::new().parse_timestamp(text.trim()).ok();
    let seconds = parse(then)?.as_second().checked_sub(parse(now)?.as_second())?;
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_read_in_every_form() {
        const NOW: &str = "Wed, 21 Oct 2015 07:28:00 GMT";
        let check = |ms, after, expect: Option<f64>| {
            let headers = PauseHeaders { retry_after_ms: ms, retry_after: after, date: Some(NOW) };
            assert_eq!(retry_after(headers), expect.map(Duration::from_secs_f64), "{ms:?} {after:?}");
        };
        check(None, Some("7"), Some(7.0));
        check(None, Some(" 1.5 "), Some(1.5));
        check(Some("250"), Some("7"), Some(0.25));
        check(None, Some("Wed, 21 Oct 2015 07:28:30 GMT"), Some(30.0));
        check(None, Some("Wed, 21 Oct 2015 07:27:30 GMT"), Some(0.0));
        check(None, Some("999999999"), Some(86_400.0));
        check(None, Some("-3"), None);
        check(None, Some("soon"), None);
        check(None, Some("NaN"), None);
        for absurd in ["1e300", "inf", "-1e300", "0x10", "", "1e-400 1"] {
            check(None, Some(absurd), None);
            check(Some(absurd), None, None);
        }
        check(None, Some("18446744073709551616"), None);
        check(Some("18446744073709551616"), None, Some(86_400.0));
        check(None, Some("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0.0));
        check(None, Some("Thu, 01 Jan 2099 00:00:00 GMT"), Some(86_400.0));
        check(None, None, None);
        let without_date = PauseHeaders { retry_after: Some(NOW), ..PauseHeaders::default() };
        assert_eq!(retry_after(without_date), None);
    }
}
