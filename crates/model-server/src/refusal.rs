//! A refusal before a dialect has put it into its own shape, and the headers refusals carry.

use super::fault::{Fault, RetryAfter};

/// What a refusal says.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// The vendor's name for the kind of error.
    pub(super) kind: &'static str,
    /// A finer name, where the vendor has one.
    pub(super) code: Option<&'static str>,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn new(status: u16, kind: &'static str, message: &str) -> Self {
        Self { status, kind, code: None, message: message.to_owned() }
    }

    pub(super) fn coded(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }
}

/// The date every reply of a test bears, in seconds since 1970: 21 October 2015, 07:28:00.
const TODAY_SECONDS: u64 = 1_445_412_480;

/// Returns the headers that tell the pause a fault asks for.
pub(super) fn pause_headers(fault: Fault) -> Vec<(String, String)> {
    let header = |name: &str, value: String| (name.to_owned(), value);
    match fault {
        Fault::RateLimit(RetryAfter::Seconds(seconds)) => vec![header("Retry-After", seconds.to_string())],
        Fault::RateLimit(RetryAfter::Millis(millis)) => vec![header("retry-after-ms", millis.to_string())],
        Fault::RateLimit(RetryAfter::Date(seconds)) => vec![
            header("Date", http_date(TODAY_SECONDS)),
            header("Retry-After", http_date(TODAY_SECONDS + seconds)),
        ],
        _ => Vec::new(),
    }
}

/// Formats seconds since 1970 as HTTP does, for years from 2000 to 2099.
fn http_date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    // Days since 2000-03-01: in years that begin in March a leap day comes last.
    let since = days - 11_017;
    let day_of_cycle = since % 1_461;
    let year_of_cycle = (day_of_cycle / 365).min(3);
    let day_of_year = day_of_cycle - year_of_cycle * 365;
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = 2_000 + 4 * (since / 1_461) + year_of_cycle + u64::from(month >= 10);
    let weekday = DAYS[usize::try_from(days % 7).expect("less than seven")];
    let month = MONTHS[usize::try_from((month + 2) % 12).expect("less than twelve")];
    let (hour, minute, second) = (clock / 3_600, clock / 60 % 60, clock % 60);
    format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_http_does() {
        let check = |seconds, expect: &str| assert_eq!(http_date(seconds), expect);
        check(TODAY_SECONDS, "Wed, 21 Oct 2015 07:28:00 GMT");
        check(951_782_400 + 86_400, "Wed, 01 Mar 2000 00:00:00 GMT");
        check(1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT");
        check(1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT");
    }
}
