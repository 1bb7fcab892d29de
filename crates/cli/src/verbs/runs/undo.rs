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
use crate::render::{age, count, diff_lines, short_id};
use crate::verbs::approve::folder_of;
use crate::verbs::ids::RunName;
use palyra_screen_text::clean_line;
use palyra_terminal::Mark;

const PATH_CHARS_MAX: usize = 200;
const REASON_CHARS_MAX: usize = 240;
/// Files of another run that are named.
const PATHS_NAMED_MAX: usize = 3;
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
    if files.iter().any(|file| file.result == "conflict") {
        context.output.note(Mark::Info, &mend_of_skipped(run));
    }
    if extent == Extent::Files && context.is_local() {
        for folder in empty_folders(client, run, &files).await {
            let folder = clean_line(&folder, PATH_CHARS_MAX);
            context.output.note(Mark::Info, &format!("the folder {folder} is empty now, and stays"));
        }
    }
    Ok(exit)
}

/// Says what a person can do about files that were skipped because they are not as the run left them.
fn mend_of_skipped(run: RunId) -> String {
    format!(
        "to take a file back that was skipped, edit it by the lines above, or put it into the state that the run left, \
         and `palyra runs undo {}` takes it back",
        short_id(&run.to_string())
    )
}

/// Returns the folders, from the workspace, that hold nothing now that files which the run made are removed.
async fn empty_folders(client: &Client, run: RunId, files: &[&v1::UndoneFile]) -> BTreeSet<String> {
    let removed = files.iter().filter(|file| file.result == "restored" && file.removed);
    let parent = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let folders: BTreeSet<String> = removed.filter_map(|file| parent(&file.path)).collect();
    if folders.is_empty() {
        return folders;
    }
    let root = folder_of(client, &run.to_string()).await;
    let is_empty = |folder: &String| {
        std::fs::read_dir(std::path::Path::new(&root).join(folder)).is_ok_and(|mut all| all.next().is_none())
    };
    folders.into_iter().filter(is_empty).collect()
}

fn summary(files: &[&v1::UndoneFile], extent: Extent) -> String {
    let back =
        |removed: bool| files.iter().filter(move |file| file.result == "restored" && file.removed == removed);
    let (restored, removed) = (back(false).count(), back(true).count());
    let skipped = files.iter().filter(|file| !is_back(file)).count();
    let unchanged = files.len() - restored - removed - skipped;
    let would = if extent == Extent::Files { "" } else { "would be " };
    let mut told = match (restored, removed) {
        (0, 1..) => format!("{} {would}removed", count(removed as u64, "file")),
        (_, 0) => format!("{} {would}restored", count(restored as u64, "file")),
        _ => format!("{} {would}restored, {removed} removed", count(restored as u64, "file")),
    };
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
    // Another run is not named where this one did something: it has nothing to do with what the person saw.
    match calls_without_undo(client, run).await {
        Ok(Some(mend)) => return Failure::WithMend { code, message: error.to_string(), mend },
        Ok(None) => {}
        Err(failure) => return failure,
    }
    let mend = match newest_changes(context, client).await {
        Ok(Some(changes)) => changes.told(),
        Ok(None) => "no run of this folder has changes that could be taken back".to_owned(),
        Err(failure) => return failure,
    };
    Failure::WithMend { code, message: error.to_string(), mend }
}

/// Names the calls of a run whose changes are not recorded, such as commands; `None` where it made no such call.
async fn calls_without_undo(client: &Client, run: RunId) -> Result<Option<String>, Failure> {
    let request = v1::ListEffectsRequest {
        run_id: run.to_string(),
        only: "changing".to_owned(),
        page_size: RUNS_LOOKED_AT_MAX,
        ..Default::default()
    };
    let calls = client.list_effects(request).await?.effects;
    if calls.is_empty() {
        return Ok(None);
    }
    let tools: BTreeSet<&str> =
        calls.iter().map(|call| call.tool.as_str()).filter(|tool| !tool.is_empty()).collect();
    let tools: Vec<&str> = tools.into_iter().collect();
    Ok(Some(format!(
        "{} of it ({}) may have changed something: such changes are not recorded and cannot be taken back; \
         `palyra runs effects {}` lists them",
        count(calls.len() as u64, "call"),
        clean_line(&tools.join(", "), PATH_CHARS_MAX),
        short_id(&run.to_string()),
    )))
}

async fn erased_content(client: &Client, run: RunId) -> Result<Option<String>, Failure> {
    erased::told(client, &client.get_run(run).await?).await
}

/// A run that changed files which are not taken back.
struct Changes {
    run: v1::Run,
    /// Each path once.
    paths: BTreeSet<String>,
}

impl Changes {
    /// Says which run it is, when it was, and which files it changed: it may have nothing to do with the run that was
    /// named.
    fn told(&self) -> String {
        let run = short_id(&self.run.run_id);
        let shown = self.paths.iter().take(PATHS_NAMED_MAX).map(|path| clean_line(path, PATH_CHARS_MAX));
        let mut files = shown.collect::<Vec<_>>().join(", ");
        if self.paths.len() > PATHS_NAMED_MAX {
            files.push_str(&format!(" and {} more", self.paths.len() - PATHS_NAMED_MAX));
        }
        let age = age(self.run.created);
        let when = if age.is_empty() { age } else { format!("{age} ago, ") };
        format!(
            "the newest run that changed files here is {run} ({when}{files}); `palyra runs undo {run}` takes that back"
        )
    }
}

/// Returns the newest run of this folder that left a change in a file which is not taken back.
async fn newest_changes(context: &Context, client: &Client) -> Result<Option<Changes>, Failure> {
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
            Ok(files) => {
                let left = files.into_iter().filter(|file| file.result != "already_restored");
                let paths: BTreeSet<String> = left.map(|file| file.path).collect();
                if !paths.is_empty() {
                    return Ok(Some(Changes { run, paths }));
                }
            }
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
    fn the_summary_counts_what_was_removed_as_removed() {
        let (made, changed) = (file("a", "restored", true), file("b", "restored", false));
        let told = |files: &[&v1::UndoneFile]| summary(files, Extent::Files);
        assert_eq!(told(&[&made]), "1 file removed, 0 skipped");
        assert_eq!(told(&[&changed]), "1 file restored, 0 skipped");
        assert_eq!(told(&[&made, &changed]), "1 file restored, 1 removed, 0 skipped");
        let dry = summary(&[&made], Extent::DryRun);
        assert_eq!(dry, "1 file would be removed, 0 skipped; nothing was changed");
    }

    #[test]
    fn another_run_is_named_with_its_files() {
        let paths = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
        let run = v1::Run { run_id: "01M84HKZ5N8HY3ARZ2DB96C5QJ".to_owned(), ..Default::default() };
        let told = Changes { run, paths }.told();
        assert!(told.contains("is 96C5QJ (a, b, c and 2 more); `palyra runs undo 96C5QJ`"), "{told}");
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
