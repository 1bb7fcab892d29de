//! Which columns of a stored row are not what they were.
//!
//! A store leaves the indexes of the other keys alone: SQLite writes to an index whenever an update names its column, even if
//! the value stays.

/// The columns of a row that an update writes, beside its facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedColumns {
    keys: u32,
    has_content: bool,
}

impl ChangedColumns {
    /// The facts alone.
    pub const NONE: Self = Self { keys: 0, has_content: false };
    /// Every key and all content.
    pub const ALL: Self = Self { keys: u32::MAX, has_content: true };

    /// Adds the key in an index of the declaration.
    #[must_use]
    pub fn with_key(self, index: usize) -> Self {
        Self { keys: self.keys | (1 << index), ..self }
    }

    /// Adds all content.
    #[must_use]
    pub fn with_content(self) -> Self {
        Self { has_content: true, ..self }
    }

    /// Returns whether the key in an index is written.
    #[must_use]
    pub fn has_key(self, index: usize) -> bool {
        self.keys & (1 << index) != 0
    }

    /// Returns whether the content is written.
    #[must_use]
    pub fn has_content(self) -> bool {
        self.has_content
    }
}
