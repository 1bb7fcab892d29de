//! Entries of the journal as a table.
//!
//! Pure. Invariant: a row has the entry's number, its time to the second and its whole kind at any width; where a date does
//! not fit, it is a line of its own before the first entry of its day.

use palyra_screen_text::{short_id, table};
use palyra_wire::v1;

use crate::times::date;

const HEAD: [&str; 6] = ["SEQ", "TIME", "RUN", "BY", "LEAF", "ENTRY"];
const BETWEEN_COLUMNS: usize = 2;
/// Digits of a leaf that are shown.
const LEAF_CHARS: usize = 16;

/// Returns the lines of a table of these entries, for a terminal of so many columns.
pub fn entry_table(entries: &[v1::JournalEntry], columns_max: Option<usize>) -> Vec<String> {
    let rows: Vec<[String; 6]> = entries.iter().map(row).collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let needed = widest(0).max(HEAD[0].len()) + widest(1) + widest(5) + 2 * BETWEEN_COLUMNS;
    if columns_max.is_none_or(|columns| needed <= columns) {
        return table(HEAD, rows, columns_max);
    }
    let days: Vec<String> = rows.iter().map(|[_, time, ..]| day_and_clock(time).0.to_owned()).collect();
    let rows = rows.into_iter().map(|mut row| {
        row[1] = day_and_clock(&row[1]).1.to_owned();
        row
    });
    let mut shown = table(HEAD, rows.collect(), columns_max).into_iter();
    let mut lines: Vec<String> = shown.next().into_iter().collect();
    let mut before = "";
    for (line, day) in shown.zip(&days) {
        if before != day {
            lines.push(day.clone());
        }
        before = day;
        lines.push(line);
    }
    lines
}

/// Takes a date apart, such as `2026-11-28T18:12:24Z`.
fn day_and_clock(time: &str) -> (&str, &str) {
    let (day, clock) = time.split_once('T').unwrap_or(("", time));
    (day, clock.trim_end_matches('Z'))
}

fn row(entry: &v1::JournalEntry) -> [String; 6] {
    let place = match entry.run_id.as_str() {
        "" => String::new(),
        run => format!("{}:{}", short_id(run), entry.tape_seq),
    };
    let erased = if entry.erased { " (erased)" } else { "" };
    let kind = match entry.refused_operation.as_str() {
        "" => format!("{}{erased}", entry.kind),
        operation => format!("{}{erased} {operation} {}", entry.kind, entry.refused_code),
    };
    let leaf = entry.leaf.get(..LEAF_CHARS).unwrap_or(&entry.leaf).to_owned();
    let by = entry.acted_by.as_ref().map(by_whom).unwrap_or_default();
    [entry.seq.to_string(), date(entry.time), place, by, leaf, kind]
}

/// Returns who acted, with what, and where, in a few words.
fn by_whom(by: &v1::ActedBy) -> String {
    let who = if by.principal.is_empty() { short_id(&by.principal_id) } else { by.principal.clone() };
    let token = if by.token_id.is_empty() { String::new() } else { format!(" {}", short_id(&by.token_id)) };
    let surface = by.surface().as_str_name().trim_start_matches("SURFACE_").to_lowercase();
    format!("{who}{token} {surface}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(seq: u64, seconds: i64, kind: &str) -> v1::JournalEntry {
        v1::JournalEntry {
            seq,
            time: Some(prost_types::Timestamp { seconds, nanos: 0 }),
            kind: kind.to_owned(),
            run_id: "01M8HNRE61KTPGJD81ZS2FD4GY".to_owned(),
            tape_seq: 12,
            leaf: "c0bfa2201e834a5bad3c0bfa2201e834".to_owned(),
            ..Default::default()
        }
    }

    #[test]
    fn a_table_of_entries_has_whole_times_and_kinds_at_80_and_40_columns() {
        let entries =
            [entry(1173, 1_800_057_599, "model_attempt_abandoned"), entry(1174, 1_800_057_600, "erased")];
        assert_eq!(
            entry_table(&entries, Some(80)),
            [
                "SEQ   TIME                  RUN        BY  ENTRY",
                "1173  2027-01-15T23:59:59Z  2FD4GY:12      model_attempt_abandoned",
                "1174  2027-01-16T00:00:00Z  2FD4GY:12      erased",
            ]
        );
        assert_eq!(
            entry_table(&entries, Some(40)),
            [
                "SEQ   TIME      ENTRY",
                "2027-01-15",
                "1173  23:59:59  model_attempt_abandoned",
                "2027-01-16",
                "1174  00:00:00  erased",
            ]
        );
        assert!(entry_table(&entries, None)[1].contains("2FD4GY:12"), "also in a pipe");
    }
}
