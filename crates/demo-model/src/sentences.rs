//! The sentences that are understood, each with what it asks for: tables, and nothing that decides between them.

mod additions;
mod counting;
mod terse;
mod row;
mod table;

mod reading;
mod asking;
mod deriving;
mod rewriting;
mod searching;
mod changing;
mod files;
mod running;
mod history;
mod talking;
mod manifests;
mod commits;
mod settings;
mod impossible;

pub(super) use table::tables;
