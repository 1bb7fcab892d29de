//! Files that go along with the next input of a chat.

use std::path::Path;

use super::{Chat, described};
use crate::failure::Failure;
use crate::verbs::attachments;
use palyra_run_view::{absent_files_note, attached_files};
use palyra_screen_text::count;
use palyra_terminal::NoteKind;

impl Chat<'_> {
    /// Lets files go along with the next input.
    pub(super) fn attach(&mut self, files: &str) -> Result<(), Failure> {
        let home = std::env::home_dir();
        let named = attached_files(files, home.as_deref(), Path::exists);
        let (mut files, absent): (Vec<_>, Vec<_>) =
            named.iter().cloned().partition(|file| attachments::is_there(file));
        if self.input.is_person() && named.len() > 1 && !absent.is_empty() {
            self.note(NoteKind::Doubt, &absent_files_note(&absent, &files));
        } else {
            files = named;
        }
        let read = attachments::read(&files)?;
        attachments::check_together(self.files.iter().chain(&read))?;
        for file in &read {
            self.note(NoteKind::Good, &format!("goes along with the next input: {}", described(file)));
        }
        self.files.extend(read);
        Ok(())
    }

    /// Sends no file along that waits for the next input.
    pub(super) fn detach(&mut self) {
        let message = match self.files.len() {
            0 => "no file waits to go along".to_owned(),
            files => format!("{} not sent along", count(files as u64, "file")),
        };
        self.files.clear();
        self.note(NoteKind::Info, &message);
    }

    /// Says which files go along with the next input, also where that is said in another conversation than before.
    pub(super) fn note_files(&self) {
        for file in &self.files {
            self.note(NoteKind::Info, &format!("goes along with the next input: {}", described(file)));
        }
    }
}
