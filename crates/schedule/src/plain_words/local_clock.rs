//! The local clock of the person who writes. Owns the steps from now to a later time.

use jiff::Timestamp as Instant;
use jiff::civil::{DateTime, Time};
use palyra_types::Timestamp;

use super::WordsContext;
use crate::cron::planned_instant;

const MINUTE_MICROS: i64 = 60 * 1_000_000;

pub(super) fn local_now(context: &WordsContext<'_>) -> Option<DateTime> {
    Some(context.zone.to_datetime(Instant::from_microsecond(context.now.0).ok()?))
}

/// Returns the next local date that has a time of day after now.
pub(super) fn next_local(context: &WordsContext<'_>, time: Time) -> Option<DateTime> {
    let today = local_now(context)?.date().to_datetime(time);
    let is_later = planned_instant(today, context.zone)?.as_microsecond() > context.now.0;
    if is_later { Some(today) } else { today.tomorrow().ok() }
}

/// Returns the first whole minute that is at least so many minutes later.
pub(super) fn after_minutes(now: Timestamp, minutes: u32) -> Option<Timestamp> {
    let whole = now.0.checked_add(MINUTE_MICROS - 1)?.div_euclid(MINUTE_MICROS) * MINUTE_MICROS;
    whole.checked_add(i64::from(minutes).checked_mul(MINUTE_MICROS)?).map(Timestamp)
}
