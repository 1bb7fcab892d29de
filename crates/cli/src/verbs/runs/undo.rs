//! `palyra runs undo`: takes back what a run changed in files, or shows what that would do.

use std::collections::BTreeSet;
use std::path::Path;

use palyra_client::{Client, ClientError};
use palyra_types::{ErrorCode, RunId};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use super::erased;
use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::approve::folder_of;
use crate::verbs::ids::RunName;
use palyra_run_view::{
    OtherRuns, UndoChanges, UndoExtent, end_of_open, is_back, mend_of_open, mend_of_skipped, undo_outcome,
    undo_summary, undone_by_path,
};
use palyra_screen_text::clean_line;
use palyra_screen_text::{count, diff_lines, short_id};
use palyra_terminal::NoteKind;

const PATH_CHARS_MAX: usize = 200;
/// Runs and effects, newest first, among which the one with changes is looked for.
const RUNS_LOOKED_AT_MAX: u32 = 200;
/// Runs that are compared with the files of the folder.
const RUNS_COMPARED_MAX: usize = 10;

/// What is taken back, and how far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UndoOrder {
    pub(super) run: RunName,
    pub(super) extent: UndoExtent,
    pub(super) others: OtherRuns,
}

/// Takes back what a run changed in files, or shows what that would do.
pub(super) async fn undo(
    context: &Context,
    client: &Client,
    order: UndoOrder,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let UndoOrder { run, extent, others } = order;
    let run = run.resolve(client).await?;
    let files = match extent {
        UndoExtent::Files => context.waiting("taking back", client.undo_run(run)).await,
        UndoExtent::DryRun => context.waiting("comparing", client.preview_undo(run)).await,
    };
    let files = match files {
        Err(error) if error.code() == ErrorCode::UndoNothing => {
            return Err(no_changes(context.folder().as_deref(), client, run, &error, &others).await);
        }
        Err(error) if error.code() == ErrorCode::UndoOpenRun => {
            return Err(still_open(context.folder().as_deref(), client, run, &error, &others).await);
        }
        files => files?,
    };
    let exit = if files.iter().all(is_back) { Exit::Done } else { Exit::Conflict };
    let files = undone_by_path(&files);
    if format == OutputFormat::Json {
        files.iter().try_for_each(|file| context.output.json(&to_json_with_defaults(*file)))?;
        return Ok(exit);
    }
    for file in &files {
        let (mark, outcome) = undo_outcome(file, extent);
        context.output.note(mark, &format!("{}: {outcome}", clean_line(&file.path, PATH_CHARS_MAX)));
        if file.result() == v1::UndoResult::Conflict || file.result() == v1::UndoResult::Restored {
            let lines = diff_lines(&file.detail);
            context.output.diff(lines.iter().map(|line| (line.text.as_str(), line.look)));
        }
    }
    context.output.note(NoteKind::Info, &undo_summary(&files, extent));
    if files.iter().any(|file| file.result() == v1::UndoResult::Conflict) {
        context.output.note(NoteKind::Info, &mend_of_skipped(&run.to_string()));
    }
    if extent == UndoExtent::Files && context.is_local() {
        for folder in empty_folders(client, run, &files).await {
            let folder = clean_line(&folder, PATH_CHARS_MAX);
            context.output.note(NoteKind::Info, &format!("the folder {folder} is empty now, and stays"));
        }
    }
    Ok(exit)
}

/// Returns the folders, from the workspace, that hold nothing now that files which the run made are removed.
async fn empty_folders(client: &Client, run: RunId, files: &[&v1::UndoneFile]) -> BTreeSet<String> {
    let removed = files.iter().filter(|file| file.result() == v1::UndoResult::Restored && file.removed);
    let parent = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let folders: BTreeSet<String> = removed.filter_map(|file| parent(&file.path)).collect();
    if folders.is_empty() {
        return folders;
    }
    let root = folder_of(client, &run.to_string()).await;
    let is_empty = |folder: &String| {
        std::fs::read_dir(Path::new(&root).join(folder)).is_ok_and(|mut all| all.next().is_none())
    };
    folders.into_iter().filter(is_empty).collect()
}

/// Says why there is nothing to take back, and names the run that the person may mean.
async fn no_changes(
    folder: Option<&Path>,
    client: &Client,
    run: RunId,
    error: &ClientError,
    others: &OtherRuns,
) -> Failure {
    let code = error.code();
    match erased_content(client, run).await {
        Ok(Some(erased)) => {
            let message = format!("run {} {erased}", short_id(&run.to_string()));
            let gone = "what it changed in files is not known any more";
            let mend = match newest_changes(folder, client, others).await {
                Ok(Some(changes)) => format!("{gone}; {}", changes.describe(others)),
                Ok(None) => gone.to_owned(),
                Err(failure) => return failure,
            };
            return Failure::WithMend { code, message, mend };
        }
        Ok(None) => {}
        Err(failure) => return failure,
    }
    let mend = match calls_without_undo(client, run).await {
        Ok(Some(calls)) => match others {
            // Another run is not named where this one did something: it has nothing to do with what the person saw.
            OtherRuns::OfFolder => calls,
            // A chat shows its runs in their order, so the one before is known to the person.
            OtherRuns::OfSession(_) => match newest_changes(folder, client, others).await {
                Ok(Some(changes)) => format!("{calls}; {}", changes.describe(others)),
                Ok(None) => calls,
                Err(failure) => return failure,
            },
        },
        Ok(None) => match nearest_changes(folder, client, others).await {
            Ok(mend) => mend,
            Err(failure) => return failure,
        },
        Err(failure) => return failure,
    };
    Failure::WithMend { code, message: error.to_string(), mend }
}

/// Says what is to be done about a run that is not over, and which other run the person may mean.
async fn still_open(
    folder: Option<&Path>,
    client: &Client,
    run: RunId,
    error: &ClientError,
    others: &OtherRuns,
) -> Failure {
    let id = short_id(&run.to_string());
    let known = match client.get_run(run).await {
        Ok(known) => known,
        Err(error) => return error.into(),
    };
    let mut mend = mend_of_open(&known);
    match calls_without_undo(client, run).await {
        // It has not changed anything yet, so another run may be meant.
        Ok(None) => match newest_changes(folder, client, others).await {
            Ok(other) => {
                let other =
                    other.map(|changes| format!("; {}", changes.describe(others))).unwrap_or_default();
                mend = format!("it has changed nothing yet{other}. To end it: {}", end_of_open(&known));
            }
            Err(failure) => return failure,
        },
        Ok(Some(_)) => {}
        Err(failure) => return failure,
    }
    Failure::WithMend { code: error.code(), message: format!("{error} ({id})"), mend }
}

/// Names the newest run with changes that can be taken back, or says that there is none.
async fn nearest_changes(
    folder: Option<&Path>,
    client: &Client,
    others: &OtherRuns,
) -> Result<String, Failure> {
    Ok(match (newest_changes(folder, client, others).await?, others) {
        (Some(changes), others) => changes.describe(others),
        (None, OtherRuns::OfFolder) => {
            "no run of this folder has changes that could be taken back".to_owned()
        }
        (None, OtherRuns::OfSession(_)) => {
            "no run of this chat has changes that could be taken back".to_owned()
        }
    })
}

/// Names the calls of a run whose changes are not recorded, such as commands; `None` where it made no such call.
async fn calls_without_undo(client: &Client, run: RunId) -> Result<Option<String>, Failure> {
    let request = v1::ListEffectsRequest {
        run_id: run.to_string(),
        only: v1::EffectFilter::Changing.into(),
        page_size: RUNS_LOOKED_AT_MAX,
        ..Default::default()
    };
    let calls = client.call(request).await?.effects;
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
    erased::describe(client, &client.get_run(run).await?).await
}

/// Returns the newest of the runs that left a change in a file which can be taken back now.
async fn newest_changes(
    folder: Option<&Path>,
    client: &Client,
    others: &OtherRuns,
) -> Result<Option<UndoChanges>, Failure> {
    let mut finished = v1::ListRunsRequest {
        only: v1::RunFilter::Finished.into(),
        page_size: RUNS_LOOKED_AT_MAX,
        ..Default::default()
    };
    match others {
        OtherRuns::OfSession(session) => finished.session_id.clone_from(session),
        OtherRuns::OfFolder => match folder {
            Some(folder) => finished.workspace_root = folder.display().to_string(),
            None => return Ok(None),
        },
    }
    let changing = v1::ListEffectsRequest {
        only: v1::EffectFilter::Changing.into(),
        page_size: RUNS_LOOKED_AT_MAX,
        ..Default::default()
    };
    let (runs, effects) = tokio::join!(client.call(finished), client.call(changing));
    let changing: BTreeSet<String> = effects?.effects.into_iter().map(|effect| effect.run_id).collect();
    let candidates = runs?.runs.into_iter().filter(|run| changing.contains(&run.run_id));
    for run in candidates.take(RUNS_COMPARED_MAX) {
        let Ok(id) = run.run_id.parse() else { continue };
        match client.preview_undo(id).await {
            Ok(files) => {
                let left = files.into_iter().filter(|file| file.result() == v1::UndoResult::Restored);
                let paths: BTreeSet<String> = left.map(|file| file.path).collect();
                if !paths.is_empty() {
                    return Ok(Some(UndoChanges { run, paths }));
                }
            }
            Err(error) if error.code() == ErrorCode::UndoNothing => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
