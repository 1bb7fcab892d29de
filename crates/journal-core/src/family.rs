//! Families of records: a row, its indexes and its content columns, declared once, and the fold that makes the rows.
//!
//! Owns the declaration ([`Family`]), the border to an adapter that stores rows ([`RowStore`]), the rows in use
//! ([`RowCache`]) and a store in memory ([`MemoryRows`]). Knows no SQL, no file, no clock. Invariant: a row depends on the
//! entries alone, so every store that is handed the same entries holds the same rows. Begin at [`Family`].

mod declaration;
mod folded_entry;
mod index_key;

mod changed_columns;
mod row_store;
mod run_counts;
mod log_view;

mod passed;

mod row_cache;
pub(crate) mod registry;

mod content_erasure;
mod table_scan;

mod memory_rows;

mod read_families;

pub use changed_columns::ChangedColumns;
pub use content_erasure::erase_content;
pub use declaration::{ContentColumn, ContentSource, FamilyIndex, FamilyTable, RowsPerKey};
pub use folded_entry::FoldedEntry;
pub use index_key::{IndexKey, KeyRange};
pub use log_view::{LogView, LoggedEntry};
pub use memory_rows::MemoryRows;
pub use passed::PassedChanges;
pub use read_families::{QueryFamilies, ReadFamilies, Snapshot, SnapshotQuery};
pub use registry::FamilySelection;
pub use row_cache::{Family, FamilyCache, RowCache, load_row};
pub(crate) use row_store::scan_pages;
pub use row_store::{
    ContentCell, EncodedRow, RowId, RowLookup, RowScan, RowStore, RowWrite, ScanOrder, ScannedRow,
    StoreFault, StoredRow,
};
pub use run_counts::RunCounts;
pub use table_scan::{all_rows, find_row, logged_records, scan_rows, scan_wanted, visit_rows};
