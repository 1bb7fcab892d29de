//! Forms of intervals: `every 15 minutes`, `twice a day`, `every other monday at 9`. Owns which of them are cron lines.
//!
//! An interval that divides an hour or a day is a cron line, which people can move. The others count elapsed time.

use jiff::civil::{DateTime, Time};
use palyra_types::Timestamp;

use super::cursor::{WordCursor, weekday_of};
use super::days::{DayFields, days, times};
use super::local_clock::{after_minutes, next_local};
use super::{FormResult, WordsContext};
use crate::cron::planned_instant;
use crate::spec::ScheduleSpec;

const DAY_MINUTES: u32 = 24 * 60;

/// `every minute`, `every 15 minutes`, `every half hour`, `every 2 hours`.
pub(super) fn every_minutes_or_hours(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    let minutes = interval_minutes(words)?;
    Some(Ok(match interval_fields(minutes) {
        Some(fields) => context.cron(DayFields::every_day().line(&fields.minute, &fields.hour)),
        None => ScheduleSpec::Every { minutes, anchor: after_minutes(context.now, minutes)? },
    }))
}

/// `hourly`.
pub(super) fn hourly(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    words.take(&["hourly"])?;
    Some(Ok(context.cron("0 * * * *".to_owned())))
}

/// `every hour at minute 30`, `every hour at :30`, `hourly at minute 30`.
pub(super) fn minute_of_hours(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    if words.take(&["hourly"]).is_none() {
        words.take(&["every", "each"])?;
        words.take(&["hour"])?;
    }
    words.take_all(&["at", "minute"])?;
    let minute = words.number().filter(|minute| *minute < 60)?;
    Some(Ok(context.cron(format!("{minute} * * * *"))))
}

/// `twice a day`: during the day, at equal distances.
pub(super) fn times_a_day(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    let hours = if words.take(&["twice"]).is_some() {
        "8,20"
    } else {
        words.take_all(&["three", "times"])?;
        "8,14,20"
    };
    words.take(&["a", "per", "each", "every"])?;
    words.take(&["day"])?;
    Some(Ok(context.cron(format!("0 {hours} * * *"))))
}

/// `every 15 minutes between 9:00 and 17:00`, with days behind it. The last hour ends before its second time.
pub(super) fn between_hours(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    let minutes = interval_minutes(words)?;
    words.take(&["between", "from"])?;
    let first = words.time_of_day()?;
    words.take(&["and", "to", "until"])?;
    let last = words.time_of_day()?;
    let days = if words.is_at_end() { DayFields::every_day() } else { days(words)? };
    let is_whole = first.minute() == 0 && last.minute() == 0 && first.hour() < last.hour();
    let hours = format!("{}-{}", first.hour(), last.hour() - 1);
    let fields = interval_fields(minutes).filter(|_| is_whole)?;
    let hours = match fields.hour.strip_prefix('*')? {
        "" => hours,
        step if last.hour() - first.hour() > 1 => format!("{hours}{step}"),
        _ => return None,
    };
    Some(Ok(context.cron(days.line(&fields.minute, &hours))))
}

/// `every 3 days at 9`, `every other day at 9`, `every 2 weeks on monday at 9`, `every other monday at 9`.
pub(super) fn every_days_or_weeks(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    words.take(&["every", "each"])?;
    let count = if words.take(&["other", "second"]).is_some() { 2 } else { words.number()? };
    let is_single_day = words.take(&["day", "days"]).is_some();
    let weekday = if is_single_day {
        None
    } else if words.take(&["week", "weeks"]).is_some() {
        words.take(&["on"])?;
        Some(words.weekday()?)
    } else {
        Some(words.weekday_or_plural()?)
    };
    let times = times(words)?;
    let [time] = times.as_slice() else { return None };
    let first = first_local(context, weekday, *time)?;
    let anchor = Timestamp(planned_instant(first, context.zone)?.as_microsecond());
    let days = if is_single_day { count } else { count.checked_mul(7)? };
    Some(Ok(ScheduleSpec::Every {
        minutes: days.checked_mul(DAY_MINUTES).filter(|minutes| *minutes > 0)?,
        anchor,
    }))
}

fn first_local(context: &WordsContext<'_>, weekday: Option<u8>, time: Time) -> Option<DateTime> {
    let mut first = next_local(context, time)?;
    if let Some(weekday) = weekday.and_then(weekday_of) {
        while first.weekday() != weekday {
            first = first.tomorrow().ok()?;
        }
    }
    Some(first)
}

fn interval_minutes(words: &mut WordCursor<'_>) -> Option<u32> {
    words.take(&["every", "each"])?;
    if words.take_all(&["half", "hour"]).is_some() || words.take_all(&["half", "an", "hour"]).is_some() {
        return Some(30);
    }
    if words.take_all(&["quarter", "of", "an", "hour"]).is_some()
        || words.take_all(&["quarter", "hour"]).is_some()
    {
        return Some(15);
    }
    let count = words.number();
    let units: &[&str] = if count.is_some_and(|count| count != 1) {
        &["minutes", "hours", "min", "mins"]
    } else {
        &["minute", "hour", "minutes", "hours"]
    };
    let unit = words.take(units)?;
    let factor = if unit.starts_with("hour") { 60 } else { 1 };
    count.unwrap_or(1).checked_mul(factor).filter(|minutes| *minutes > 0)
}

/// Minute and hour of a cron line.
struct IntervalFields {
    minute: String,
    hour: String,
}

fn interval_fields(minutes: u32) -> Option<IntervalFields> {
    let step = |count: u32| if count == 1 { "*".to_owned() } else { format!("*/{count}") };
    if minutes < 60 && 60 % minutes == 0 {
        return Some(IntervalFields { minute: step(minutes), hour: "*".to_owned() });
    }
    let hours = minutes / 60;
    if !minutes.is_multiple_of(60) || hours >= 24 || !24_u32.is_multiple_of(hours) {
        return None;
    }
    Some(IntervalFields { minute: "0".to_owned(), hour: step(hours) })
}
