//! Finishes a call that a crash may have cut off anywhere.
//!
//! Looks at each place and at the name beside it, and tells from both how far it came. What is in neither state was
//! changed by somebody else: then nothing more is done, and what surely was ours alone is put back.

use super::change::work_out;
use super::end::WriteEnd;
use super::order::WriteOrder;
use super::pace::CallPace;
use super::plan::{PlannedFile, WritePlan};
use super::rollout::{FileMove, MoveStage, Rollout, SiblingNames};
use super::task::Task;
use crate::workspace::{FileSlot, Sha256, SlotState, Workspace};

/// How far a file came.
enum FileProgress {
    /// It is what it shall be, and nothing lies beside it.
    Done,
    /// It is what it shall be, and what it was lies beside it.
    Moved(FileSlot, SiblingNames),
    /// It is what it was.
    Untouched,
    /// It is something else.
    Neither,
}

/// Brings the rest of a recorded plan into place.
pub(super) fn resume(
    workspace: &Workspace,
    order: &WriteOrder,
    plan: &WritePlan,
    key: &[u8; 32],
    pace: &CallPace<'_>,
) -> Result<(), WriteEnd> {
    let mut moved = Vec::new();
    let mut rest: Vec<(&Task, &PlannedFile)> = Vec::new();
    let mut is_clear = plan.files.len() == order.tasks().len();
    for (task, planned) in order.tasks().iter().zip(&plan.files) {
        if task.path.as_path().to_str() != Some(planned.path.as_str()) {
            return Err(WriteEnd::Lost);
        }
        match standing(workspace, task, planned, key) {
            FileProgress::Done => {}
            FileProgress::Untouched => rest.push((task, planned)),
            FileProgress::Neither => is_clear = false,
            FileProgress::Moved(slot, beside) => moved.push(FileMove {
                before: digest_of(beside.aside.see()),
                after: digest_of(slot.see()),
                slot,
                beside,
                content: None,
                stage: MoveStage::Moved,
                shown: task.path.show(),
            }),
        }
    }
    let mut rollout = Rollout::with(moved, pace);
    let tasks: Vec<Task> = rest.iter().map(|(task, _)| (*task).clone()).collect();
    let changes = if is_clear { work_out(workspace, &tasks).ok() } else { None };
    let planned: Vec<&PlannedFile> = rest.iter().map(|(_, planned)| *planned).collect();
    match changes {
        Some(changes) if order.plan_of(&changes).files.iter().eq(planned) => {
            rollout.run(workspace, changes, key)
        }
        _ => {
            rollout.take_back()?;
            Err(WriteEnd::Lost)
        }
    }
}

fn digest_of(seen: SlotState) -> Option<Sha256> {
    match seen {
        SlotState::Bytes(digest) => Some(digest),
        SlotState::Absent | SlotState::Other => None,
    }
}

fn standing(workspace: &Workspace, task: &Task, planned: &PlannedFile, key: &[u8; 32]) -> FileProgress {
    let slot = match workspace.slot(&task.path) {
        Ok(Some(slot)) => slot,
        Ok(None) if planned.after.is_none() => return FileProgress::Done,
        Ok(None) if planned.before.is_none() => return FileProgress::Untouched,
        Ok(None) | Err(_) => return FileProgress::Neither,
    };
    let names = SiblingNames::of(&slot, key, &task.path);
    let _ = names.draft.remove();
    let aside = &names.aside;
    let (here, beside) = (slot.see(), aside.see());
    let is_after = here != SlotState::Other && planned.will_be(digest_of(here));
    let is_before = here != SlotState::Other && planned.was(digest_of(here));
    let beside_is_before = matches!(beside, SlotState::Bytes(digest) if planned.was(Some(digest)));
    if is_after && is_before {
        return FileProgress::Done;
    }
    if is_after {
        return match beside {
            SlotState::Absent => FileProgress::Done,
            _ if beside_is_before => FileProgress::Moved(slot, names),
            // A link was made where a move was not possible, and its first name is still there.
            _ if planned.before.is_none() && is_ours(beside, planned) => {
                let _ = aside.remove();
                FileProgress::Done
            }
            // What was displaced is not what the plan says: it goes back to its place.
            SlotState::Bytes(_) | SlotState::Other => {
                let back = match planned.after {
                    Some(_) => aside.exchange(&slot).map(|_| ()),
                    None => aside.move_to(&slot),
                };
                // The place may have changed once more: only what is ours goes.
                if back.is_ok() && planned.after.is_some() && is_ours(aside.see(), planned) {
                    let _ = aside.remove();
                }
                FileProgress::Neither
            }
        };
    }
    // Only what the plan knows may go: whatever else lies beside the place was displaced, and is somebody's.
    let is_known = beside_is_before || is_ours(beside, planned);
    if is_known {
        let _ = aside.remove();
    }
    match beside {
        SlotState::Absent if is_before => FileProgress::Untouched,
        SlotState::Bytes(_) if is_before && is_known => FileProgress::Untouched,
        SlotState::Absent | SlotState::Bytes(_) | SlotState::Other => FileProgress::Neither,
    }
}

fn is_ours(seen: SlotState, planned: &PlannedFile) -> bool {
    matches!(seen, SlotState::Bytes(digest) if planned.will_be(Some(digest)))
}
