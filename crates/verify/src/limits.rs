//! How much of anything a verifier takes in.
//!
//! Owns the numbers that bound memory and loops; docs/journal-format.md, section 9, repeats those that a
//! writer has to keep.

/// Largest envelope.
pub(crate) const ENVELOPE_BYTES_MAX: usize = 4096;
/// Largest row of any table.
pub(crate) const ROW_BYTES_MAX: i32 = 16 * 1024 * 1024;
/// Largest payload of an entry that may have files; it is kept whole to find their digests.
pub(crate) const PAYLOAD_KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most files of one entry.
pub(crate) const FILES_PER_ENTRY_MAX: usize = 4096;
/// Largest checkpoint.
pub(crate) const NOTE_BYTES_MAX: usize = 64 * 1024;
/// Most signature lines of one checkpoint.
pub(crate) const SIGNATURES_PER_NOTE_MAX: usize = 16;
/// Most epochs of one log.
pub(crate) const EPOCHS_MAX: usize = 1 << 18;
/// Most erased ranges of one log.
pub(crate) const ERASED_RANGES_MAX: usize = 1 << 18;
/// Most calls and approvals of open runs, and stored grants, of one log.
pub(crate) const OPEN_CALLS_MAX: usize = 1 << 20;
/// Most ranges, reopenings and the like that a report lists one by one.
pub(crate) const REPORTED_ITEMS_MAX: usize = 1000;
/// What SQLite may allocate.
pub(crate) const SQLITE_HEAP_BYTES_MAX: i64 = 96 * 1024 * 1024;
/// Largest line of a bundle.
pub(crate) const LINE_BYTES_MAX: u64 = 96 * 1024 * 1024;
/// Most entries of a bundle.
pub(crate) const BUNDLE_ENTRIES_MAX: usize = 1 << 20;
