//! The content of events: which fields can hold text or bytes from outside, and of which class each is.
//!
//! Owns the one list of content fields (in the files beside this one), which is made for reading and for changing.
//! Knows no redactor and no stored form. Invariant: parts with content are taken apart without `..`, so a new field
//! does not compile before it is on the list or named as a fact. Begin at [`JournalEvent::for_each_content`].

mod walk;

mod log_rows;
mod tape_rows;

use std::fmt;
use std::path::Path;

use super::JournalEvent;
use super::kind::EventKind;
use crate::model::ModelRef;
use walk::{Containers, Editor, Reader};

/// How a content field is treated when a secret is found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentClass {
    /// Words: redacted.
    Prose,
    /// Names, paths and patterns that are looked up or compared: never rewritten, so the request is refused.
    Identity,
    /// Values that a program needs back unchanged: checked, never rewritten.
    Bytes,
    /// Made by the daemon itself, or a digest: cannot hold a secret.
    Fixed,
}

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

/// The value of a content field.
#[derive(Clone, Copy)]
pub enum ContentLeaf<'a> {
    /// Text.
    Text(&'a str),
    /// Text that may be JSON.
    Json(&'a str),
    /// A path; may be no UTF-8.
    Path(&'a Path),
    /// Bytes; may be text.
    Bytes(&'a [u8]),
    /// The names of a model and its provider.
    Model(&'a ModelRef),
    /// A digest or a key: no text; zeros when erased.
    Opaque(&'a [u8]),
}

impl ContentLeaf<'_> {
    /// Shows its text; none for opaque values, and for bytes and paths that are not UTF-8.
    pub fn for_each_text(&self, see: &mut dyn FnMut(&str)) {
        match self {
            Self::Text(text) | Self::Json(text) => see(text),
            Self::Path(path) => path.to_str().into_iter().for_each(see),
            Self::Bytes(bytes) => std::str::from_utf8(bytes).into_iter().for_each(see),
            Self::Model(model) => {
                see(model.provider.as_str());
                see(model.model.as_str());
            }
            Self::Opaque(_) => {}
        }
    }

    /// Returns how many bytes it has; 0 for an erased opaque value.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        match self {
            Self::Text(text) | Self::Json(text) => text.len(),
            Self::Path(path) => path.as_os_str().len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Model(model) => model.provider.as_str().len() + model.model.as_str().len(),
            Self::Opaque(bytes) if bytes.iter().all(|byte| *byte == 0) => 0,
            Self::Opaque(bytes) => bytes.len(),
        }
    }
}

impl JournalEvent {
    /// Shows every content field that the event has now, without copying any. Fields of lists come once an element.
    pub fn for_each_content(&self, see: &mut dyn FnMut(ContentField, ContentLeaf<'_>)) {
        if let Some(kind) = self.kind() {
            Reader { kind, see }.journal_event(self);
        }
    }

    /// Replaces each content field for which `replace` returns a text; lists keep their length. An opaque value
    /// becomes the first bytes of the text, filled up with zeros.
    pub fn replace_content(
        &mut self,
        replace: &mut dyn FnMut(ContentField, ContentLeaf<'_>) -> Option<String>,
    ) {
        if let Some(kind) = self.kind() {
            Editor { kind, replace, containers: Containers::Kept }.journal_event(self);
        }
    }

    /// Removes all content: the same event is read from the facts without a payload.
    pub fn erase_content(&mut self) {
        if let Some(kind) = self.kind() {
            let replace = &mut |_: ContentField, _: ContentLeaf<'_>| Some(String::new());
            Editor { kind, replace, containers: Containers::Emptied }.journal_event(self);
        }
    }
}
