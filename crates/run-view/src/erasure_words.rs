//! An erasure in words: what it took, when, by whom and why.

use palyra_screen_text::{bytes, clean_line, count, short_id};
use palyra_wire::v1;

use super::times::date;
use super::undone_files::undone_by_path;

/// Ranges of entries that are shown of an erasure.
const RANGES_SHOWN_MAX: usize = 20;
const PATH_CHARS_MAX: usize = 200;

fn by_whom(erasure: &v1::JournalEntry) -> String {
    match erasure.principal_id.as_str() {
        _ if erasure.erased_by_you => "you".to_owned(),
        "" => "the daemon".to_owned(),
        principal => format!("principal {}", short_id(principal)),
    }
}

/// Says what an erasure took, and who wanted it; nothing of other entries. `inside` are entries of its ranges.
pub fn erasure_of_entries(entry: &v1::JournalEntry, inside: &[v1::JournalEntry]) -> Option<String> {
    if entry.erased_ranges.is_empty() {
        return None;
    }
    let one = |range: &v1::SeqRange| match range.first == range.last {
        true => range.first.to_string(),
        false => format!("{} to {}", range.first, range.last),
    };
    let shown = entry.erased_ranges.iter().take(RANGES_SHOWN_MAX).map(one).collect::<Vec<_>>().join(", ");
    let left = entry.erased_ranges.len().saturating_sub(RANGES_SHOWN_MAX);
    let more = if left > 0 { format!(" and {left} more ranges (--json)") } else { String::new() };
    let empty = match inside.iter().all(|entry| entry.erased) {
        true => "",
        false => "; there are entries in between that never had content",
    };
    Some(format!(
        "erased the content of the entries {shown}{more}, by {} ({}){empty}",
        by_whom(entry),
        entry.erasure_reason_name()
    ))
}

/// Says when content was erased, by whom and why, and where that is recorded.
pub fn erased_how(erasure: &v1::JournalEntry) -> String {
    let who = by_whom(erasure);
    format!(
        " on {} by {who} ({}), as `palyra journal show {}` says",
        date(erasure.time),
        erasure.erasure_reason_name(),
        erasure.seq
    )
}

/// Whether a person sees ranges of entries beside a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanRanges {
    /// The person named one.
    Named,
    /// They are printed below.
    Listed,
    /// None is on the screen.
    Hidden,
}

/// Returns the lines of a plan that is only shown: as [`erasure_plan_lines`], and the first of its ranges.
pub fn listed_plan_lines(about: &str, plan: &v1::Erasure) -> Vec<String> {
    let mut lines = erasure_plan_lines(about, plan, PlanRanges::Listed);
    let shown = plan.ranges.iter().take(RANGES_SHOWN_MAX);
    lines.extend(shown.map(|range| format!("  {}..{}", range.first, range.last)));
    let more = plan.ranges.len().saturating_sub(RANGES_SHOWN_MAX);
    if more > 0 {
        lines.push(format!("  and {more} more places; --json has all"));
    }
    lines
}

/// Returns the subject of an erasure, its size, and what stays.
pub fn erasure_plan_lines(about: &str, plan: &v1::Erasure, ranges: PlanRanges) -> Vec<String> {
    let cancelled = match plan.cancelled_runs.len() {
        0 => String::new(),
        runs => format!("; {} would be cancelled first", count(runs as u64, "run")),
    };
    let mut lines = vec![format!("{} would lose their content{cancelled}", number_of_entries(plan.entries))];
    if !about.is_empty() {
        lines.insert(0, about.to_owned());
    }
    let places: u64 = plan.ranges.iter().map(|range| range.last.saturating_sub(range.first) + 1).sum();
    let empty = places.saturating_sub(plan.entries);
    let stay = "every entry stays in the journal, without its content";
    lines.push(match (empty, ranges) {
        (0, _) | (_, PlanRanges::Hidden) => stay.to_owned(),
        (empty, PlanRanges::Named) => {
            format!("{stay}; the range also has {} without content", number_of_entries(empty))
        }
        (empty, PlanRanges::Listed) => {
            format!("{stay}; these ranges also have {} without content", number_of_entries(empty))
        }
    });
    lines
}

/// When the content of a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasureTime {
    /// After an answer, or a later command.
    Later,
    /// At once.
    Now,
}

/// Says of a run whose content is erased that its changes in files cannot be taken back afterwards; `None` where none
/// can be now. `files` is what taking the run back would do.
#[must_use]
pub fn lost_undo(run: &str, files: &[v1::UndoneFile], time: ErasureTime) -> Option<String> {
    let left = undone_by_path(files).into_iter().filter(|file| file.result() == v1::UndoResult::Restored);
    let paths: Vec<String> = left.map(|file| clean_line(&file.path, PATH_CHARS_MAX)).collect();
    let shown = match paths.as_slice() {
        [] => return None,
        [path] => path.clone(),
        [path, more @ ..] => format!("{path} and {} more", more.len()),
    };
    let id = short_id(run);
    let changes = format!("the changes of run {id} in files ({shown}) cannot be taken back");
    Some(match time {
        ErasureTime::Later => {
            format!(
                "{changes} once its content is erased; until then `palyra runs undo {id}` takes them back"
            )
        }
        ErasureTime::Now => format!("{changes} any more, since its content is erased"),
    })
}

/// Says what an erasure took.
#[must_use]
pub fn erased_lines(erasure: &v1::Erasure) -> Vec<String> {
    let recorded: Vec<String> = erasure.recorded_by.iter().map(u64::to_string).collect();
    let took = match recorded.as_slice() {
        [] => "old bytes of an earlier erasure are overwritten".to_owned(),
        recorded => format!(
            "erased the content of {}, {}; recorded as entry {}",
            number_of_entries(erasure.entries),
            bytes(erasure.bytes),
            recorded.join(", ")
        ),
    };
    let kept = count(erasure.kept_files, "kept file");
    let kept = (erasure.kept_files > 0).then(|| format!("deleted {kept} of commands"));
    [took].into_iter().chain(kept).collect()
}

/// Says which copies an erasure cannot reach, where it took something.
#[must_use]
pub fn copies_left(erasure: &v1::Erasure) -> Option<&'static str> {
    let copies = "what was exported before (`palyra journal export`), backups, and answers of other runs that repeat it \
                  still hold it";
    (erasure.entries > 0).then_some(copies)
}

/// Returns a number of entries with its noun.
pub fn number_of_entries(number: u64) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erasure_says_which_changes_it_makes_final() {
        let file = |path: &str, result: v1::UndoResult| v1::UndoneFile {
            path: path.to_owned(),
            result: result.into(),
            ..Default::default()
        };
        let run = "01M84HKZ5N8HY3ARZ2DB96C5QJ";
        let back = file("a.txt", v1::UndoResult::AlreadyRestored);
        let later = ErasureTime::Later;
        assert_eq!(lost_undo(run, &[], later), None);
        assert_eq!(lost_undo(run, std::slice::from_ref(&back), later), None);
        let one = lost_undo(run, &[back, file("b.txt", v1::UndoResult::Restored)], later).unwrap_or_default();
        assert!(
            one.contains("(b.txt) cannot be taken back") && one.contains("`palyra runs undo 96C5QJ`"),
            "{one}"
        );
        let two = ["b.txt", "c.txt"].map(|path| file(path, v1::UndoResult::Restored));
        let now = lost_undo(run, &two, ErasureTime::Now).unwrap_or_default();
        assert!(
            now.ends_with("(b.txt and 1 more) cannot be taken back any more, since its content is erased")
        );
        let two = lost_undo(run, &two, later).unwrap_or_default();
        assert!(two.contains("(b.txt and 1 more)"), "{two}");
    }

    #[test]
    fn an_erasure_names_its_size_and_the_copies_that_it_leaves() {
        let erasure = v1::Erasure { entries: 2, recorded_by: vec![7], kept_files: 1, ..Default::default() };
        let lines = erased_lines(&erasure);
        assert!(lines[0].starts_with("erased the content of 2 entries, "), "{lines:?}");
        assert!(lines[0].ends_with("recorded as entry 7"), "{lines:?}");
        assert_eq!(lines[1..], ["deleted 1 kept file of commands"]);
        assert!(copies_left(&erasure).is_some_and(|copies| copies.contains("answers of other runs")));
        let nothing = v1::Erasure::default();
        assert_eq!((erased_lines(&nothing).len(), copies_left(&nothing)), (1, None));
    }

    #[test]
    fn an_erasure_speaks_of_entries_without_content_only_where_its_ranges_have_some() {
        let erasure = v1::JournalEntry {
            erased_ranges: vec![v1::SeqRange { first: 3, last: 4 }],
            ..Default::default()
        };
        let entry = |erased| v1::JournalEntry { erased, ..Default::default() };
        for (inside, expect) in [([true, true], false), ([true, false], true)] {
            let said = erasure_of_entries(&erasure, &inside.map(entry)).unwrap_or_default();
            assert_eq!(said.contains("never had content"), expect, "{said}");
        }
        assert_eq!(erasure_of_entries(&entry(false), &[]), None);
    }
}
