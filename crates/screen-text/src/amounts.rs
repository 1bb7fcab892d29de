//! Sizes, counts and spans as people read them.

use std::time::Duration;

/// Returns a size such as `1.2 KB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let mut unit = 0;
    // In tenths, so that no float rounds 999.95 up to 1000.0.
    let mut tenths = u128::from(count) * 10;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1_000;
        unit += 1;
    }
    match (unit, tenths) {
        (0, tenths) => format!("{} B", tenths / 10),
        (unit, tenths) if tenths < 1_000 => format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit]),
        (unit, tenths) => format!("{} {}", tenths / 10, UNITS[unit]),
    }
}

/// Returns a number with its noun, such as `1 turn` or `2 turns`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns a span in its largest unit, such as `3m`.
#[must_use]
pub fn coarse_span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Returns a short span such as `38 ms` or `1.2 s`.
#[must_use]
pub fn span(span: Duration) -> String {
    match span.as_millis() {
        millis @ 0..1_000 => format!("{millis} ms"),
        millis @ 1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        millis => coarse_span(u64::try_from(millis / 1_000).unwrap_or(u64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (count, expect) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 KB"),
            (1_234, "1.2 KB"),
            (99_999, "99.9 KB"),
            (123_456, "123 KB"),
            (999_999, "999 KB"),
            (1_000_000, "1.0 MB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(bytes(count), expect, "{count}");
        }
    }

    #[test]
    fn spans_and_counts_are_short() {
        assert_eq!([59, 61, 7_300, 200_000].map(coarse_span), ["59s", "1m", "2h", "2d"]);
        assert_eq!(span(Duration::from_millis(38)), "38 ms");
        assert_eq!(span(Duration::from_millis(1_260)), "1.2 s");
        assert_eq!((count(1, "turn"), count(0, "turn")), ("1 turn".into(), "0 turns".into()));
    }
}
