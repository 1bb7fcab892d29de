//! When a schedule is due: a cron line in a time zone, an interval, or one time.
//!
//! Owns the specification as text, which is recorded, and the planned times that are read from it. Time zones are an input: the
//! caller hands in the database, so a replay with other rules of zones plans other instants but needs no disk.
//!
//! Begin at [`PlannedTimes::new`].

use std::fmt;

use jiff::Timestamp as Instant;
use jiff::civil::DateTime;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use palyra_types::Timestamp;

use crate::cron::{ClockOddity, CronLine, planned_instant};
use crate::spec_error::InvalidSpec;

/// The smallest interval, in minutes.
pub const EVERY_MINUTES_MIN: u32 = 1;
/// The longest interval: ten years, in minutes.
pub const EVERY_MINUTES_MAX: u32 = 3_653 * 24 * 60;
const MINUTE_MICROS: i64 = 60 * 1_000_000;

/// When a schedule is due, as it is recorded and shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ScheduleSpec {
    /// At the times of a cron line.
    Cron {
        /// Minute, hour, day of month, month, day of week.
        line: String,
        /// The IANA name of the zone.
        zone: String,
    },
    /// Each time an interval has passed.
    Every {
        /// The interval in minutes.
        minutes: u32,
        /// The first occurrence; the others follow it in elapsed time.
        anchor: Timestamp,
    },
    /// Once.
    At {
        /// The local time, like `2027-03-14T02:30`; with an offset behind it where the clock shows it twice.
        local: String,
        /// The IANA name of the zone.
        zone: String,
    },
}

impl fmt::Display for ScheduleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cron { line, zone } => write!(f, "cron {line} ({zone})"),
            Self::Every { minutes, .. } if minutes.is_multiple_of(60 * 24) => {
                write_count(f, minutes / (60 * 24), "day")
            }
            Self::Every { minutes, .. } if minutes.is_multiple_of(60) => write_count(f, minutes / 60, "hour"),
            Self::Every { minutes, .. } => write_count(f, *minutes, "minute"),
            Self::At { local, zone } => write!(f, "at {} ({zone})", local.replace('T', " ")),
        }
    }
}

fn write_count(f: &mut fmt::Formatter<'_>, count: u32, unit: &str) -> fmt::Result {
    if count == 1 { write!(f, "every {unit}") } else { write!(f, "every {count} {unit}s") }
}

/// The planned instants of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTimes {
    source: TimeSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TimeSource {
    Cron { line: CronLine, zone: TimeZone },
    Every { interval_micros: i64, anchor: Timestamp },
    Once { planned: Timestamp },
}

impl PlannedTimes {
    /// Reads a specification.
    ///
    /// # Errors
    /// [`InvalidSpec`] names the wrong part and says how to correct it.
    pub fn new(spec: &ScheduleSpec, zones: &TimeZoneDatabase) -> Result<Self, InvalidSpec> {
        let source = match spec {
            ScheduleSpec::Cron { line, zone } => {
                TimeSource::Cron { line: CronLine::parse(line)?, zone: find_zone(zone, zones)? }
            }
            ScheduleSpec::Every { minutes, anchor } => {
                if !(EVERY_MINUTES_MIN..=EVERY_MINUTES_MAX).contains(minutes) {
                    return Err(InvalidSpec::Interval { minutes: *minutes, minutes_max: EVERY_MINUTES_MAX });
                }
                TimeSource::Every { interval_micros: i64::from(*minutes) * MINUTE_MICROS, anchor: *anchor }
            }
            ScheduleSpec::At { local, zone } => {
                let zone = find_zone(zone, zones)?;
                let planned = local_instant(local, &zone);
                let planned = planned.ok_or_else(|| InvalidSpec::LocalTime { text: local.clone() })?;
                TimeSource::Once { planned: Timestamp(planned.as_microsecond()) }
            }
        };
        Ok(Self { source })
    }

    /// Reads a specification that a person is about to save, and demands that it has an occurrence after `now`.
    ///
    /// # Errors
    /// [`InvalidSpec`], also for a cron line that never fires and for a time that is over.
    pub fn for_new(
        spec: &ScheduleSpec,
        zones: &TimeZoneDatabase,
        now: Timestamp,
    ) -> Result<Self, InvalidSpec> {
        let planned_times = Self::new(spec, zones)?;
        if planned_times.next_after(now).is_some() {
            return Ok(planned_times);
        }
        Err(match planned_times.source {
            TimeSource::Cron { line, .. } => InvalidSpec::NeverFires { line: line.text().to_owned() },
            TimeSource::Every { .. } => InvalidSpec::Past { planned: None },
            TimeSource::Once { planned } => InvalidSpec::Past { planned: Some(planned) },
        })
    }

    /// Returns the first planned instant later than `after`.
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        match &self.source {
            TimeSource::Cron { line, zone } => {
                let after = Instant::from_microsecond(after.0).ok()?;
                line.next_after(after, zone).map(|planned| Timestamp(planned.as_microsecond()))
            }
            TimeSource::Every { interval_micros, anchor } => {
                if after < *anchor {
                    return Some(*anchor);
                }
                let passed = after.0.checked_sub(anchor.0)? / interval_micros;
                anchor.0.checked_add(passed.checked_add(1)?.checked_mul(*interval_micros)?).map(Timestamp)
            }
            TimeSource::Once { planned } => (*planned > after).then_some(*planned),
        }
    }

    /// Returns what a change of the local clock does to a planned instant of a cron line.
    #[must_use]
    pub fn oddity_of(&self, planned: Timestamp) -> Option<ClockOddity> {
        match &self.source {
            TimeSource::Cron { line, zone } => {
                line.oddity_of(Instant::from_microsecond(planned.0).ok()?, zone)
            }
            TimeSource::Every { .. } | TimeSource::Once { .. } => None,
        }
    }

    /// Returns the planned instants later than `after`, in order.
    pub fn iter_after(&self, after: Timestamp) -> impl Iterator<Item = Timestamp> + '_ {
        std::iter::successors(self.next_after(after), |planned| self.next_after(*planned))
    }
}

/// Reads a local time; one with an offset is an instant, which names one of the two times of an overlap.
fn local_instant(text: &str, zone: &TimeZone) -> Option<Instant> {
    if let Ok(instant) = text.parse::<Instant>() {
        return Some(instant);
    }
    text.parse::<DateTime>().ok().and_then(|local| planned_instant(local, zone))
}

/// Finds a zone by its IANA name.
///
/// # Errors
/// [`InvalidSpec::UnknownZone`], with a similar name if there is one.
pub fn find_zone(name: &str, zones: &TimeZoneDatabase) -> Result<TimeZone, InvalidSpec> {
    zones.get(name).map_err(|_| InvalidSpec::UnknownZone {
        name: name.to_owned(),
        suggestion: similar_zone(name, zones),
    })
}

fn similar_zone(name: &str, zones: &TimeZoneDatabase) -> Option<String> {
    let city = |text: &str| -> String {
        let last = text.rsplit('/').next().unwrap_or(text);
        last.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let wanted = city(name);
    let mut names: Vec<String> =
        zones.available().map(|zone| zone.to_string()).filter(|zone| zone.contains('/')).collect();
    names.sort();
    let prefix: String = wanted.chars().take(4).collect();
    let by_city = names.iter().find(|zone| city(zone) == wanted);
    by_city
        .or_else(|| names.iter().find(|zone| prefix.len() == 4 && city(zone).starts_with(&prefix)))
        .cloned()
}

#[cfg(test)]
mod tests;
