//! Windows in which a budget counts, as they are recorded.
//!
//! Owns the kinds and the spans. Where a window begins in a time zone is worked out elsewhere.

use crate::Timestamp;

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
        (Self::Endless, "endless"),
    ];
}

crate::words::words_of_table!(WindowKind);

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
