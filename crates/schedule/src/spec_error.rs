//! Errors of a schedule's specification. Each names the part that is wrong and says how to correct it.

use palyra_types::Timestamp;

/// A field of a cron line, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronField {
    /// Minutes from 0 to 59.
    Minute,
    /// Hours from 0 to 23.
    Hour,
    /// Days from 1 to 31, or `L`.
    DayOfMonth,
    /// Months from 1 to 12, or names.
    Month,
    /// Days from 0 (Sunday) to 7 (Sunday), or names, also with `#` and the week of the month.
    DayOfWeek,
}

const MONTH_NAMES: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAY_NAMES: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl CronField {
    /// All fields in the order of a line.
    pub const ALL: [Self; 5] = [Self::Minute, Self::Hour, Self::DayOfMonth, Self::Month, Self::DayOfWeek];

    /// Returns the lowest and the highest number.
    #[must_use]
    pub fn range(self) -> (u8, u8) {
        match self {
            Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::DayOfWeek => (0, 7),
        }
    }

    pub(crate) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Minute | Self::Hour | Self::DayOfMonth => &[],
            Self::Month => &MONTH_NAMES,
            Self::DayOfWeek => &WEEKDAY_NAMES,
        }
    }

    /// Returns the unit in which the numbers start again.
    pub(crate) fn parent(self) -> &'static str {
        match self {
            Self::Minute => "hour",
            Self::Hour => "day",
            Self::DayOfMonth => "month",
            Self::Month => "year",
            Self::DayOfWeek => "week",
        }
    }

    pub(crate) fn expected(self) -> String {
        let (low, high) = self.range();
        match self {
            Self::Minute | Self::Hour => format!("write `*` or numbers from {low} to {high}"),
            Self::DayOfMonth => format!("write `*`, numbers from {low} to {high}, or `L` for the last day"),
            Self::Month => format!("write `*`, numbers from {low} to {high}, or names from JAN to DEC"),
            Self::DayOfWeek => {
                "write `*`, numbers from 0 (Sunday) to 7 (Sunday), or names from SUN to SAT".to_owned()
            }
        }
    }
}

impl std::fmt::Display for CronField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
        })
    }
}

/// Why a specification is not valid.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSpec {
    /// The cron line has too few or too many fields.
    #[error(
        "a cron line has 5 fields (minute, hour, day of month, month, day of week), this one has {count}{}",
        if *.count == 6 { ": remove the field of seconds, the smallest interval is one minute" } else { "" }
    )]
    FieldCount {
        /// Fields of the line.
        count: usize,
    },
    /// The cron line is too long.
    #[error("the cron line is longer than {bytes_max} bytes: use ranges and steps instead of long lists")]
    CronTooLong {
        /// Bytes of a line, at most.
        bytes_max: usize,
    },
    /// A part of a field is not valid.
    #[error("`{item}` is not valid in the field `{field}`: {mend}")]
    CronItem {
        /// The field.
        field: CronField,
        /// The item of its list.
        item: String,
        /// How to correct it.
        mend: String,
    },
    /// The library that searches the times refuses the line.
    #[error("the cron line `{line}` cannot be read: simplify its fields")]
    Unreadable {
        /// The line.
        line: String,
        /// The library's reason.
        #[source]
        cause: croner::errors::CronError,
    },
    /// No date matches.
    #[error("the cron line `{line}` has no occurrence in 50 years: check that its days exist in its months")]
    NeverFires {
        /// The line.
        line: String,
    },
    /// The time zone is not known.
    #[error(
        "the time zone `{name}` is not known: write an IANA name{}",
        match .suggestion { Some(near) => format!(", for example `{near}`"), None => " such as `Europe/Prague`".to_owned() }
    )]
    UnknownZone {
        /// The name.
        name: String,
        /// A zone with a similar name.
        suggestion: Option<String>,
    },
    /// The interval is too short or too long.
    #[error("an interval of {minutes} minutes is not possible: write 1 to {minutes_max} minutes")]
    Interval {
        /// The interval.
        minutes: u32,
        /// The longest.
        minutes_max: u32,
    },
    /// The local time is not one.
    #[error("`{text}` is not a local time: write it like `2027-03-14T02:30`")]
    LocalTime {
        /// The text.
        text: String,
    },
    /// All times are over.
    #[error("the time is over: write a later one")]
    Past {
        /// The planned instant.
        planned: Option<Timestamp>,
    },
    /// The random delay is too long.
    #[error("a random delay of {seconds} seconds is not possible: write at most {seconds_max}")]
    Jitter {
        /// The delay.
        seconds: u32,
        /// The longest for these times.
        seconds_max: u32,
    },
    /// Too many missed occurrences are to be caught up.
    #[error("catching up {count} occurrences is not possible: write 1 to {count_max}")]
    CatchUp {
        /// The occurrences.
        count: u8,
        /// The most.
        count_max: u8,
    },
}
