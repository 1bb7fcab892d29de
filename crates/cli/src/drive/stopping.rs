//! How a run is stopped from here, and how its view is left without stopping it.

use palyra_wire::v1;

use tokio::time::Instant;

use super::{END_WITHIN, FollowedRun, RunDriver};
use crate::failure::Failure;
use palyra_screen_text::span;
use palyra_terminal::NoteKind;

impl<R: FollowedRun, F: FnMut(&v1::Opened)> RunDriver<'_, R, F> {
    /// Asks the run to stop.
    pub(crate) fn cancel(&mut self) -> Result<(), Failure> {
        self.close_question()?;
        self.stopping = true;
        self.run.request_cancel();
        self.seat
            .output
            .note(NoteKind::Info, "cancelling the run; Ctrl-C again leaves without waiting for it");
        Ok(())
    }

    /// Says that the run continues after its view is left, and how it is ended.
    pub(super) fn say_how_to_end(&self) {
        let run =
            self.run.run().map_or_else(|| "last".to_owned(), |run| self.seat.output.id(&run.to_string()));
        let message = format!("left; the run continues: `palyra runs cancel {run}` ends it");
        self.seat.output.note(NoteKind::Info, &message);
    }

    /// Cancels the run because its time is over.
    pub(super) fn stop_at_limit(&mut self) -> Result<(), Failure> {
        self.close_question()?;
        (self.timed_out, self.stopping) = (true, true);
        self.time_up = Some(Instant::now() + END_WITHIN);
        self.run.request_cancel();
        let limit = span(self.seat.time_limit.unwrap_or_default());
        self.seat
            .output
            .note(NoteKind::Doubt, &format!("the time limit of {limit} is reached; cancelling the run"));
        Ok(())
    }
}
