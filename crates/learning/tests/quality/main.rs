//! What of the labelled set is applied: by rules alone, and with a model that is often wrong.

#![expect(clippy::print_stdout, reason = "figures are printed for people")]

mod habits;
mod labelled_set;
mod model_double;
mod precision;
mod properties;
