//! Lines of a chat about its session, and about a text that is not sent yet.

use palyra_run_view::{compaction_note, recall_note};
use palyra_terminal::NoteKind;
use palyra_wire::v1;

use super::super::preview_references;
use super::super::sessions::recall::set_recall;
use super::super::start_run::with_choice;
use super::Chat;
use crate::failure::Failure;

impl Chat<'_> {
    /// Sums up the older runs of this session.
    pub(super) async fn compact(&mut self) -> Result<(), Failure> {
        let session_id = self.chat_session.session().await?.session_id;
        let request = v1::CompactSessionRequest { session_id };
        self.context.output.progress("summing up");
        let made = self.chat_session.client.call_slowly(request).await?.compaction.unwrap_or_default();
        self.note(NoteKind::Good, &compaction_note(&made));
        Ok(())
    }

    /// Says whether the next runs of this session are given items of memory unasked.
    pub(super) async fn recall(&self, switch: &str) -> Result<(), Failure> {
        let session_id = self.chat_session.session().await?.session_id;
        let session = set_recall(&self.chat_session.client, session_id, switch).await?;
        self.note(NoteKind::Good, recall_note(&session));
        Ok(())
    }

    /// Shows what the references of a text become and cost.
    pub(super) async fn preview(&self, text: &str) -> Result<(), Failure> {
        let start = v1::StartRunRequest {
            session: Some(self.chat_session.selector.clone()),
            input: text.to_owned(),
            workspace_root: self.workspace_root.clone(),
            ..Default::default()
        };
        let start = with_choice(&self.choice, start);
        preview_references::show(self.context, &self.chat_session.client, start, self.format).await.map(drop)
    }
}
