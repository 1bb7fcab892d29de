//! One part of a bundle, and what a bundle lacks.

use serde_json::Value;

use crate::text_cleaner::TextCleaner;

/// One file of a bundle. Its text is clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundlePart {
    /// The name of its file.
    pub name: &'static str,
    /// What it has, for the list that a person reads.
    pub about: &'static str,
    pub(crate) text: String,
}

/// What a bundle lacks, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// What.
    pub what: &'static str,
    /// Why.
    pub why: String,
}

impl BundlePart {
    /// Makes a part of a value.
    pub(crate) fn of_json(
        name: &'static str,
        about: &'static str,
        value: &Value,
        cleaner: &TextCleaner,
    ) -> Self {
        Self { name, about, text: cleaner.json(value) }
    }

    /// Makes a part of lines.
    pub(crate) fn of_text(
        name: &'static str,
        about: &'static str,
        text: String,
        cleaner: &TextCleaner,
    ) -> Self {
        Self { name, about, text: cleaner.text(text) }
    }

    /// Returns its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.text.len() as u64
    }
}
