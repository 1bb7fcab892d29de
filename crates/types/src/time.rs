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
