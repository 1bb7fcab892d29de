//! What a family declares: adapters make their tables and statements from it.

/// The declaration of a family's table.
#[derive(Debug)]
pub struct FamilyTable {
    /// What the family is called: lower case and underscores.
    pub name: &'static str,
    /// Rises when the row, an index or the fold changes: adapters make all rows again.
    pub version: u32,
    /// Ways to find rows.
    pub indexes: &'static [FamilyIndex],
    /// Columns that hold content.
    pub content: &'static [ContentColumn],
}

/// A way to find rows; a row without a key is not in it.
#[derive(Debug)]
pub struct FamilyIndex {
    /// What the index is called.
    pub name: &'static str,
    /// How many rows may share a key.
    pub rows_per_key: RowsPerKey,
}

/// How many rows may share a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsPerKey {
    /// One; a second one is a fault.
    One,
    /// Any number.
    Many,
}

/// A column that holds content, which an erasure of the entry that it comes from clears.
#[derive(Debug)]
pub struct ContentColumn {
    /// What the column is called.
    pub name: &'static str,
    /// Which entry it comes from.
    pub source: ContentSource,
}

/// Which entry a content column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentSource {
    /// The entry that made the row.
    Birth,
    /// An entry that the row names beside the content.
    Own,
}
