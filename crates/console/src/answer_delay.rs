//! The time that a card is there before a yes to it counts.
//!
//! The script of the console keeps *Approve* inactive for as long. This also covers a page whose script has not arrived yet,
//! and a browser without scripts: a click for what was there before, under the same pointer, decides nothing.

use std::time::Duration;

use palyra_types::BootTime;

/// The field of a form with the time at which its page was sent.
pub(crate) const SHOWN_FIELD: &str = "shown";
/// How long a card is there before a yes counts.
const YES_DELAY_MIN: Duration = Duration::from_millis(500);

/// Returns the value of [`SHOWN_FIELD`] for a page that is sent now.
pub(crate) fn shown_at(now: BootTime) -> String {
    now.0.to_string()
}

/// Returns whether a yes comes too early for a page that was sent at `shown`. A form without the field is not of a card.
pub(crate) fn is_early(shown: &str, now: BootTime) -> bool {
    if shown.is_empty() {
        return false;
    }
    let past = shown.parse().ok().and_then(|shown: u64| now.0.checked_sub(shown));
    past.is_none_or(|past| Duration::from_micros(past) < YES_DELAY_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_counts_half_a_second_after_its_card_was_sent() {
        let shown = shown_at(BootTime(1_000_000));
        assert!(is_early(&shown, BootTime(1_000_000)) && is_early(&shown, BootTime(1_499_999)));
        assert!(!is_early(&shown, BootTime(1_500_000)) && !is_early(&shown, BootTime(u64::MAX)));
        assert!(is_early(&shown, BootTime(999_999)), "a time that is yet to come");
        assert!(is_early("soon", BootTime(u64::MAX)), "not a time");
    }
}
