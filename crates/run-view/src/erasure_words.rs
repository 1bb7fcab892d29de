//! An erasure in words: what it took, when, by whom and why.

use palyra_screen_text::{clean_line, count, short_id};
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

/// Says what an erasure took, and who wanted it; nothing of other entries.
pub fn erasure_of_entries(entry: &v1::JournalEntry) -> Option<String> {
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
    Some(format!(
        "erased the content of the entries {shown}{more}, by {} ({})",
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

/// Says of a run whose content is to be erased that its changes in files cannot be taken back afterwards; `None` where none
/// can be now. `files` is what taking the run back would do.
#[must_use]
pub fn lost_undo(run: &str, files: &[v1::UndoneFile]) -> Option<String> {
    let left = undone_by_path(files).into_iter().filter(|file| file.result() == v1::UndoResult::Restored);
    let paths: Vec<String> = left.map(|file| clean_line(&file.path, PATH_CHARS_MAX)).collect();
    let shown = match paths.as_slice() {
        [] => return None,
        [path] => path.clone(),
        [path, more @ ..] => format!("{path} and {} more", more.len()),
    };
    let id = short_id(run);
    Some(format!(
        "the changes of run {id} in files ({shown}) cannot be taken back once its content is erased; until then \
         `palyra runs undo {id}` takes them back"
    ))
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
        assert_eq!(lost_undo(run, &[]), None);
        assert_eq!(lost_undo(run, std::slice::from_ref(&back)), None);
        let one = lost_undo(run, &[back, file("b.txt", v1::UndoResult::Restored)]).unwrap_or_default();
        assert!(
            one.contains("(b.txt) cannot be taken back") && one.contains("`palyra runs undo 96C5QJ`"),
            "{one}"
        );
        let two = ["b.txt", "c.txt"].map(|path| file(path, v1::UndoResult::Restored));
        let two = lost_undo(run, &two).unwrap_or_default();
        assert!(two.contains("(b.txt and 1 more)"), "{two}");
    }
}
