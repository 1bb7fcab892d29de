//! Takes secrets out of text: by their shape, by the name in front, by their place, and by knowing them.
//!
//! Owns the rules, the one pass over a text that finds them, texts in pieces and JSON. Knows neither where texts
//! come from nor where they go. Invariants: one automaton step per byte on clean text; what is given out does not
//! depend on where a text was cut; what was cleaned once is not changed by being cleaned again.
//! Begin at [`SecretScanner`].

mod scanner;
mod stream;
mod value_mask;
mod json;

mod scan;
mod rule_set;

mod rules;
mod verdict;
mod registered;
mod byte_set;

pub use registered::{REGISTERED_CHARS_MIN, REGISTERED_VALUES_MAX, RegisterError};
pub use scanner::{RULESET, SecretScanner};
