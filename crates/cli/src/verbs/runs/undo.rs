//! `palyra runs undo`: takes back what a run changed in files, or shows what that would do.
//!
//! Invariant: each path is reported once, by what became of it in the end.

use palyra_client::Client;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{count, diff_lines};
use crate::terminal::{Mark, clean_line};
use crate::verbs::ids::RunName;

const PATH_CHARS_MAX: usize = 200;
const REASON_CHARS_MAX: usize = 240;

/// How far it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The files are put back.
    Files,
    /// Nothing is changed.
    DryRun,
}

/// Takes back what a run changed in files, or shows what that would do.
pub(super) async fn undo(
    context: &Context,
    client: &Client,
    run: RunName,
    extent: Extent,
    format: Format,
) -> Result<Exit, Failure> {
    let run = run.resolve(client).await?;
    let files = match extent {
        Extent::Files => context.waiting("taking back", client.undo_run(run)).await?,
        Extent::DryRun => context.waiting("comparing", client.preview_undo(run)).await?,
    };
    let exit = if files.iter().all(is_back) { Exit::Done } else { Exit::Conflict };
    if format == Format::Json {
        files.iter().try_for_each(|file| context.output.json(&to_json_with_defaults(file)))?;
        return Ok(exit);
    }
    let files = by_path(&files);
    for file in &files {
        let (mark, outcome) = outcome(file, extent);
        context.output.note(mark, &format!("{}: {outcome}", clean_line(&file.path, PATH_CHARS_MAX)));
        if file.result == "conflict" || file.result == "restored" {
            let lines = diff_lines(&file.detail);
            context.output.diff(lines.iter().map(|line| (line.text.as_str(), line.look.color())));
        }
    }
    let skipped = files.iter().filter(|file| !is_back(file)).count();
    let restored = count((files.len() - skipped) as u64, "file");
    let summary = match extent {
        Extent::Files => format!("{restored} restored, {skipped} skipped"),
        Extent::DryRun => format!("{restored} would be restored, {skipped} skipped; nothing was changed"),
    };
    context.output.note(Mark::Info, &summary);
    Ok(exit)
}

/// Returns each path once, where it came first: what was not taken back counts, else what was done last.
fn by_path(files: &[v1::UndoneFile]) -> Vec<&v1::UndoneFile> {
    let mut paths: Vec<&v1::UndoneFile> = Vec::new();
    for file in files {
        match paths.iter_mut().find(|known| known.path == file.path) {
            Some(known) if is_back(known) && file.result != "already_restored" => *known = file,
            Some(_) => {}
            None => paths.push(file),
        }
    }
    paths
}

pub(super) fn is_back(file: &v1::UndoneFile) -> bool {
    matches!(file.result.as_str(), "restored" | "already_restored")
}

fn outcome(file: &v1::UndoneFile, extent: Extent) -> (Mark, String) {
    let done = match (file.result.as_str(), extent, file.removed) {
        ("restored", Extent::Files, true) => "removed; it did not exist before the run",
        ("restored", Extent::Files, false) => "restored to its content before the run",
        ("restored", Extent::DryRun, true) => "would be removed; it did not exist before the run",
        ("restored", Extent::DryRun, false) => "would be restored to its content before the run",
        ("already_restored", _, true) => "is removed already; it did not exist before the run",
        ("already_restored", _, false) => "has its content before the run already",
        ("conflict", Extent::Files, _) => {
            let told = "skipped, because it changed after the run; restoring it would have been this change:";
            return (Mark::Doubt, told.to_owned());
        }
        ("conflict", Extent::DryRun, _) => {
            let told =
                "would be skipped, because it changed after the run; restoring it would be this change:";
            return (Mark::Doubt, told.to_owned());
        }
        ("withheld", _, _) => {
            let told = "skipped: its content before the run contained a secret and was not stored";
            return (Mark::Doubt, told.to_owned());
        }
        _ => return (Mark::Bad, clean_line(&file.detail, REASON_CHARS_MAX)),
    };
    let mark = if extent == Extent::Files { Mark::Good } else { Mark::Info };
    (mark, done.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, result: &str, removed: bool) -> v1::UndoneFile {
        v1::UndoneFile { path: path.to_owned(), result: result.to_owned(), removed, ..Default::default() }
    }

    #[test]
    fn what_was_not_taken_back_counts_as_skipped() {
        for (result, back) in [
            ("restored", true),
            ("already_restored", true),
            ("conflict", false),
            ("withheld", false),
            ("failed", false),
        ] {
            assert_eq!(is_back(&file("a", result, false)), back, "{result}");
        }
    }

    #[test]
    fn a_file_that_the_run_made_is_reported_as_removed() {
        let of = |file: v1::UndoneFile, extent| outcome(&file, extent).1;
        let made = || file("a", "restored", true);
        assert_eq!(of(made(), Extent::Files), "removed; it did not exist before the run");
        assert_eq!(of(made(), Extent::DryRun), "would be removed; it did not exist before the run");
        assert_eq!(of(file("a", "restored", false), Extent::Files), "restored to its content before the run");
    }

    #[test]
    fn several_changes_to_one_path_are_one_line() {
        let files = [
            file("a", "restored", true),
            file("b", "restored", false),
            file("a", "already_restored", true),
            file("b", "conflict", false),
            file("b", "restored", false),
        ];
        let lines: Vec<_> = by_path(&files).iter().map(|file| (&*file.path, &*file.result)).collect();
        assert_eq!(lines, [("a", "restored"), ("b", "conflict")]);
    }
}
