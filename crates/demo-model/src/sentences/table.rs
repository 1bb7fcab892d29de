//! The order in which the tables are compared: exact names before words that only may mean one.

use super::row::PatternRow;
use super::{
    additions, asking, changing, commits, counting, deriving, files, history, impossible, manifests, reading,
    rewriting, running, searching, settings, talking, terse,
};

/// Returns all tables, in the order in which they are compared.
pub(in super::super) fn tables() -> [&'static [PatternRow]; 17] {
    [
        talking::ROWS,
        terse::ROWS,
        additions::ROWS,
        counting::ROWS,
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
