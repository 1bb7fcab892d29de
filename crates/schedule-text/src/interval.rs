//! Intervals as people type them.

/// The units, with their minutes.
const UNITS: [(&str, u32); 3] = [("m", 1), ("h", 60), ("d", 60 * 24)];

/// Reads an interval such as `15m`, `2h` or `1d`; `None` where it is none.
#[must_use]
pub fn interval_minutes(text: &str) -> Option<u32> {
    let read = UNITS.iter().find_map(|(unit, minutes)| {
        text.trim().strip_suffix(unit)?.trim_end().parse::<u32>().ok()?.checked_mul(*minutes)
    });
    read.filter(|minutes| *minutes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_number_and_a_unit() {
        for (text, expect) in [
            ("1m", Some(1)),
            ("15 m", Some(15)),
            (" 2h", Some(120)),
            ("1d", Some(1_440)),
            ("15", None),
            ("0m", None),
            ("2y", None),
            ("-1m", None),
            ("", None),
            ("4294967295d", None),
        ] {
            assert_eq!(interval_minutes(text), expect, "{text}");
        }
    }
}
