//! Questions among the entries that a run had before it was followed.
//!
//! Invariant: keys are shown for a question that is open, and for no other.

use palyra_wire::v1;

use super::{FollowedRun, InteractionMode, RunDriver};
use crate::failure::Failure;
use palyra_run_view::PreviewDetail;

/// A question of a run, whose answer may follow on the tape.
#[derive(Debug, Clone)]
pub(super) struct RunQuestion {
    pub(super) approval_id: String,
    pub(super) prompt: Box<v1::ApprovalPrompt>,
    pub(super) risk: String,
}

impl RunQuestion {
    pub(super) fn of(asked: &v1::ApprovalRequested) -> Self {
        Self {
            approval_id: asked.approval_id.clone(),
            prompt: Box::new(asked.prompt.clone().unwrap_or_default()),
            risk: asked.risk_name().into_owned(),
        }
    }
}

impl<R: FollowedRun, F: FnMut(&v1::Opened)> RunDriver<'_, R, F> {
    /// Shows the question that waits to be shown: with its keys where the whole tape leaves it open.
    pub(super) fn show_replayed(&mut self) -> Result<(), Failure> {
        let Some(replayed) = self.replayed.take() else { return Ok(()) };
        let id = replayed.approval_id.as_str();
        let is_pending = self.view.pending_approvals().iter().any(|asked| asked.approval_id == id);
        let is_open = self.caught_up && is_pending && !self.stopping;
        let detail = match self.seat.person {
            InteractionMode::Unattended => PreviewDetail::Unattended,
            InteractionMode::LinePrompt(_) | InteractionMode::WatchedKeyboard { .. } if is_open => {
                self.detail()
            }
            InteractionMode::LinePrompt(_) | InteractionMode::WatchedKeyboard { .. } => {
                PreviewDetail::Replayed
            }
        };
        self.show_question(&replayed, detail);
        self.on_screen = Some(replayed.approval_id).filter(|_| is_open);
        Ok(())
    }
}
