//! Windows of time, in which a budget counts.
//!
//! Owns where a window begins and ends in a time zone. Knows no clock and no database of zones: the instant and the zone are
//! inputs, so the caller says which person's zone it is. Spans are recorded, so a replay needs no zone.
//!
//! Begin at [`SpanAt::span_at`].

use jiff::civil::Date;
use jiff::tz::TimeZone;
use palyra_types::Timestamp;
pub(crate) use palyra_types::budget::{WindowKind, WindowSpan};

const HOUR_MICROS: i64 = 60 * 60 * 1_000_000;

/// Works out windows in a time zone.
pub trait SpanAt {
    /// Returns the span of the window that contains `now` in a zone.
    ///
    /// A time outside of the calendar (the years -9999 to 9999) is in an endless span: a budget then stays as it is.
    #[must_use]
    fn span_at(self, now: Timestamp, zone: &TimeZone) -> WindowSpan;
}

impl SpanAt for WindowKind {
    fn span_at(self, now: Timestamp, zone: &TimeZone) -> WindowSpan {
        let span = match self {
            Self::Run | Self::Endless => None,
            Self::Hour => hour_at(now),
            Self::Day | Self::Week | Self::Month => calendar_span_at(self, now, zone),
        };
        span.unwrap_or(WindowSpan::ENDLESS)
    }
}

fn calendar_span_at(kind: WindowKind, now: Timestamp, zone: &TimeZone) -> Option<WindowSpan> {
    let instant = jiff::Timestamp::from_microsecond(now.0).ok()?;
    let first = first_day(kind, zone.to_datetime(instant).date())?;
    let next = next_first_day(kind, first)?;
    let start = start_of(first, zone)?;
    let end = start_of(next, zone)?;
    if now < start {
        // Clocks that go back over midnight repeat the end of a day.
        return Some(WindowSpan {
            start: start_of(first_day(kind, first.yesterday().ok()?)?, zone)?,
            end: start,
        });
    }
    if now >= end {
        return Some(WindowSpan { start: end, end: start_of(next_first_day(kind, next)?, zone)? });
    }
    Some(WindowSpan { start, end })
}

/// Returns the first day of the window that a day is in.
fn first_day(kind: WindowKind, day: Date) -> Option<Date> {
    match kind {
        WindowKind::Month => Some(day.first_of_month()),
        WindowKind::Week => {
            let days = day.weekday().to_monday_zero_offset();
            day.checked_sub(jiff::Span::new().days(i64::from(days))).ok()
        }
        WindowKind::Run | WindowKind::Hour | WindowKind::Day | WindowKind::Endless => Some(day),
    }
}

/// Returns the first day of the next window.
fn next_first_day(kind: WindowKind, first: Date) -> Option<Date> {
    match kind {
        WindowKind::Month => first.last_of_month().tomorrow().ok(),
        WindowKind::Week => first.checked_add(jiff::Span::new().days(7)).ok(),
        WindowKind::Run | WindowKind::Hour | WindowKind::Day | WindowKind::Endless => first.tomorrow().ok(),
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

#[cfg(test)]
mod tests;
