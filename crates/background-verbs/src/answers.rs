//! Answers that all verbs print alike.

use palyra_screen_text::table;
use palyra_terminal::{NoteKind, Output};
use serde_json::Value;

use crate::verb_end::{BackgroundVerbEnd, BackgroundVerbError};

/// How answers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    Text,
    Json,
}

impl From<bool> for AnswerForm {
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// How a list of items is printed.
pub(crate) struct ListForm<M, const N: usize> {
    /// A person reads this where there are no items.
    pub(crate) none: &'static str,
    pub(crate) head: [&'static str; N],
    pub(crate) row: fn(M) -> [String; N],
    pub(crate) json: fn(&M) -> Value,
}

impl<M, const N: usize> ListForm<M, N> {
    /// Prints items as lines of JSON or as a table.
    pub(crate) fn print(
        &self,
        output: &Output,
        form: AnswerForm,
        items: Vec<M>,
    ) -> Result<BackgroundVerbEnd, BackgroundVerbError> {
        if form == AnswerForm::Json {
            items.iter().try_for_each(|item| output.json(&(self.json)(item)))?;
        } else if items.is_empty() {
            output.note(NoteKind::Info, self.none);
        } else {
            let rows = items.into_iter().map(self.row).collect();
            let lines = table(self.head, rows, output.columns());
            lines.iter().try_for_each(|line| output.exact_line(line))?;
        }
        Ok(BackgroundVerbEnd::Done)
    }
}
