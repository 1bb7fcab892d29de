//! The web console: pages for people, rendered here and usable without scripts.
//!
//! Reads and acts through the operations of `api` alone, as the person of a page session. Decides nothing about runs.
//! Invariant: the words of models, tools and clients are text in a page: markup comes from `maud` templates and from
//! `markdown.rs` only, and the policy of every page lets nothing else run or load.
//!
//! Begin at [`console_routes`]; `screens.rs` lists the screens.

mod routes;
mod paths;
mod proof_data;
mod reference_preview;
mod login;
mod forms;
mod answer_delay;
mod screen_call;

mod screens;
mod actions;
mod live_streams;
mod run_export;
mod usage_chart;
mod usage_export;

mod page;
mod page_response;
mod page_parts;
mod tape_row;
mod markdown;
mod wording;
mod cron_words;
mod rule_outline;
mod assets;

#[cfg(test)]
mod hostile_text;

pub use routes::console_routes;
