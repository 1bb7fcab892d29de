//! The local dates and times of a cron line, in 200 bytes instead of the library's 6,000.
//!
//! Owns the search. The library `croner` reads the line and decides which days match; its answers for each form of a month
//! (28 to 31 days, beginning on one of seven weekdays) are kept as bits.

use croner::Cron;
use croner::errors::CronError;
use jiff::civil::{Date, DateTime};

/// Months of the horizon: 50 years. Five Mondays in a February recur after 40 years at most.
const HORIZON_MONTHS: usize = 50 * 12;
const SHORTEST_MONTH: usize = 28;

/// Which dates and times match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalPattern {
    minutes: u64,
    hours: u64,
    months: u64,
    /// Days by days of the month (28 to 31) and weekday of its first day (0 is Sunday).
    days: [[u32; 7]; 4],
}

impl LocalPattern {
    /// Makes the bits of a line of five fields.
    pub(crate) fn parse(line: &str) -> Result<Self, CronError> {
        let cron: Cron = line.parse()?;
        let matches_each_day = cron.pattern.is_dom_wildcard() && cron.pattern.is_dow_wildcard();
        let mut days = [[matches_each_day.then_some(u32::MAX); 7]; 4];
        let mut first = Date::constant(2001, 1, 1);
        // Every form of a month occurs within 28 years without a turn of a century.
        for _ in 0..if matches_each_day { 0 } else { 28 * 12 } {
            let (length, weekday) = form_of(first);
            if let Some(bits) = days.get_mut(length).and_then(|row| row.get_mut(weekday))
                && bits.is_none()
            {
                *bits = Some(month_bits(&cron, first)?);
            }
            first = next_month(first).ok_or(CronError::InvalidDate)?;
        }
        Ok(Self {
            minutes: bits_of(&cron.pattern.minutes.values()),
            hours: bits_of(&cron.pattern.hours.values()),
            months: bits_of(&cron.pattern.months.values()),
            days: days.map(|row| row.map(Option::unwrap_or_default)),
        })
    }

    /// Returns the first matching local time that is not before `from`; `None` if none is within 50 years.
    pub(crate) fn first_from(&self, from: DateTime) -> Option<DateTime> {
        let mut from = whole_minute(from)?;
        for _ in 0..HORIZON_MONTHS {
            if let Some(found) = self.first_in_month(from) {
                return Some(found);
            }
            from = next_month(from.date())?.at(0, 0, 0, 0);
        }
        None
    }

    fn first_in_month(&self, mut from: DateTime) -> Option<DateTime> {
        if self.months >> from.month() & 1 == 0 {
            return None;
        }
        let (length, weekday) = form_of(from.date().first_of_month());
        let days = u64::from(*self.days.get(length)?.get(weekday)?);
        loop {
            let day = next_bit(days, from.day())?;
            if day != from.day() {
                from = Date::new(from.year(), from.month(), day).ok()?.at(0, 0, 0, 0);
            }
            if let Some(found) = self.next_time(from) {
                return Some(found);
            }
            from = Date::new(from.year(), from.month(), next_bit(days, day + 1)?).ok()?.at(0, 0, 0, 0);
        }
    }

    /// Returns the first matching time of the day of `from` that is not before it.
    fn next_time(&self, from: DateTime) -> Option<DateTime> {
        let hour = next_bit(self.hours, from.hour())?;
        let minute = if hour == from.hour() { next_bit(self.minutes, from.minute()) } else { None };
        if let Some(minute) = minute {
            return Some(from.date().at(hour, minute, 0, 0));
        }
        let hour = if hour == from.hour() { next_bit(self.hours, hour + 1)? } else { hour };
        Some(from.date().at(hour, next_bit(self.minutes, 0)?, 0, 0))
    }
}

/// Returns the row and column of a month in the table of days.
fn form_of(first: Date) -> (usize, usize) {
    let length = usize::from(first.days_in_month().unsigned_abs());
    let weekday = usize::from(first.weekday().to_sunday_zero_offset().unsigned_abs());
    (length.saturating_sub(SHORTEST_MONTH), weekday)
}

fn next_month(date: Date) -> Option<Date> {
    date.last_of_month().tomorrow().ok()
}

fn month_bits(cron: &Cron, first: Date) -> Result<u32, CronError> {
    let mut bits = 0;
    for date in first.series(jiff::Span::new().days(1)).take_while(|date| date.month() == first.month()) {
        let day = u32::from(date.day().unsigned_abs());
        let weekday = croner::Weekday::from_days_from_sunday(u32::from(
            date.weekday().to_sunday_zero_offset().unsigned_abs(),
        ));
        let month = u32::from(date.month().unsigned_abs());
        if cron.pattern.day_match(i32::from(date.year()), month, day, weekday)? {
            bits |= 1 << day;
        }
    }
    Ok(bits)
}

fn bits_of(values: &[u16]) -> u64 {
    values.iter().fold(0, |bits, value| bits | 1 << (value & 63))
}

/// Returns the lowest set bit that is not below `from`.
fn next_bit(bits: u64, from: i8) -> Option<i8> {
    let from = u32::from(from.unsigned_abs());
    let rest = bits.checked_shr(from)?;
    (rest != 0).then(|| i8::try_from(from + rest.trailing_zeros()).ok()).flatten()
}

/// Returns the time itself if it is a whole minute, else the next one.
fn whole_minute(time: DateTime) -> Option<DateTime> {
    let floor = time.date().at(time.hour(), time.minute(), 0, 0);
    if floor == time { Some(time) } else { floor.checked_add(jiff::Span::new().minutes(1)).ok() }
}
