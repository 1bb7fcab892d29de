//! Content fields: their classes and values, and the two ways through a list of them, reading and changing in place.
//!
//! Owns how a leaf is shown and replaced, and that both ways have the same methods, so that [`content_rows`] makes
//! both from one text. Invariant: reading copies nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Redacted;
use crate::effect::KeptFileId;
use crate::model::ModelRef;
use crate::tool::ToolName;

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

/// Makes methods of [`ContentReader`] and [`ContentEditor`] from one text each. A part is taken by reference or by mutable reference;
/// patterns bind its fields the same way, so the text does not say which.
macro_rules! content_rows {
    ($(fn $name:ident($walk:ident, $part:ident: $type:ty) $body:block)*) => {
        impl $crate::content_walk::ContentReader<'_> {
            $(pub(crate) fn $name(&mut self, $part: &$type) {
                let $walk = self;
                $body
            })*
        }

        impl $crate::content_walk::ContentEditor<'_> {
            $(pub(crate) fn $name(&mut self, $part: &mut $type) {
                let $walk = self;
                $body
            })*
        }
    };
}

pub(crate) use content_rows;

/// Shows content.
pub(crate) struct ContentReader<'v> {
    pub(crate) see: &'v mut dyn FnMut(&'static str, ContentClass, ContentLeaf<'_>),
}

/// Replaces content.
pub(crate) struct ContentEditor<'v> {
    pub(crate) replace: &'v mut dyn FnMut(&'static str, ContentClass, ContentLeaf<'_>) -> Option<String>,
    pub(crate) containers: ContainerRule,
}

/// Whether lists and options of content keep their elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContainerRule {
    /// They keep their elements.
    Kept,
    /// They are empty afterwards.
    Emptied,
}

/// A field whose value is one text.
pub(crate) trait TextField {
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

impl ContentReader<'_> {
    pub(crate) fn text(&mut self, class: ContentClass, path: &'static str, value: &impl TextField) {
        self.leaf(class, path, ContentLeaf::Text(value.shown()));
    }

    pub(crate) fn json(&mut self, class: ContentClass, path: &'static str, value: &impl TextField) {
        self.leaf(class, path, ContentLeaf::Json(value.shown()));
    }

    pub(crate) fn path(&mut self, class: ContentClass, path: &'static str, value: &Redacted<PathBuf>) {
        self.leaf(class, path, ContentLeaf::Path(value.expose()));
    }

    pub(crate) fn bytes(&mut self, class: ContentClass, path: &'static str, value: &Redacted<Vec<u8>>) {
        self.leaf(class, path, ContentLeaf::Bytes(value.expose()));
    }

    pub(crate) fn model(&mut self, class: ContentClass, path: &'static str, value: &ModelRef) {
        self.leaf(class, path, ContentLeaf::Model(value));
    }

    pub(crate) fn opaque(&mut self, class: ContentClass, path: &'static str, value: &[u8; 32]) {
        self.leaf(class, path, ContentLeaf::Opaque(value));
    }

    /// Goes through a value whose parts are content.
    pub(crate) fn within<T>(&mut self, value: &Redacted<T>, go: impl FnOnce(&mut Self, &T)) {
        go(self, value.expose());
    }

    /// Goes through a list whose elements are content.
    pub(crate) fn each<T>(&mut self, list: &[T], mut go: impl FnMut(&mut Self, &T)) {
        for element in list {
            go(self, element);
        }
    }

    /// Goes through an optional value with content.
    pub(crate) fn maybe<T>(&mut self, value: &Option<T>, go: impl FnOnce(&mut Self, &T)) {
        if let Some(value) = value {
            go(self, value);
        }
    }

    fn leaf(&mut self, class: ContentClass, path: &'static str, leaf: ContentLeaf<'_>) {
        (self.see)(path, class, leaf);
    }
}

impl ContentEditor<'_> {
    pub(crate) fn text(&mut self, class: ContentClass, path: &'static str, value: &mut impl TextField) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Text(value.shown())) {
            value.put(text);
        }
    }

    pub(crate) fn json(&mut self, class: ContentClass, path: &'static str, value: &mut impl TextField) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Json(value.shown())) {
            value.put(text);
        }
    }

    pub(crate) fn path(&mut self, class: ContentClass, path: &'static str, value: &mut Redacted<PathBuf>) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Path(value.expose())) {
            *value.exposed_mut() = text.into();
        }
    }

    pub(crate) fn bytes(&mut self, class: ContentClass, path: &'static str, value: &mut Redacted<Vec<u8>>) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Bytes(value.expose())) {
            *value.exposed_mut() = text.into_bytes();
        }
    }

    pub(crate) fn model(&mut self, class: ContentClass, path: &'static str, value: &mut ModelRef) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Model(value)) {
            *value = ModelRef::new(&text, &text);
        }
    }

    pub(crate) fn opaque(&mut self, class: ContentClass, path: &'static str, value: &mut [u8; 32]) {
        if let Some(text) = self.leaf(class, path, ContentLeaf::Opaque(value)) {
            let mut bytes = text.into_bytes();
            bytes.resize(value.len(), 0);
            value.copy_from_slice(&bytes);
        }
    }

    /// Goes through a value whose parts are content.
    pub(crate) fn within<T>(&mut self, value: &mut Redacted<T>, go: impl FnOnce(&mut Self, &mut T)) {
        go(self, value.exposed_mut());
    }

    /// Goes through a list whose elements are content.
    pub(crate) fn each<T>(&mut self, list: &mut Vec<T>, mut go: impl FnMut(&mut Self, &mut T)) {
        for element in &mut *list {
            go(self, element);
        }
        if self.containers == ContainerRule::Emptied {
            list.clear();
        }
    }

    /// Goes through an optional value with content.
    pub(crate) fn maybe<T>(&mut self, value: &mut Option<T>, go: impl FnOnce(&mut Self, &mut T)) {
        if let Some(value) = value {
            go(self, value);
        }
        if self.containers == ContainerRule::Emptied {
            *value = None;
        }
    }

    fn leaf(&mut self, class: ContentClass, path: &'static str, leaf: ContentLeaf<'_>) -> Option<String> {
        (self.replace)(path, class, leaf)
    }
}
