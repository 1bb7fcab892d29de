//! The adapter of rows passes the suite of every store of rows.

use palyra_journal::row_tool;
use palyra_testkit::row_store_suite::{self, SAMPLE};

#[test]
fn rows_in_sqlite_are_those_of_the_suite() {
    row_tool::with_tables(&[SAMPLE], row_store_suite::every_case).unwrap();
}

#[test]
fn rows_in_sqlite_are_those_in_memory_whatever_is_written() {
    for seed in 0..20 {
        row_tool::with_tables(&[SAMPLE], |rows| row_store_suite::random_operations(rows, seed, 200)).unwrap();
    }
}
