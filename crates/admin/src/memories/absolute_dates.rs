//! Relative dates in texts that are used on later days: the date is added behind each of them.
//!
//! Invariant: the words stay as they are, so a wrong guess removes nothing. English only: the description of the tool
//! asks models to write absolute dates in every language.

use std::fmt::Write;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

/// Bytes of a text that is searched, at most; a longer one is refused later.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Larger numbers of days, weeks, months or years are not read as a date.
const AMOUNT_MAX: i64 = 1_000;

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Returns the text with the date behind each relative date, as seen on a day.
pub(super) fn with_absolute_dates(text: &str, today: Date) -> String {
    if text.len() > TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let words = words_of(text);
    let mut out = String::with_capacity(text.len());
    let mut written = 0;
    let mut at = 0;
    while at < words.len() {
        let lower: Vec<String> =
            words[at..].iter().take(4).map(|word| text[word.clone()].to_lowercase()).collect();
        let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
        let Some(found) = relative_date(&lower, today) else {
            at += 1;
            continue;
        };
        let end = words[at + found.words - 1].end;
        out.push_str(&text[written..end]);
        // The writer has added a date.
        if !text[end..].trim_start().starts_with('(') {
            // Writing to a string cannot fail.
            let _ = write!(out, " ({})", found.date);
        }
        written = end;
        at += found.words;
    }
    out.push_str(&text[written..]);
    out
}

/// A relative date at the beginning of some words.
struct RelativeDate {
    words: usize,
    date: String,
}

fn relative_date(words: &[&str], today: Date) -> Option<RelativeDate> {
    let day =
        |words, span: Span| Some(RelativeDate { words, date: today.checked_add(span).ok()?.to_string() });
    match words {
        ["day", "after", "tomorrow", ..] => day(3, 2.days()),
        ["day", "before", "yesterday", ..] => day(3, (-2).days()),
        ["today" | "tonight", ..] => day(1, 0.days()),
        ["tomorrow", ..] => day(1, 1.days()),
        ["yesterday", ..] => day(1, (-1).days()),
        ["in", amount, unit, ..] => day(3, span(amount, unit, 1)?),
        [amount, unit, "ago", ..] => day(3, span(amount, unit, -1)?),
        [which @ ("next" | "this" | "last"), name, ..] => {
            weekday(which, name, today).or_else(|| period(which, name, today))
        }
        _ => None,
    }
}

fn span(amount: &str, unit: &str, sign: i64) -> Option<Span> {
    let amount: i64 = match amount {
        "a" | "an" | "one" => 1,
        "two" => 2,
        "three" => 3,
        digits => digits.parse().ok()?,
    };
    if !(1..=AMOUNT_MAX).contains(&amount) {
        return None;
    }
    let amount = amount * sign;
    match unit.strip_suffix('s').unwrap_or(unit) {
        "day" => Some(amount.days()),
        "week" => Some(amount.weeks()),
        "month" => Some(amount.months()),
        "year" => Some(amount.years()),
        _ => None,
    }
}

fn weekday(which: &str, name: &str, today: Date) -> Option<RelativeDate> {
    let (_, wanted) = WEEKDAYS.into_iter().find(|(known, _)| *known == name)?;
    let date = match which {
        "last" => today.nth_weekday(-1, wanted).ok()?,
        "this" if today.weekday() == wanted => today,
        _ => today.nth_weekday(1, wanted).ok()?,
    };
    Some(RelativeDate { words: 2, date: date.to_string() })
}

fn period(which: &str, name: &str, today: Date) -> Option<RelativeDate> {
    let step = match which {
        "next" => 1,
        "last" => -1,
        _ => 0,
    };
    let date = match name {
        "week" => {
            let monday = i64::from(today.weekday().to_monday_zero_offset());
            let first = today.checked_add((7 * step - monday).days()).ok()?;
            format!("the week of {first}")
        }
        "month" => {
            let month = today.first_of_month().checked_add(step.months()).ok()?;
            month.strftime("%Y-%m").to_string()
        }
        "year" => i64::from(today.year()).checked_add(step)?.to_string(),
        _ => return None,
    };
    Some(RelativeDate { words: 2, date })
}

/// Returns where words are: letters, digits and what joins them.
fn words_of(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut words = Vec::new();
    let mut from = None;
    for (at, character) in text.char_indices() {
        match (character.is_alphanumeric(), from) {
            (true, None) => from = Some(at),
            (false, Some(begin)) => {
                words.push(begin..at);
                from = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    words.extend(from.map(|begin| begin..text.len()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Wednesday.
    fn today() -> Date {
        jiff::civil::date(2026, 11, 25)
    }

    #[test]
    fn a_relative_date_has_its_day_behind_it() {
        for (said, kept) in [
            ("the flight is tomorrow", "the flight is tomorrow (2026-11-26)"),
            ("Yesterday was quiet.", "Yesterday (2026-11-24) was quiet."),
            ("the day after tomorrow, at 9", "the day after tomorrow (2026-11-27), at 9"),
            ("pay in 3 days or in a month", "pay in 3 days (2026-11-28) or in a month (2026-12-25)"),
            ("moved two years ago", "moved two years ago (2024-11-25)"),
            ("exam next Monday", "exam next Monday (2026-11-30)"),
            ("exam this wednesday", "exam this wednesday (2026-11-25)"),
            ("met last Friday", "met last Friday (2026-11-20)"),
            (
                "busy this week and next month",
                "busy this week (the week of 2026-11-23) and next month (2026-12)",
            ),
            ("retires next year", "retires next year (2027)"),
            ("zítra nebo tomorrow", "zítra nebo tomorrow (2026-11-26)"),
        ] {
            assert_eq!(with_absolute_dates(said, today()), kept);
        }
    }

    #[test]
    fn every_other_text_stays_as_it_is() {
        for said in [
            "",
            "likes tea",
            "swims every Monday",
            "tomorrow (2030-01-01) it ends",
            "in 99999999999999999999 days",
            "in 5000 days",
            "the tomorrows of others",
            "next door",
            "日本語 🦀 in",
        ] {
            assert_eq!(with_absolute_dates(said, today()), said);
        }
        let long = "tomorrow ".repeat(5_000);
        assert_eq!(with_absolute_dates(&long, today()), long);
    }

    #[test]
    fn the_edge_of_the_calendar_is_no_panic() {
        let last = Date::MAX;
        assert_eq!(
            with_absolute_dates("tomorrow, next week, in 9 years", last),
            "tomorrow, next week, in 9 years"
        );
    }
}
