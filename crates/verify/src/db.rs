//! A journal in its SQLite file.

mod schema;
mod cursor;
mod rows;
mod contents;
mod checkpoints;
mod tiles;
mod walk;
mod tapes;
mod indexes;
mod statics;
mod verify;

pub use verify::verify_database;
