//! Schedules in words: their state, their rules, what the clock does to a planned time, and intervals as people type them.
//!
//! Pure: messages of the daemon in, text out. Knows no stream, no page and no verb. Begin at [`schedule_state`].

mod interval;
mod words;

pub use interval::interval_minutes;
pub use words::{oddity_words, rules_words, schedule_state};
