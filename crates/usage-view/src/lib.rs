//! Usage of models and its cost as people and programs read it: amounts of money, names of rows, a table with bars, CSV.
//!
//! Pure: messages of the daemon in, text out. Knows no stream, no page and no price. Begin at [`usage_text`] for a
//! terminal and at [`usage_csv`] for a file.

mod money;
mod row_name;
mod csv;
mod usage_csv;
mod usage_table;
mod usage_notes;
mod usage_text;

pub use csv::{CsvCell, csv_line};
pub use money::{cost_cell, finished_cost, money, run_cost_words};
pub use row_name::{GROUPING_NAMES, day_of, grouping_named, row_name};
pub use usage_csv::{EXPORT_ROWS_MAX, usage_csv};
pub use usage_table::TableStyle;
pub use usage_text::{UsageText, usage_text};
