//! Points in time. Who wants to know what time it is asks the clock port; here are only values.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Wall-clock time in microseconds since the Unix epoch, UTC. Informative: order is given by sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns milliseconds since the Unix epoch; zero for times before it.
    #[must_use]
    pub fn unix_ms(self) -> u64 {
        u64::try_from(self.0 / 1_000).unwrap_or(0)
    }

    /// Returns this time plus `span`, saturating.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Returns the span since `earlier`; zero when `earlier` is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Microseconds of a day.
const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// A day of UTC, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct UtcDay(pub i32);

impl UtcDay {
    /// Returns the first moment of the day, saturating.
    #[must_use]
    pub fn start(self) -> Timestamp {
        Timestamp(i64::from(self.0).saturating_mul(DAY_MICROS))
    }

    /// Returns the day that is so many days before this one, saturating.
    #[must_use]
    pub fn minus(self, days: u32) -> Self {
        Self(self.0.saturating_sub_unsigned(days))
    }
}

impl From<Timestamp> for UtcDay {
    /// Returns the day that a time is in.
    fn from(time: Timestamp) -> Self {
        Self(i32::try_from(time.0.div_euclid(DAY_MICROS)).expect("all times are within 600,000 years"))
    }
}

/// Monotonic time in microseconds since the machine (or a simulation) started; counts sleep, never jumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct BootTime(pub u64);

impl BootTime {
    /// Returns this time plus `span`, saturating.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(span.as_micros()).unwrap_or(u64::MAX)))
    }

    /// Returns the span since `earlier`; zero when `earlier` is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_the_times_from_its_first_moment_to_the_next_day() {
        for day in [-1, 0, 1, 20_000].map(UtcDay) {
            let next = UtcDay(day.0 + 1).start();
            assert_eq!(UtcDay::from(day.start()), day);
            assert_eq!(UtcDay::from(Timestamp(next.0 - 1)), day);
            assert_eq!(UtcDay(day.0 + 1).minus(1), day);
        }
        assert_eq!(UtcDay::from(Timestamp(i64::MAX)).start().0 / DAY_MICROS, i64::MAX / DAY_MICROS);
        assert_eq!(UtcDay(i32::MIN).minus(3).start(), Timestamp(i64::MIN));
    }
}
