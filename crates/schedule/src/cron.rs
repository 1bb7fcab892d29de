//! Cron lines of five fields: how they are read, and the instants that they plan in a time zone.
//!
//! Owns the grammar and the rule for changes of the clock. The library `croner` decides which local dates and times match; it is
//! never shown a time zone, because its own rule takes lists and ranges for intervals.
//!
//! Invariant: `next_after` rises, and no instant is planned twice. Begin at [`CronLine::parse`].

use jiff::Timestamp as Instant;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::local_pattern::LocalPattern;
use crate::spec_error::{CronField, InvalidSpec};

/// Length of a cron line, at most.
pub const CRON_BYTES_MAX: usize = 256;
/// Spans with a constant offset that are searched: some zones have four changes of the clock a year, for 50 years.
const SPANS_MAX: usize = 200;

/// How a cron line follows changes of the local clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockRule {
    /// Minute and hour are values, lists or ranges. A skipped time is planned at the end of the gap, a repeated one once.
    FixedTimes,
    /// Minute or hour has `*` or `/`. Planned is each instant at which the local clock shows a matching time.
    Intervals,
}

/// Why a planned instant differs from what a person may expect of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockOddity {
    /// The local clock skips the time of the line: the occurrence is at the end of the gap.
    EndOfGap,
    /// The local clock shows the time twice: the occurrence is at the first.
    FirstOfTwo,
    /// The local clock shows the time twice, and the line has an occurrence at both.
    OneOfTwo,
}

/// A cron line that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronLine {
    text: String,
    pattern: LocalPattern,
    rule: ClockRule,
}

impl CronLine {
    /// Reads a line of five fields: minute, hour, day of month, month, day of week.
    ///
    /// # Errors
    /// [`InvalidSpec`] names the field and says how to correct it.
    pub fn parse(line: &str) -> Result<Self, InvalidSpec> {
        if line.len() > CRON_BYTES_MAX {
            return Err(InvalidSpec::CronTooLong { bytes_max: CRON_BYTES_MAX });
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(InvalidSpec::FieldCount { count: fields.len() });
        };
        for (field, text) in CronField::ALL.into_iter().zip([minute, hour, day, month, weekday]) {
            check_field(field, text)?;
        }
        let rule = if format!("{minute}{hour}").contains(['*', '/']) {
            ClockRule::Intervals
        } else {
            ClockRule::FixedTimes
        };
        let text = fields.join(" ");
        let pattern = LocalPattern::parse(&text)
            .map_err(|cause| InvalidSpec::Unreadable { line: text.clone(), cause })?;
        Ok(Self { text, pattern, rule })
    }

    /// Returns the line with single spaces.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns how the line follows changes of the clock.
    #[must_use]
    pub fn rule(&self) -> ClockRule {
        self.rule
    }

    /// Returns the first planned instant later than `after`; `None` if none is in the next 50 years.
    #[must_use]
    pub fn next_after(&self, after: Instant, zone: &TimeZone) -> Option<Instant> {
        match self.rule {
            ClockRule::FixedTimes => self.next_fixed(after, zone),
            ClockRule::Intervals => self.next_interval(after, zone),
        }
    }

    /// Returns what a change of the clock does to a planned instant, to be shown beside it.
    #[must_use]
    pub fn oddity_of(&self, planned: Instant, zone: &TimeZone) -> Option<ClockOddity> {
        let local = zone.to_datetime(planned);
        if self.pattern.first_from(local) != Some(local) {
            return Some(ClockOddity::EndOfGap);
        }
        let is_repeated = zone.to_ambiguous_timestamp(local).is_ambiguous();
        is_repeated.then_some(match self.rule {
            ClockRule::FixedTimes => ClockOddity::FirstOfTwo,
            ClockRule::Intervals => ClockOddity::OneOfTwo,
        })
    }

    fn next_fixed(&self, after: Instant, zone: &TimeZone) -> Option<Instant> {
        let mut local = zone.to_datetime(after);
        loop {
            local = self.pattern.first_from(next_minute(local)?)?;
            // The second half of a repeated hour shows times whose instant is over.
            let planned = planned_instant(local, zone)?;
            if planned > after {
                return Some(planned);
            }
        }
    }

    /// Searches each span with a constant offset in turn: within one, the local clock runs evenly.
    fn next_interval(&self, after: Instant, zone: &TimeZone) -> Option<Instant> {
        let mut from = after;
        let mut offset = zone.to_offset(from);
        let mut search_from = next_minute(offset.to_datetime(from))?;
        for _ in 0..SPANS_MAX {
            let end = zone.following(from).next().map(|change| change.timestamp());
            let planned =
                self.pattern.first_from(search_from).and_then(|local| offset.to_timestamp(local).ok());
            match (planned, end) {
                (Some(planned), Some(end)) if planned < end => return Some(planned),
                (planned, None) => return planned,
                (_, Some(end)) => from = end,
            }
            offset = zone.to_offset(from);
            search_from = offset.to_datetime(from);
        }
        None
    }
}

/// Returns the first whole minute later than a time.
fn next_minute(time: DateTime) -> Option<DateTime> {
    time.date().at(time.hour(), time.minute(), 0, 0).checked_add(jiff::Span::new().minutes(1)).ok()
}

/// Returns the instant of a local time: the end of the gap if the clock skips it, the first of two if it is repeated.
pub(crate) fn planned_instant(local: DateTime, zone: &TimeZone) -> Option<Instant> {
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok(),
        AmbiguousOffset::Gap { before, .. } => {
            let inside = before.to_timestamp(local).ok()?;
            let later = inside.checked_add(jiff::SignedDuration::from_secs(1)).ok()?;
            zone.preceding(later).next().map(|change| change.timestamp())
        }
    }
}

fn check_field(field: CronField, text: &str) -> Result<(), InvalidSpec> {
    for item in text.split(',') {
        check_item(field, item).map_err(|mend| InvalidSpec::CronItem {
            field,
            item: item.to_owned(),
            mend,
        })?;
    }
    Ok(())
}

/// Checks one item of a list; the error says how to correct it.
fn check_item(field: CronField, item: &str) -> Result<(), String> {
    let (low, high) = field.range();
    if field == CronField::DayOfMonth && item.eq_ignore_ascii_case("L") {
        return Ok(());
    }
    if let Some((weekday, nth)) = item.split_once('#').filter(|_| field == CronField::DayOfWeek) {
        check_value(field, weekday)?;
        return match nth.as_bytes() {
            [b'1'..=b'5' | b'L' | b'l'] => Ok(()),
            _ => {
                Err("write a week from 1 to 5 or L after `#`, for example `5#2` for the second Friday"
                    .to_owned())
            }
        };
    }
    let span = item.split('/').next().unwrap_or(item);
    if let Some((_, step)) = item.split_once('/') {
        check_step(field, span, step)?;
    }
    if span == "*" {
        return Ok(());
    }
    let Some((first, last)) = span.split_once('-') else {
        return check_value(field, span).map(|_| ());
    };
    let first = check_value(field, first)?;
    let mut last = check_value(field, last)?;
    if field == CronField::DayOfWeek && last == 0 {
        last = 7;
    }
    if first > last {
        return Err(format!(
            "the range ends before it begins: write two ranges, `{first}-{high},{low}-{last}`"
        ));
    }
    Ok(())
}

fn check_step(field: CronField, span: &str, step: &str) -> Result<(), String> {
    let (low, high) = field.range();
    if span != "*" && !span.contains('-') {
        return Err(format!("a step needs a range: write `{span}-{high}/{step}` or `*/{step}`"));
    }
    let step: u8 = step.parse().map_err(|_| "write a number after `/`".to_owned())?;
    if step == 0 {
        return Err("a step of 0 never ends: write 1 or more after `/`".to_owned());
    }
    if step > high - low {
        return Err(format!(
            "a step is at most {}: each {} starts again, use `every` for longer intervals",
            high - low,
            field.parent()
        ));
    }
    Ok(())
}

fn check_value(field: CronField, text: &str) -> Result<u8, String> {
    let (low, high) = field.range();
    if let Some(index) = field.names().iter().position(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(low + u8::try_from(index).unwrap_or(low));
    }
    let number = if text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    };
    match number {
        Some(number) if (low..=high).contains(&number) => Ok(number),
        Some(_) | None => Err(field.expected()),
    }
}

#[cfg(test)]
mod tests;
