//! Tasks of the background queue that are to move and do not.

use palyra_types::incident::IncidentCause;

use crate::facts::{TaskFact, TaskStanding};
use crate::finding::DomainLook;

/// Finds a task without progress for its window. Its own rules end an attempt without a heartbeat, so a window is longer
/// than their deadline.
pub(super) fn look(look: &mut DomainLook<'_>, task: &TaskFact) {
    let usual = look.times.task_window;
    let (cause, window) = match task.standing {
        TaskStanding::Due => (IncidentCause::TaskNotTaken, usual),
        TaskStanding::Leased => {
            (IncidentCause::TaskNoProgress, look.times.window(usual, Some(task.deadline)))
        }
    };
    look.silent(cause, task.subject, task.marker, window);
}
