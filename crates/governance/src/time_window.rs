//! Windows of time, in which a budget counts.
//!
//! Owns where a window begins and ends in a time zone. Knows no clock and no database of zones: the instant and the zone are
//! inputs, so the caller says which person's zone it is. Spans are recorded, so a replay needs no zone.
//!
//! Begin at [`WindowKind::span_at`].

use jiff::civil::Date;
use jiff::tz::TimeZone;
use palyra_types::Timestamp;

const HOUR_MICROS: i64 = 60 * 60 * 1_000_000;

/// How long a budget counts before it begins again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WindowKind {
    /// Each run has an account of its own.
    Run,
    /// An hour of the clock. Its limits are those of UTC in every zone.
    Hour,
    /// A day of the zone, which may have 23 or 25 hours.
    Day,
    /// Monday to Sunday in the zone.
    Week,
    /// A month of the zone.
    Month,
    /// It never begins again.
    Endless,
}

impl WindowKind {
    /// Every kind with its word.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Run, "run"),
        (Self::Hour, "hour"),
        (Self::Day, "day"),
        (Self::Week, "week"),
        (Self::Month, "month"),
        (Self::Endless, "none"),
    ];

    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// Returns the kind of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }

    /// Returns the span of the window that contains `now` in a zone.
    ///
    /// A time outside of the calendar (the years -9999 to 9999) is in an endless span: a budget then stays as it is.
    #[must_use]
    pub fn span_at(self, now: Timestamp, zone: &TimeZone) -> WindowSpan {
        let span = match self {
            Self::Run | Self::Endless => None,
            Self::Hour => hour_at(now),
            Self::Day | Self::Week | Self::Month => self.calendar_span_at(now, zone),
        };
        span.unwrap_or(WindowSpan::ENDLESS)
    }

    fn calendar_span_at(self, now: Timestamp, zone: &TimeZone) -> Option<WindowSpan> {
        let instant = jiff::Timestamp::from_microsecond(now.0).ok()?;
        let first = self.first_day(zone.to_datetime(instant).date())?;
        let next = self.next_first_day(first)?;
        let start = start_of(first, zone)?;
        let end = start_of(next, zone)?;
        if now < start {
            // Clocks that go back over midnight repeat the end of a day.
            return Some(WindowSpan {
                start: start_of(self.first_day(first.yesterday().ok()?)?, zone)?,
                end: start,
            });
        }
        if now >= end {
            return Some(WindowSpan { start: end, end: start_of(self.next_first_day(next)?, zone)? });
        }
        Some(WindowSpan { start, end })
    }

    /// Returns the first day of the window that a day is in.
    fn first_day(self, day: Date) -> Option<Date> {
        match self {
            Self::Month => Some(day.first_of_month()),
            Self::Week => {
                let days = day.weekday().to_monday_zero_offset();
                day.checked_sub(jiff::Span::new().days(i64::from(days))).ok()
            }
            Self::Run | Self::Hour | Self::Day | Self::Endless => Some(day),
        }
    }

    /// Returns the first day of the next window.
    fn next_first_day(self, first: Date) -> Option<Date> {
        match self {
            Self::Month => first.last_of_month().tomorrow().ok(),
            Self::Week => first.checked_add(jiff::Span::new().days(7)).ok(),
            Self::Run | Self::Hour | Self::Day | Self::Endless => first.tomorrow().ok(),
        }
    }
}

fn hour_at(now: Timestamp) -> Option<WindowSpan> {
    let start = now.0.div_euclid(HOUR_MICROS).checked_mul(HOUR_MICROS)?;
    Some(WindowSpan { start: Timestamp(start), end: Timestamp(start.checked_add(HOUR_MICROS)?) })
}

/// Returns the first instant of a day: where clocks skip midnight, the instant after the gap.
fn start_of(day: Date, zone: &TimeZone) -> Option<Timestamp> {
    let start = day.to_zoned(zone.clone()).ok()?;
    Some(Timestamp(start.timestamp().as_microsecond()))
}

/// One window: from its start to just before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowSpan {
    /// The first instant.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
}

impl WindowSpan {
    /// All of time.
    pub const ENDLESS: Self = Self { start: Timestamp(i64::MIN), end: Timestamp(i64::MAX) };

    /// Returns whether it begins after another one has ended. Only such a window may replace the other: one that begins
    /// inside of it, because clock or zone changed, does not.
    #[must_use]
    pub fn follows(self, other: Self) -> bool {
        self.start >= other.end
    }

    /// Returns when the account begins again; `None` when it never does.
    #[must_use]
    pub fn resets(self) -> Option<Timestamp> {
        (self.end != Self::ENDLESS.end).then_some(self.end)
    }
}

#[cfg(test)]
mod tests;
