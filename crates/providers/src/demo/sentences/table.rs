//! The order in which the tables are compared: what is named exactly before what only may be meant.

use super::row::Row;
use super::{
    asking, changing, commits, deriving, files, history, impossible, manifests, reading, rewriting, running,
    searching, settings, talking,
};

/// Returns all tables, in the order in which they are compared.
pub(in super::super) fn tables() -> [&'static [Row]; 14] {
    [
        talking::ROWS,
        manifests::ROWS,
        commits::ROWS,
        settings::ROWS,
        history::ROWS,
        deriving::ROWS,
        rewriting::ROWS,
        files::ROWS,
        changing::ROWS,
        asking::ROWS,
        searching::ROWS,
        reading::ROWS,
        running::ROWS,
        impossible::ROWS,
    ]
}
