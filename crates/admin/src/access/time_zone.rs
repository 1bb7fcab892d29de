//! Names of time zones, as the IANA database has them.

/// Returns a name as the database writes it; an empty one stays empty. `None` for a name that is not in it.
///
/// The database is part of the program, so the answer does not depend on the machine.
pub(super) fn time_zone_name(name: &str) -> Option<String> {
    let name = name.trim();
    if name.is_empty() {
        return Some(String::new());
    }
    let zone = jiff::tz::TimeZone::get(name).ok()?;
    zone.iana_name().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_database() {
        let cases = [
            ("", Some("")),
            (" europe/prague ", Some("Europe/Prague")),
            ("UTC", Some("UTC")),
            ("Asia/Kolkata", Some("Asia/Kolkata")),
            ("Europe/Prag", None),
            ("+02:00", None),
            ("../../etc/passwd", None),
            ("Europe/Prague\n", Some("Europe/Prague")),
            ("x", None),
        ];
        for (given, expected) in cases {
            assert_eq!(time_zone_name(given).as_deref(), expected, "{given:?}");
        }
        assert_eq!(time_zone_name(&"a".repeat(100_000)), None);
    }
}
