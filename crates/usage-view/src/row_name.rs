//! The name of a row: a day, a model, a session, a surface or an agent.

use palyra_screen_text::{count, short_id};
use palyra_wire::v1::{self, UsageGrouping};

/// Names of groupings, as people type them.
pub const GROUPING_NAMES: [&str; 5] = ["day", "model", "session", "surface", "agent"];

const ERASED: &str = "(erased)";
const UNKNOWN: &str = "(unknown)";
/// Requests beside runs may belong to no session.
const NO_SESSION: &str = "(no session)";

/// Returns the grouping of a name; by day for any other name.
#[must_use]
pub fn grouping_named(name: &str) -> UsageGrouping {
    let name = format!("USAGE_GROUPING_{}", name.to_ascii_uppercase());
    UsageGrouping::from_str_name(&name).unwrap_or(UsageGrouping::Day)
}

/// Returns the day of a time in UTC, such as `2026-01-31`; nothing for a time that no calendar has.
#[must_use]
pub fn day_of(time: Option<&prost_types::Timestamp>) -> String {
    let time = time.and_then(|time| jiff::Timestamp::from_second(time.seconds).ok());
    time.map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}

/// Returns the name of a row as others wrote it; the caller cleans it.
#[must_use]
pub fn row_name(row: &v1::UsageRow) -> String {
    let or = |name: &str, empty: &str| if name.is_empty() { empty.to_owned() } else { name.to_owned() };
    if row.others > 0 {
        let noun = match row.grouping() {
            UsageGrouping::Model => "other model",
            UsageGrouping::Session => "other session",
            UsageGrouping::Agent => "other agent",
            UsageGrouping::Unspecified | UsageGrouping::Day | UsageGrouping::Surface => "other row",
        };
        return count(row.others.into(), noun);
    }
    match row.grouping() {
        UsageGrouping::Unspecified | UsageGrouping::Day => day_of(row.day.as_ref()),
        UsageGrouping::Model => or(&row.model, ERASED),
        UsageGrouping::Session => {
            let session = or(&short_id(&row.session_id), NO_SESSION);
            format!("{session} {}", or(&row.principal, ERASED))
        }
        UsageGrouping::Surface => surface_name(row.surface()),
        UsageGrouping::Agent => or(&row.agent, UNKNOWN),
    }
}

/// Returns the short name of a surface, as `palyra api` writes it.
fn surface_name(surface: v1::Surface) -> String {
    let name = surface.as_str_name();
    match surface {
        v1::Surface::Unspecified => UNKNOWN.to_owned(),
        _ => name.strip_prefix("SURFACE_").unwrap_or(name).to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(grouping: UsageGrouping) -> v1::UsageRow {
        v1::UsageRow { grouping: grouping.into(), ..Default::default() }
    }

    #[test]
    fn every_name_is_a_grouping_of_its_own() {
        let mut groupings: Vec<i32> = GROUPING_NAMES.map(|name| grouping_named(name).into()).to_vec();
        groupings.dedup();
        assert_eq!(groupings, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn each_grouping_names_its_rows() {
        let day = Some(prost_types::Timestamp { seconds: 86_400, nanos: 0 });
        let session = "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned();
        for (row, expect) in [
            (v1::UsageRow { day, ..row(UsageGrouping::Day) }, "1970-01-02"),
            (v1::UsageRow { model: "a/b".to_owned(), ..row(UsageGrouping::Model) }, "a/b"),
            (row(UsageGrouping::Model), "(erased)"),
            (
                v1::UsageRow { surface: v1::Surface::LocalSocket.into(), ..row(UsageGrouping::Surface) },
                "local_socket",
            ),
            (row(UsageGrouping::Surface), "(unknown)"),
            (row(UsageGrouping::Agent), "(unknown)"),
            (v1::UsageRow { agent: "main".to_owned(), ..row(UsageGrouping::Agent) }, "main"),
            (v1::UsageRow { others: 3, ..row(UsageGrouping::Model) }, "3 other models"),
            (v1::UsageRow { others: 1, ..row(UsageGrouping::Session) }, "1 other session"),
        ] {
            assert_eq!(row_name(&row), expect);
        }
        let of_session = v1::UsageRow { session_id: session.clone(), ..row(UsageGrouping::Session) };
        assert_eq!(row_name(&of_session), format!("{} (erased)", short_id(&session)));
        let beside = v1::UsageRow { principal: "user:ada".to_owned(), ..row(UsageGrouping::Session) };
        assert_eq!(row_name(&beside), "(no session) user:ada");
    }
}
