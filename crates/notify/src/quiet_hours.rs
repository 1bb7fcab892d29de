//! Hours in which only critical things are sent, by the clock of a place.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use palyra_types::Timestamp;

/// Hours of each day, from one local time until another one; over midnight where the second is not later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuietHours {
    from: Time,
    until: Time,
    zone: TimeZone,
}

/// The quiet hours of one night, as points in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuietSpan {
    /// When they begin.
    pub begin: Timestamp,
    /// When they are over.
    pub end: Timestamp,
}

/// Why quiet hours cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuietHours {
    /// A time is not one of a day.
    #[error("`{0}` is not a time of a day; write hours and minutes, such as 22:00")]
    Time(String),
    /// They would last for a whole day or for no time.
    #[error("quiet hours begin and end at {0}; choose two different times")]
    Empty(String),
    /// The zone has no entry in the time zone database.
    #[error("`{0}` is not a time zone; write one of the IANA database, such as Europe/Prague")]
    Zone(String),
}

impl QuietHours {
    /// Reads quiet hours. An empty zone is UTC.
    ///
    /// # Errors
    /// [`InvalidQuietHours`].
    pub fn parse(from: &str, until: &str, zone: &str) -> Result<Self, InvalidQuietHours> {
        let zone = match zone {
            "" => TimeZone::UTC,
            name => {
                let found = TimeZone::get(name).ok().filter(|zone| zone.iana_name().is_some());
                found.ok_or_else(|| InvalidQuietHours::Zone(name.to_owned()))?
            }
        };
        let hours = Self { from: time(from)?, until: time(until)?, zone };
        if hours.from == hours.until { Err(InvalidQuietHours::Empty(from.to_owned())) } else { Ok(hours) }
    }

    /// Returns the quiet hours that a point in time is in.
    #[must_use]
    pub fn span_at(&self, at: Timestamp) -> Option<QuietSpan> {
        let instant = jiff::Timestamp::from_microsecond(at.0).ok()?;
        let day = self.zone.to_datetime(instant).date();
        // Hours over midnight began on the day before.
        let begins = [day.yesterday().ok(), Some(day)];
        let mut spans = begins.into_iter().flatten().filter_map(|day| self.beginning_on(day));
        spans.find(|span| span.begin <= at && at < span.end)
    }

    fn beginning_on(&self, day: Date) -> Option<QuietSpan> {
        let last_day = if self.until <= self.from { day.tomorrow().ok()? } else { day };
        Some(QuietSpan { begin: self.instant(day, self.from)?, end: self.instant(last_day, self.until)? })
    }

    /// Returns when a place reaches a local time. One that a clock skips is reached as much later as the clock moves; of one
    /// that comes twice, the first counts.
    fn instant(&self, day: Date, time: Time) -> Option<Timestamp> {
        let zoned = self.zone.to_ambiguous_zoned(day.to_datetime(time)).compatible().ok()?;
        Some(Timestamp(zoned.timestamp().as_microsecond()))
    }
}

/// Reads `HH:MM` and nothing else.
fn time(text: &str) -> Result<Time, InvalidQuietHours> {
    let invalid = || InvalidQuietHours::Time(text.to_owned());
    let (hour, minute) = text.split_once(':').ok_or_else(invalid)?;
    let hour = two_digits(hour).ok_or_else(invalid)?;
    let minute = two_digits(minute).ok_or_else(invalid)?;
    Time::new(hour, minute, 0, 0).map_err(|_| invalid())
}

fn two_digits(digits: &str) -> Option<i8> {
    let is_plain = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_plain.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
