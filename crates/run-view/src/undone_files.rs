//! Files whose changes by a run are taken back, in words.
//!
//! Invariant: each path is reported once, by what became of it in the end.

use palyra_screen_text::{clean_line, count, short_id};
use palyra_terminal::NoteKind;
use palyra_wire::v1;

use super::times::date;

const REASON_CHARS_MAX: usize = 240;

/// How far it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoExtent {
    /// The files are put back.
    Files,
    /// Nothing is changed.
    DryRun,
}

/// Returns each path once, where it came first: what was not taken back counts, else what was done last.
pub fn undone_by_path(files: &[v1::UndoneFile]) -> Vec<&v1::UndoneFile> {
    let mut paths: Vec<&v1::UndoneFile> = Vec::new();
    for file in files {
        match paths.iter_mut().find(|known| known.path == file.path) {
            Some(known) if is_back(known) && file.result() != v1::UndoResult::AlreadyRestored => {
                *known = file;
            }
            Some(_) => {}
            None => paths.push(file),
        }
    }
    paths
}

/// Returns whether a file is as it was before the run.
pub fn is_back(file: &v1::UndoneFile) -> bool {
    matches!(file.result(), v1::UndoResult::Restored | v1::UndoResult::AlreadyRestored)
}

/// Says what became of a file.
pub fn undo_outcome(file: &v1::UndoneFile, extent: UndoExtent) -> (NoteKind, String) {
    let done = match (file.result(), extent, file.removed) {
        (v1::UndoResult::Restored, UndoExtent::Files, true) => "removed; it did not exist before the run",
        (v1::UndoResult::Restored, UndoExtent::Files, false) => "restored to its content before the run",
        (v1::UndoResult::Restored, UndoExtent::DryRun, true) => {
            "would be removed; it did not exist before the run"
        }
        (v1::UndoResult::Restored, UndoExtent::DryRun, false) => {
            "would be restored to its content before the run"
        }
        (v1::UndoResult::AlreadyRestored, _, true) => "is removed already; it did not exist before the run",
        (v1::UndoResult::AlreadyRestored, _, false) => "has its content before the run already",
        (v1::UndoResult::Conflict, UndoExtent::Files, _) => {
            let notice =
                "skipped, because it changed after the run; restoring it would have been this change:";
            return (NoteKind::Doubt, notice.to_owned());
        }
        (v1::UndoResult::Conflict, UndoExtent::DryRun, _) => {
            let notice =
                "would be skipped, because it changed after the run; restoring it would be this change:";
            return (NoteKind::Doubt, notice.to_owned());
        }
        (v1::UndoResult::Withheld, _, _) => {
            let notice = "skipped: its content before the run contained a secret and was not stored";
            return (NoteKind::Doubt, notice.to_owned());
        }
        _ => return (NoteKind::Bad, clean_line(&file.detail, REASON_CHARS_MAX)),
    };
    let mark = if extent == UndoExtent::Files { NoteKind::Good } else { NoteKind::Info };
    (mark, done.to_owned())
}

/// Says what a person can do about files that were skipped because they are not as the run left them.
#[must_use]
pub fn mend_of_skipped(run: &str) -> String {
    format!(
        "where a later run changed a file that was skipped, take that run back first (`palyra runs list`); else edit the file by \
         the lines above, or put it into the state that the run left. Then `palyra runs undo {}` takes it back",
        short_id(run)
    )
}

/// Counts what was taken back, removed, as it was, and skipped.
#[must_use]
pub fn undo_summary(files: &[&v1::UndoneFile], extent: UndoExtent) -> String {
    let back = files.iter().filter(|file| file.result() == v1::UndoResult::Restored);
    let removed = back.clone().filter(|file| file.removed).count();
    let restored = back.count() - removed;
    let skipped = files.iter().filter(|file| !is_back(file)).count();
    let unchanged = files.len() - restored - removed - skipped;
    let would = if extent == UndoExtent::Files { "" } else { "would be " };
    let mut notice = match (restored, removed) {
        (0, 1..) => format!("{} {would}removed", count(removed as u64, "file")),
        (_, 0) => format!("{} {would}restored", count(restored as u64, "file")),
        _ => format!("{} {would}restored, {removed} removed", count(restored as u64, "file")),
    };
    if unchanged > 0 {
        notice.push_str(&format!(", {unchanged} as it was"));
    }
    if skipped > 0 || unchanged == 0 {
        notice.push_str(&format!(", {skipped} skipped"));
    }
    if extent == UndoExtent::DryRun {
        notice.push_str("; nothing was changed");
    }
    notice
}

/// Says when the newest undo of a run ended, and how many files it took back. The record does not say whether a file was
/// restored or removed.
#[must_use]
pub fn newest_undo(undo: &v1::RunUndo) -> String {
    let ended = date(undo.ended);
    match (undo.restored, undo.skipped) {
        // Each undo has a file; an erasure takes the list of them out of the record.
        (0, 0) => {
            format!(
                "{ended}; how many files were taken back is not known, since that was erased with the content"
            )
        }
        (restored, skipped) => {
            format!("{ended}, {} taken back, {skipped} skipped", count(restored.into(), "file"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, result: v1::UndoResult, removed: bool) -> v1::UndoneFile {
        v1::UndoneFile { path: path.to_owned(), result: result.into(), removed, ..Default::default() }
    }

    #[test]
    fn an_undo_counts_what_it_took_back_until_that_is_erased() {
        for (restored, skipped, expect) in [
            (1, 0, ", 1 file taken back, 0 skipped"),
            (0, 2, ", 0 files taken back, 2 skipped"),
            (0, 0, "; how many files were taken back is not known, since that was erased with the content"),
        ] {
            let undo = v1::RunUndo { restored, skipped, ..Default::default() };
            let said = newest_undo(&undo);
            assert!(said.ends_with(expect), "{restored}, {skipped}: {said}");
        }
    }

    #[test]
    fn what_was_not_taken_back_counts_as_skipped() {
        for (result, back) in [
            (v1::UndoResult::Restored, true),
            (v1::UndoResult::AlreadyRestored, true),
            (v1::UndoResult::Conflict, false),
            (v1::UndoResult::Withheld, false),
            (v1::UndoResult::Failed, false),
        ] {
            assert_eq!(is_back(&file("a", result, false)), back, "{result:?}");
        }
    }

    #[test]
    fn a_file_that_the_run_made_is_reported_as_removed() {
        let of = |file: v1::UndoneFile, extent| undo_outcome(&file, extent).1;
        let made = || file("a", v1::UndoResult::Restored, true);
        assert_eq!(of(made(), UndoExtent::Files), "removed; it did not exist before the run");
        assert_eq!(of(made(), UndoExtent::DryRun), "would be removed; it did not exist before the run");
        assert_eq!(
            of(file("a", v1::UndoResult::Restored, false), UndoExtent::Files),
            "restored to its content before the run"
        );
    }

    #[test]
    fn several_changes_to_one_path_are_one_line() {
        let files = [
            file("a", v1::UndoResult::Restored, true),
            file("b", v1::UndoResult::Restored, false),
            file("a", v1::UndoResult::AlreadyRestored, true),
            file("b", v1::UndoResult::Conflict, false),
            file("b", v1::UndoResult::Restored, false),
        ];
        let lines: Vec<_> = undone_by_path(&files).iter().map(|file| (&*file.path, file.result())).collect();
        assert_eq!(lines, [("a", v1::UndoResult::Restored), ("b", v1::UndoResult::Conflict)]);
    }

    #[test]
    fn the_summary_counts_what_was_removed_as_removed() {
        let made = file("a", v1::UndoResult::Restored, true);
        let changed = file("b", v1::UndoResult::Restored, false);
        for (files, wanted) in [
            (&[&made][..], "1 file removed, 0 skipped"),
            (&[&changed], "1 file restored, 0 skipped"),
            (&[&made, &changed], "1 file restored, 1 removed, 0 skipped"),
        ] {
            assert_eq!(undo_summary(files, UndoExtent::Files), wanted);
        }
        let dry = undo_summary(&[&made], UndoExtent::DryRun);
        assert_eq!(dry, "1 file would be removed, 0 skipped; nothing was changed");
    }
}
