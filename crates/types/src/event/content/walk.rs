//! The two ways through the list of content fields: reading, and changing in place.
//!
//! Owns how a leaf is shown and replaced, and that both ways have the same methods, so that [`content_rows`] makes
//! both from one text. Invariant: reading copies nothing.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::kind::EventKind;
use super::{ContentClass, ContentField, ContentLeaf};
use crate::Redacted;
use crate::effect::KeptFileId;
use crate::model::ModelRef;
use crate::tool::ToolName;

/// Makes methods of [`Reader`] and [`Editor`] from one text each. A part is taken by reference or by mutable reference;
/// patterns bind its fields the same way, so the text does not say which.
macro_rules! content_rows {
    ($(fn $name:ident($walk:ident, $part:ident: $type:ty) $body:block)*) => {
        impl $crate::event::content::walk::Reader<'_> {
            $(pub(in crate::event::content) fn $name(&mut self, $part: &$type) {
                let $walk = self;
                $body
            })*
        }

        impl $crate::event::content::walk::Editor<'_> {
            $(pub(in crate::event::content) fn $name(&mut self, $part: &mut $type) {
                let $walk = self;
                $body
            })*
        }
    };
}

pub(super) use content_rows;

/// Shows content.
pub(super) struct Reader<'v> {
    pub(super) kind: EventKind,
    pub(super) see: &'v mut dyn FnMut(ContentField, ContentLeaf<'_>),
}

/// Replaces content.
pub(super) struct Editor<'v> {
    pub(super) kind: EventKind,
    pub(super) replace: &'v mut dyn FnMut(ContentField, ContentLeaf<'_>) -> Option<String>,
    pub(super) containers: Containers,
}

/// Whether lists and options of content keep their elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Containers {
    /// They keep their elements.
    Kept,
    /// They are empty afterwards.
    Emptied,
}

/// A field whose value is one text.
pub(super) trait TextField {
    fn shown(&self) -> &str;
    fn put(&mut self, text: String);
}

impl TextField for String {
    fn shown(&self) -> &str {
        self
    }

    fn put(&mut self, text: String) {
        *self = text;
    }
}

impl TextField for Arc<str> {
    fn shown(&self) -> &str {
        self
    }

    fn put(&mut self, text: String) {
        *self = text.into();
    }
}

impl TextField for ToolName {
    fn shown(&self) -> &str {
        self.as_str()
    }

    fn put(&mut self, text: String) {
        *self = Self::new(&text);
    }
}

impl TextField for KeptFileId {
    fn shown(&self) -> &str {
        &self.0
    }

    fn put(&mut self, text: String) {
        self.0 = text;
    }
}

impl<T: TextField> TextField for Redacted<T> {
    fn shown(&self) -> &str {
        self.expose().shown()
    }

    fn put(&mut self, text: String) {
        self.exposed_mut().put(text);
    }
}

impl Reader<'_> {
    pub(super) fn text(&mut self, class: ContentClass, path: &'static str, value: &impl TextField) {
        self.leaf(class, path, ContentLeaf::Text(value.shown()));
    }

    pub(super) fn json(&mut self, class: ContentClass, path: &'static str, value: &impl TextField) {
        self.leaf(class, path, ContentLeaf::Json(value.shown()));
    }

    pub(super) fn path(&mut self, class: ContentClass, path: &'static str, value: &Redacted<PathBuf>) {
        self.leaf(class, path, ContentLeaf::Path(value.expose()));
    }

    pub(super) fn bytes(&mut self, class: ContentClass, path: &'static str, value: &Redacted<Vec<u8>>) {
        self.leaf(class, path, ContentLeaf::Bytes(value.expose()));
    }

    pub(super) fn model(&mut self, class: ContentClass, path: &'static str, value: &ModelRef) {
        self.leaf(class, path, ContentLeaf::Model(value));
    }

    pub(super) fn opaque(&mut self, class: ContentClass, path: &'static str, value: &[u8; 32]) {
        self.leaf(class, path, ContentLeaf::Opaque(value));
    }

    /// Goes through a value whose parts are content.
    pub(super) fn within<T>(&mut self, value: &Redacted<T>, go: impl FnOnce(&mut Self, &T)) {
        go(self, value.expose());
    }

    /// Goes through a list whose elements are content.
    pub(super) fn each<T>(&mut self, list: &[T], mut go: impl FnMut(&mut Self, &T)) {
        for element in list {
            go(self, element);
        }
    }

    /// Goes through an optional value with content.
    pub(super) fn maybe<T>(&mut self, value: &Option<T>, go: impl FnOnce(&mut Self, &T)) {
        if let Some(value) = value {
            go(self, value);
        }
    }

    fn leaf(&mut self, class: ContentClass, path: &'static str, leaf: ContentLeaf<'_>) {
        (self.see)(ContentField { kind: self.kind, path, class }, leaf);
    }
}

impl Editor<'_> {
    pub(super) fn text(&mut self, class: ContentClass, path: &'static str, value: &mut impl TextField) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Text(value.shown())) {
            value.put(text);
        }
    }

    pub(super) fn json(&mut self, class: ContentClass, path: &'static str, value: &mut impl TextField) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Json(value.shown())) {
            value.put(text);
        }
    }

    pub(super) fn path(&mut self, class: ContentClass, path: &'static str, value: &mut Redacted<PathBuf>) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Path(value.expose())) {
            *value = Redacted::new(text.into());
        }
    }

    pub(super) fn bytes(&mut self, class: ContentClass, path: &'static str, value: &mut Redacted<Vec<u8>>) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Bytes(value.expose())) {
            *value = Redacted::new(text.into_bytes());
        }
    }

    pub(super) fn model(&mut self, class: ContentClass, path: &'static str, value: &mut ModelRef) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Model(value)) {
            *value = ModelRef::new(&text, &text);
        }
    }

    pub(super) fn opaque(&mut self, class: ContentClass, path: &'static str, value: &mut [u8; 32]) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Opaque(value)) {
            let mut bytes = text.into_bytes();
            bytes.resize(value.len(), 0);
            value.copy_from_slice(&bytes);
        }
    }

    /// Goes through a value whose parts are content.
    pub(super) fn within<T>(&mut self, value: &mut Redacted<T>, go: impl FnOnce(&mut Self, &mut T)) {
        go(self, value.exposed_mut());
    }

    /// Goes through a list whose elements are content.
    pub(super) fn each<T>(&mut self, list: &mut Vec<T>, mut go: impl FnMut(&mut Self, &mut T)) {
        for element in &mut *list {
            go(self, element);
        }
        if self.containers == Containers::Emptied {
            list.clear();
        }
    }

    /// Goes through an optional value with content.
    pub(super) fn maybe<T>(&mut self, value: &mut Option<T>, go: impl FnOnce(&mut Self, &mut T)) {
        if let Some(value) = value {
            go(self, value);
        }
        if self.containers == Containers::Emptied {
            *value = None;
        }
    }

    fn leaf(&mut self, class: ContentClass, path: &'static str, leaf: ContentLeaf<'_>) -> Option<String> {
        (self.replace)(ContentField { kind: self.kind, path, class }, leaf)
    }
}
