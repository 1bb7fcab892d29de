//! The content of events: which fields can hold text or bytes from outside, and of which class each is.
//!
//! Owns the one list of content fields (its rows are beside the events), which is made for reading and for
//! changing.
//! Knows no redactor and no stored form. Invariant: parts with content are taken apart without `..`, so a new field
//! does not compile before it is on the list or named as a fact. Begin at [`JournalEvent::for_each_content`].

mod group_rows;

use std::fmt;

use super::JournalEvent;
use super::kind::EventKind;
use crate::content_walk::{ContainerRule, ContentEditor, ContentReader};
pub use crate::content_walk::{ContentClass, ContentLeaf};

/// A content field: one row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentField {
    /// The kind of the event.
    pub kind: EventKind,
    /// The path of the field in the event, such as `input.text`; the same for each element of a list.
    pub path: &'static str,
    /// Its class.
    pub class: ContentClass,
}

impl fmt::Display for ContentField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.kind.name(), self.path)
    }
}

impl JournalEvent {
    /// Shows every content field that the event has now, without copying any. Fields of lists come once an element.
    pub fn for_each_content(&self, see: &mut dyn FnMut(ContentField, ContentLeaf<'_>)) {
        if let Some(kind) = self.kind() {
            let see = &mut |path, class, leaf: ContentLeaf<'_>| see(ContentField { kind, path, class }, leaf);
            ContentReader { see }.journal_event(self);
        }
    }

    /// Replaces each content field for which `replace` returns a text; lists keep their length. An opaque value
    /// becomes the first bytes of the text, filled up with zeros.
    pub fn replace_content(
        &mut self,
        replace: &mut dyn FnMut(ContentField, ContentLeaf<'_>) -> Option<String>,
    ) {
        if let Some(kind) = self.kind() {
            let replace =
                &mut |path, class, leaf: ContentLeaf<'_>| replace(ContentField { kind, path, class }, leaf);
            ContentEditor { replace, containers: ContainerRule::Kept }.journal_event(self);
        }
    }

    /// Removes all content: the same event is read from the facts without a payload.
    pub fn erase_content(&mut self) {
        let replace = &mut |_: &'static str, _: ContentClass, _: ContentLeaf<'_>| Some(String::new());
        ContentEditor { replace, containers: ContainerRule::Emptied }.journal_event(self);
    }
}
