//! A page of the documentation as a terminal shows it.
//!
//! Pure. Its links name the command that shows the page they lead to, where this program has that page.

use palyra_screen_text::{RowFrame, RowWidth, document, with_commands};

use crate::library::DOCUMENTS;

/// Returns a page in rows; `code` is the width for program text.
pub fn page_text(markdown: &str, frame: RowFrame<'_>, code: RowWidth) -> String {
    document(&with_commands(markdown, is_document), frame, code)
}

fn is_document(name: &str) -> bool {
    DOCUMENTS.iter().any(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests;
