//! `palyra runs undo`: takes back what a run changed in files, or shows what that would do.
//!
//! Invariant: each path is reported once, by what became of it in the end.

use std::collections::BTreeSet;

use palyra_client::{Client, ClientError};
use palyra_types::{ErrorCode, RunId};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use super::erased;
use crate::context::Context;
use crate::drive::Format;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{count, diff_lines, short_id};
use crate::verbs::ids::RunName;
use palyra_screen_text::clean_line;
use palyra_terminal::Mark;

const PATH_CHARS_MAX: usize = 200;
const REASON_CHARS_MAX: usize = 240;
/// Runs and effects, newest first, among which the one with changes is looked for.
const RUNS_LOOKED_AT_MAX: u32 = 200;
/// Runs that are compared with the files of the folder.
const RUNS_COMPARED_MAX: usize = 10;

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
        Extent::Files => context.waiting("taking back", client.undo_run(run)).await,
        Extent::DryRun => context.waiting("comparing", client.preview_undo(run)).await,
    };
    let files = match files {
        Err(error) if error.code() == ErrorCode::UndoNothing => {
            return Err(no_changes(context, client, run, &error).await);
        }
        files => files?,
    };
    let exit = if files.iter().all(is_back) { Exit::Done } else { Exit::Conflict };
    let files = by_path(&files);
    if format == Format::Json {
        files.iter().try_for_each(|file| context.output.json(&to_json_with_defaults(*file)))?;
        return Ok(exit);
    }
    for file in &files {
        let (mark, outcome) = outcome(file, extent);
        context.output.note(mark, &format!("{}: {outcome}", clean_line(&file.path, PATH_CHARS_MAX)));
        if file.result == "conflict" || file.result == "restored" {
            let lines = diff_lines(&file.detail);
            context.output.diff(lines.iter().map(|line| (line.text.as_str(), line.look.color())));
        }
    }
    context.output.note(Mark::Info, &summary(&files, extent));
    Ok(exit)
}

fn summary(files: &[&v1::UndoneFile], extent: Extent) -> String {
    let restored = files.iter().filter(|file| file.result == "restored").count();
    let skipped = files.iter().filter(|file| !is_back(file)).count();
    let unchanged = files.len() - restored - skipped;
    let mut told = count(restored as u64, "file");
    told.push_str(if extent == Extent::Files { " restored" } else { " would be restored" });
    if unchanged > 0 {
        told.push_str(&format!(", {unchanged} as it was"));
    }
    if skipped > 0 || unchanged == 0 {
        told.push_str(&format!(", {skipped} skipped"));
    }
    if extent == Extent::DryRun {
        told.push_str("; nothing was changed");
    }
    told
}

/// Says why there is nothing to take back, and names the run that the person may mean.
async fn no_changes(context: &Context, client: &Client, run: RunId, error: &ClientError) -> Failure {
    let code = error.code();
    match erased_content(client, run).await {
        Ok(Some(erased)) => {
            let message = format!("run {} {erased}", short_id(&run.to_string()));
            let mend = "what it changed in files is not known any more".to_owned();
            return Failure::WithMend { code, message, mend };
        }
        Ok(None) => {}
        Err(failure) => return failure,
    }
    let mend = match newest_changes(context, client).await {
        Ok(Some(run)) => {
            let run = short_id(&run.to_string());
            format!("the newest run of this folder that changed files is {run}: `palyra runs undo {run}`")
        }
        Ok(None) => "no run of this folder has changes that could be taken back".to_owned(),
        Err(failure) => return failure,
    };
    Failure::WithMend { code, message: error.to_string(), mend }
}

async fn erased_content(client: &Client, run: RunId) -> Result<Option<String>, Failure> {
    erased::told(client, &client.get_run(run).await?).await
}

/// Returns the newest run of this folder that left a change in a file which is not taken back.
async fn newest_changes(context: &Context, client: &Client) -> Result<Option<RunId>, Failure> {
    let Some(folder) = context.folder() else { return Ok(None) };
    let finished = v1::ListRunsRequest {
        only: "finished".to_owned(),
        page_size: RUNS_LOOKED_AT_MAX,
        workspace_root: folder.display().to_string(),
        ..Default::default()
    };
    let changing = v1::ListEffectsRequest {
        only: "changing".to_owned(),
        page_size: RUNS_LOOKED_AT_MAX,
        ..Default::default()
    };
    let (runs, effects) = tokio::join!(client.list_runs(finished), client.list_effects(changing));
    let changing: BTreeSet<String> = effects?.effects.into_iter().map(|effect| effect.run_id).collect();
    let candidates = runs?.runs.into_iter().filter(|run| changing.contains(&run.run_id));
    for run in candidates.take(RUNS_COMPARED_MAX) {
        let Ok(id) = run.run_id.parse() else { continue };
        match client.preview_undo(id).await {
            Ok(files) if files.iter().any(|file| file.result != "already_restored") => return Ok(Some(id)),
            Ok(_) => {}
            Err(error) if error.code() == ErrorCode::UndoNothing => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
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
