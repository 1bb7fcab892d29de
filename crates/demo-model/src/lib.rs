//! The built-in demo model: offline, deterministic, and honest about what it is.
//!
//! Owns the understanding of plain sentences and the extraction of an answer from a tool's output: a sentence is
//! compared with tables ([`sentences`]), what it asks for becomes rounds of tool calls ([`steps`]), and their results
//! become words ([`extract`]). It sees only the rendered request and never opens anything itself.
//! Invariant: the same request yields the same pieces. Begin at [`provider`]; a new sentence is a row of a table.

pub mod provider;

mod plan;
mod conversation;
mod parse;
mod sentences;
mod pattern;
mod programs;
mod content;
mod questions;
mod clauses;
mod understanding;
mod objects;
mod lexicon;
mod spelling;
mod words;
mod intent;
mod calls;
mod steps;
mod changes;
mod line_changes;
mod placing;
mod survey;
mod reshape;
mod inversion;
mod locate;
mod attached;
mod references;
mod recall;
mod forgetting;

mod extract;
mod markdown;
mod sections;
mod verdicts;

mod say;
mod pieces;

pub use provider::DemoProvider;
