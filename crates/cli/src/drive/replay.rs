//! Questions among the entries that a run had before it was followed.
//!
//! Invariant: keys are shown for a question that is open, and for no other.

use palyra_wire::v1;

use super::{FollowedRun, InteractionMode, RunDriver};
use crate::failure::Failure;
use palyra_run_view::PreviewDetail;

/// A question whose answer may follow on the tape.
#[derive(Debug, Clone)]
pub(super) struct ReplayedQuestion {
    pub(super) approval_id: String,
    pub(super) prompt: Box<v1::ApprovalPrompt>,
    pub(super) risk: String,
}

impl<R: FollowedRun, F: FnMut(&v1::Opened)> RunDriver<'_, R, F> {
    /// Shows the question that waits to be shown: with its keys where the whole tape leaves it open.
    pub(super) fn show_replayed(&mut self) -> Result<(), Failure> {
        let Some(ReplayedQuestion { approval_id, prompt, risk }) = self.replayed.take() else {
            return Ok(());
        };
        let is_pending = self.view.pending_approvals().iter().any(|asked| asked.approval_id == approval_id);
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
        self.show_question(&prompt, &risk, detail);
        self.on_screen = Some(approval_id).filter(|_| is_open);
        Ok(())
    }
}
