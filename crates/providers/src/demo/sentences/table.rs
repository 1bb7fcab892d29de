//! The order in which the tables are compared: what is named exactly before what only may be meant.

use super::row::Row;
use super::{changing, files, history, impossible, reading, running, searching, talking};

/// Returns all tables, in the order in which they are compared.
pub(in super::super) fn tables() -> [&'static [Row]; 8] {
    [
        talking::ROWS,
        history::ROWS,
        files::ROWS,
        changing::ROWS,
        searching::ROWS,
        reading::ROWS,
        running::ROWS,
        impossible::ROWS,
    ]
}
