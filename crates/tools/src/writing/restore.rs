//! Puts files back as they were before a run changed them.
//!
//! Invariant: a file is touched only while it is what the run left, or a state on the way back from it; so it can be
//! done again after a crash, and what somebody changed since stays.

use palyra_types::Content;
use palyra_types::effect::{FileBefore, RawUndoneFile, RestoreImage, UndoResult, UndoneFile};

use super::change::FileChange;
use super::end::WriteEnd;
use super::pace::CallPace;
use super::preview::difference;
use super::rollout::{Rollout, SiblingNames};
use crate::failure::ToolFailure;
use crate::workspace::{FileAccess, Sha256, SlotContent, SlotState, Workspace, WorkspacePath};

/// Puts the files back, in order; of several changes to one path the last comes first.
pub(crate) fn restore(
    workspace: &Workspace,
    files: &[RestoreImage],
    pace: &CallPace<'_>,
) -> Vec<RawUndoneFile> {
    for_each_path(files, |chain| restore_one(workspace, chain, pace))
}

/// Says what [`restore`] would do now, and changes nothing.
pub(crate) fn preview_restore(workspace: &Workspace, files: &[RestoreImage]) -> Vec<RawUndoneFile> {
    for_each_path(files, |chain| preview_one(workspace, chain))
}

/// Takes the changes to each path together, and returns what became of each change in the order of `files`.
fn for_each_path(
    files: &[RestoreImage],
    mut results_of: impl FnMut(&[&RestoreImage]) -> Vec<UndoResult<Content<String>>>,
) -> Vec<RawUndoneFile> {
    let mut results: Vec<Option<UndoResult<Content<String>>>> = vec![None; files.len()];
    for at in 0..files.len() {
        if results[at].is_some() {
            continue;
        }
        let steps: Vec<usize> =
            (at..files.len()).filter(|other| files[*other].path == files[at].path).collect();
        let chain: Vec<&RestoreImage> = steps.iter().map(|step| &files[*step]).collect();
        for (step, result) in steps.into_iter().zip(results_of(&chain)) {
            results[step] = Some(result);
        }
    }
    let named = |(file, result): (&RestoreImage, Option<UndoResult<Content<String>>>)| UndoneFile {
        path: file.path.clone(),
        result: result.unwrap_or(UndoResult::Withheld),
    };
    files.iter().zip(results).map(named).collect()
}

/// Takes the changes to one path back, the last first; says of each what became of it.
fn restore_one(
    workspace: &Workspace,
    chain: &[&RestoreImage],
    pace: &CallPace<'_>,
) -> Vec<UndoResult<Content<String>>> {
    let failed =
        |failure: &ToolFailure| vec![UndoResult::Failed(Content::new(failure.to_string())); chain.len()];
    let path = match workspace.path(Some(chain[0].path.expose())) {
        Ok(path) => path,
        Err(failure) => return failed(&failure),
    };
    let slot = match workspace.slot(&path) {
        Ok(slot) => slot,
        Err(failure) => return failed(&failure),
    };
    let found = match slot.as_ref().map_or(Ok(SlotContent::Absent), |slot| slot.look(&path.show())) {
        Ok(found) => found,
        Err(failure) => return failed(&failure),
    };
    let way = RestorePath::from(found.sha256(), chain);
    let key = [0; 32];
    if let (Some(slot), RestorePath { goal: None, .. }) = (&slot, &way) {
        // What an earlier attempt displaced, and knew.
        let SiblingNames { draft, aside } = SiblingNames::of(slot, &key, &path);
        let _ = draft.remove();
        if matches!(aside.see(), SlotState::Bytes(digest) if chain.iter().any(|step| left(step) == Some(digest)))
        {
            let _ = aside.remove();
        }
    }
    let outcome = match way.goal {
        None => Ok(()),
        Some(goal) => {
            let change = back(path.clone(), found.clone(), goal);
            Rollout::with(Vec::new(), pace).run(workspace, vec![change], &key)
        }
    };
    results(&outcome, &way, chain, FileAtPath { found: &found, path: &path })
}

/// Says what [`restore_one`] would do.
fn preview_one(workspace: &Workspace, chain: &[&RestoreImage]) -> Vec<UndoResult<Content<String>>> {
    let looked = workspace.path(Some(chain[0].path.expose())).and_then(|path| {
        let slot = workspace.slot(&path)?;
        let found = slot.as_ref().map_or(Ok(SlotContent::Absent), |slot| slot.look(&path.show()))?;
        Ok((path, found))
    });
    match looked {
        Ok((path, found)) => {
            let way = RestorePath::from(found.sha256(), chain);
            results(&Ok(()), &way, chain, FileAtPath { found: &found, path: &path })
        }
        Err(failure) => vec![UndoResult::Failed(Content::new(failure.to_string())); chain.len()],
    }
}

/// A path, and what was found there.
#[derive(Clone, Copy)]
struct FileAtPath<'a> {
    found: &'a SlotContent,
    path: &'a WorkspacePath,
}

/// Returns what became of each change to one path.
fn results(
    outcome: &Result<(), WriteEnd>,
    way: &RestorePath<'_>,
    chain: &[&RestoreImage],
    FileAtPath { found, path }: FileAtPath<'_>,
) -> Vec<UndoResult<Content<String>>> {
    let result = |step: usize, image: &&RestoreImage| match (outcome, &image.before) {
        _ if step < way.already => UndoResult::AlreadyRestored,
        (Ok(()), _) if step < way.restored => UndoResult::Restored,
        (Err(WriteEnd::Failed(failure)), _) if step < way.restored => {
            UndoResult::Failed(Content::new(failure.to_string()))
        }
        (Err(WriteEnd::Lost | WriteEnd::Halted), _) if step < way.restored => {
            UndoResult::Failed(Content::new(format!("`{}` may or may not have been put back", path.show())))
        }
        (_, FileBefore::Withheld { .. }) => UndoResult::Withheld,
        _ => UndoResult::Conflict(Content::new(conflict(found, image, path))),
    };
    chain.iter().enumerate().map(|(step, image)| result(step, image)).collect()
}

/// How far back a file can be taken.
struct RestorePath<'c> {
    /// Steps, from the last change, that were taken back before.
    already: usize,
    /// Steps that are taken back, with those.
    restored: usize,
    /// What the file will be; `None` when it is that already.
    goal: Option<&'c FileBefore<Content<Vec<u8>>>>,
}

impl<'c> RestorePath<'c> {
    fn from(here: Option<Sha256>, chain: &[&'c RestoreImage]) -> Self {
        // What the run left comes first: a run may have left what was there before it.
        let already = match chain.first() {
            Some(last) if left(last) == here => 0,
            _ => chain.iter().rposition(|step| was(step) == Some(here)).map_or(0, |step| step + 1),
        };
        let (mut restored, mut state, mut goal) = (already, here, None);
        for step in &chain[already..] {
            match was(step) {
                Some(before) if left(step) == state => {
                    (restored, state, goal) = (restored + 1, before, Some(&step.before));
                }
                _ => break,
            }
        }
        if state == here {
            // The changes cancel each other out: there is nothing to do.
            return Self { already: restored, restored, goal: None };
        }
        Self { already, restored, goal }
    }
}

/// Returns the digest of what a change left.
fn left(image: &RestoreImage) -> Option<Sha256> {
    image.after_sha256.map(Sha256)
}

/// Returns the digest of what was there before a change; `None` where it was not kept.
fn was(image: &RestoreImage) -> Option<Option<Sha256>> {
    match &image.before {
        FileBefore::Absent => Some(None),
        FileBefore::File { bytes, .. } => Some(Some(Sha256::of(bytes.expose()))),
        FileBefore::Withheld { .. } => None,
    }
}

fn back(path: WorkspacePath, found: SlotContent, goal: &FileBefore<Content<Vec<u8>>>) -> FileChange {
    let (after, access) = match goal {
        FileBefore::File { bytes, mode } => {
            let access = match &found {
                SlotContent::File(file) => match file.access {
                    FileAccess::Owned { user, group, .. } => FileAccess::Owned { bits: *mode, user, group },
                    FileAccess::New(_) | FileAccess::Bits(_) => FileAccess::Bits(*mode),
                },
                SlotContent::Absent => FileAccess::Bits(*mode),
            };
            (Some(bytes.expose().clone()), access)
        }
        FileBefore::Absent | FileBefore::Withheld { .. } => (None, FileAccess::Bits(0)),
    };
    FileChange { path, before: found, after, access, renamed_from: None }
}

/// Returns what taking a change back would have done to the file as it is now.
fn conflict(found: &SlotContent, image: &RestoreImage, path: &WorkspacePath) -> String {
    let now: &[u8] = match found {
        SlotContent::Absent => b"",
        SlotContent::File(file) => &file.bytes,
    };
    let before: &[u8] = match &image.before {
        FileBefore::File { bytes, .. } => bytes.expose(),
        FileBefore::Absent | FileBefore::Withheld { .. } => b"",
    };
    let shown = path.show();
    difference(now, before, &format!("{shown} (as it is now)"), &format!("{shown} (before the run)"))
}

#[cfg(test)]
mod tests;
