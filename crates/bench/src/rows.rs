//! The rows: what can be measured, each on its own. Begin at [`ROWS`].

mod list;
mod counts;
mod one_turn;
mod protocol;
mod streamed;
mod tool_round;
mod throughput;
mod chat_completions;
mod open_streams;
mod append;
mod task_queue;
mod run_counts;
mod filled;
mod lists;
mod rebuild;
mod cancel;
mod start;
mod footprint;
mod database;
mod full_window;
mod long_session;
mod components;
mod fetch;
mod spawn;
mod bombs;

pub(crate) use append::as_f64;
pub use list::{BenchRow, MeasuredFigures, ROWS};
