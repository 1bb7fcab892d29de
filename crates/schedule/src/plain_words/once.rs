//! Forms of one time: `in 20 minutes`, `tomorrow at 9`, `on 24 december at 18:00`, `at noon`. Owns the choice of the day.

use jiff::civil::{Date, DateTime};
use jiff::{Timestamp as Instant, ToSpan};
use palyra_types::Timestamp;

use super::cursor::{WordCursor, weekday_of};
use super::days::month_and_day;
use super::local_clock::{after_minutes, local_now, next_local};
use super::{FormResult, WordsContext};
use crate::cron::planned_instant;
use crate::spec::ScheduleSpec;

/// `in 20 minutes`, `in an hour`, `in half an hour`, `in 3 days`.
pub(super) fn in_a_while(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    words.take(&["in"])?;
    if words.take_all(&["half", "an", "hour"]).is_some() {
        return Some(Ok(at_instant(context, after_minutes(context.now, 30)?)?));
    }
    let count = if words.take(&["a", "an"]).is_some() { 1 } else { words.number()? };
    let unit = words.take(&["minute", "minutes", "hour", "hours", "day", "days", "week", "weeks"])?;
    let days = match unit.trim_end_matches('s') {
        "minute" => return Some(Ok(at_instant(context, after_minutes(context.now, count)?)?)),
        "hour" => return Some(Ok(at_instant(context, after_minutes(context.now, count.checked_mul(60)?)?)?)),
        "day" => i64::from(count),
        _ => i64::from(count) * 7,
    };
    // A day later is the same time of the local clock, as people count.
    let local = local_now(context)?.checked_add(days.min(100_000).days()).ok()?;
    let local = local.date().at(local.hour(), local.minute(), 0, 0);
    Some(Ok(at_local(context, local)))
}

/// `today at 17:00`, `tomorrow at 9`, `next monday at 9`, `on 2027-05-01 at 9`, `on 24 december at 18:00`.
pub(super) fn day_then_time(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    let today = local_now(context)?.date();
    let day = if words.take(&["today"]).is_some() {
        today
    } else if words.take(&["tomorrow"]).is_some() {
        today.tomorrow().ok()?
    } else {
        words.take(&["on", "next"]);
        named_day(words, today)?
    };
    words.take(&["at"])?;
    let time = words.time_of_day()?;
    Some(Ok(at_local(context, day.to_datetime(time))))
}

/// `at noon`, `at 9 tomorrow`, `at 18:00 today`.
pub(super) fn time_then_day(words: &mut WordCursor<'_>, context: &WordsContext<'_>) -> FormResult {
    words.take(&["at"])?;
    let time = words.time_of_day()?;
    let today = local_now(context)?.date();
    let local = match words.take(&["today", "tomorrow"]) {
        Some("today") => today.to_datetime(time),
        Some(_) => today.tomorrow().ok()?.to_datetime(time),
        None => next_local(context, time)?,
    };
    Some(Ok(at_local(context, local)))
}

fn named_day(words: &mut WordCursor<'_>, today: Date) -> Option<Date> {
    if let Some(date) = words.iso_date() {
        return Some(date);
    }
    if let Some(weekday) = words.weekday() {
        return today.nth_weekday(1, weekday_of(weekday)?).ok();
    }
    let day = month_and_day(words)?;
    if let Some(year) = words.number() {
        return Date::new(i16::try_from(year).ok()?, day.month, day.day).ok();
    }
    // 29 February is in one of the next eight years.
    (0..=8)
        .filter_map(|years| Date::new(today.year().checked_add(years)?, day.month, day.day).ok())
        .find(|date| *date >= today)
}

fn at_local(context: &WordsContext<'_>, local: DateTime) -> ScheduleSpec {
    ScheduleSpec::At {
        local: local.strftime("%Y-%m-%dT%H:%M").to_string(),
        zone: context.zone_name.to_owned(),
    }
}

/// Returns a specification of an instant: the local time, with its offset if the clock shows it twice.
fn at_instant(context: &WordsContext<'_>, instant: Timestamp) -> Option<ScheduleSpec> {
    let planned = Instant::from_microsecond(instant.0).ok()?;
    let local = context.zone.to_datetime(planned);
    if planned_instant(local, context.zone) == Some(planned) {
        return Some(at_local(context, local));
    }
    let offset = planned.to_zoned(context.zone.clone());
    Some(ScheduleSpec::At {
        local: offset.strftime("%Y-%m-%dT%H:%M%:z").to_string(),
        zone: context.zone_name.to_owned(),
    })
}
