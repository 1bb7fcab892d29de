//! Forms with days and times of day: `every weekday at 8`, `on the first of each month at 9`. Owns the three day fields.

use jiff::civil::Time;

use super::cursor::WordCursor;
use super::{FormResult, UnreadableWords, WordsContext};

/// Day of month, month and day of week of a cron line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DayFields {
    day: String,
    month: String,
    weekday: String,
}

impl DayFields {
    pub(super) const fn every_day() -> Self {
        Self { day: String::new(), month: String::new(), weekday: String::new() }
    }

    fn of_weekdays(weekday: String) -> Self {
        Self { weekday, ..Self::every_day() }
    }

    /// Returns a cron line with these fields.
    pub(super) fn line(&self, minute: &str, hour: &str) -> String {
        let field = |text: &str| if text.is_empty() { "*".to_owned() } else { text.to_owned() };
        format!("{minute} {hour} {} {} {}", field(&self.day), field(&self.month), field(&self.weekday))
    }
}

pub(super) fn days_then_times(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    let days = days(words)?;
    let times = times(words)?;
    Some(line_of(&days, &times).map(|line| context.cron(line)))
}

pub(super) fn times_then_days(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    let times = times(words)?;
    let days = days(words)?;
    Some(line_of(&days, &times).map(|line| context.cron(line)))
}

pub(super) fn days_without_time(words: &mut WordCursor<'_>, _context: &WordsContext<'_>) -> FormResult {
    days(words)?;
    Some(Err(UnreadableWords::NoTime { text: words.text() }))
}

fn line_of(days: &DayFields, times: &[Time]) -> Result<String, UnreadableWords> {
    let minute = times.first().map_or(0, |time| time.minute());
    if times.iter().any(|time| time.minute() != minute) {
        return Err(UnreadableWords::DifferentMinutes);
    }
    let mut hours: Vec<i8> = times.iter().map(|time| time.hour()).collect();
    hours.sort_unstable();
    hours.dedup();
    let hours: Vec<String> = hours.iter().map(ToString::to_string).collect();
    Ok(days.line(&minute.to_string(), &hours.join(",")))
}

/// Reads `at 8`, `at 8 and 17:00`.
pub(super) fn times(words: &mut WordCursor<'_>) -> Option<Vec<Time>> {
    words.take(&["at"])?;
    let mut times = vec![words.time_of_day()?];
    while words.take(&["and"]).is_some() {
        words.take(&["at"]);
        times.push(words.time_of_day()?);
    }
    Some(times)
}

/// Reads days that recur.
pub(super) fn days(words: &mut WordCursor<'_>) -> Option<DayFields> {
    if words.take(&["daily"]).is_some() || words.take_all(&["once", "a", "day"]).is_some() {
        return Some(DayFields::every_day());
    }
    if words.take(&["yearly", "annually"]).is_some() {
        words.take(&["on"])?;
        return day_of_year(words);
    }
    if words.take(&["monthly"]).is_some() {
        words.take_all(&["on", "the"])?;
        return day_of_month(words);
    }
    if words.take_all(&["on", "the"]).is_some() {
        let fields = day_of_month(words)?;
        words.take(&["of"])?;
        words.take(&["each", "every", "the"])?;
        words.take(&["month"])?;
        return Some(fields);
    }
    let is_every = words.take(&["every", "each"]).is_some();
    if is_every {
        if words.take(&["day"]).is_some() {
            return Some(DayFields::every_day());
        }
        if words.take_all(&["year", "on"]).is_some() {
            return day_of_year(words);
        }
        if words.take_all(&["month", "on", "the"]).is_some() {
            return day_of_month(words);
        }
    } else {
        words.take(&["on", "from"]);
    }
    weekdays(words, is_every)
}

/// Reads `weekdays`, `mondays and fridays`, `monday to friday`. A single `monday` recurs only behind `every`.
fn weekdays(words: &mut WordCursor<'_>, is_every: bool) -> Option<DayFields> {
    if words.take(if is_every { &["weekday"] } else { &["weekdays"] }).is_some() {
        return Some(DayFields::of_weekdays("1-5".to_owned()));
    }
    if words.take(if is_every { &["weekend"] } else { &["weekends"] }).is_some() {
        return Some(DayFields::of_weekdays("6,0".to_owned()));
    }
    let mut recurs = is_every || words.is_plural_weekday();
    let first = words.weekday_or_plural()?;
    if words.take(&["to", "through", "until"]).is_some() {
        let last = words.weekday_or_plural()?;
        // Cron's week ends with the second Sunday, 7.
        let last = if last == 0 { 7 } else { last };
        return (first < last).then(|| DayFields::of_weekdays(format!("{first}-{last}")));
    }
    let mut numbers = vec![first];
    while words.take(&["and"]).is_some() {
        recurs |= is_every || words.is_plural_weekday();
        numbers.push(words.weekday_or_plural()?);
    }
    numbers.sort_unstable();
    numbers.dedup();
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    recurs.then(|| DayFields::of_weekdays(numbers.join(",")))
}

/// Reads `first`, `15th`, `last day`, `second friday`.
fn day_of_month(words: &mut WordCursor<'_>) -> Option<DayFields> {
    if words.take_all(&["last", "day"]).is_some() {
        return Some(DayFields { day: "L".to_owned(), ..DayFields::every_day() });
    }
    if let Some(fields) = words.attempt(|words| {
        let week = words.week_of_month()?;
        let weekday = words.weekday()?;
        Some(DayFields::of_weekdays(format!("{weekday}#{week}")))
    }) {
        return Some(fields);
    }
    let mut days = vec![words.day_of_month()?];
    words.take(&["day"]);
    while words.take(&["and"]).is_some() {
        words.take(&["the"]);
        days.push(words.day_of_month()?);
    }
    days.sort_unstable();
    days.dedup();
    let days: Vec<String> = days.iter().map(ToString::to_string).collect();
    Some(DayFields { day: days.join(","), ..DayFields::every_day() })
}

/// Reads `1 may`, `may 1st`, `the 1st of may`.
fn day_of_year(words: &mut WordCursor<'_>) -> Option<DayFields> {
    let date = month_and_day(words)?;
    Some(DayFields { day: date.day.to_string(), month: date.month.to_string(), ..DayFields::every_day() })
}

/// A day of any year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct YearDay {
    pub(super) month: i8,
    pub(super) day: i8,
}

pub(super) fn month_and_day(words: &mut WordCursor<'_>) -> Option<YearDay> {
    if let Some(month) = words.month() {
        return words.day_of_month().map(|day| YearDay { month, day });
    }
    words.take(&["the"]);
    let day = words.day_of_month()?;
    words.take(&["of"]);
    words.month().map(|month| YearDay { month, day })
}
