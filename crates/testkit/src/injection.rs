//! Texts that try to give orders to a model, and a reader that carries out each order it finds outside of data.
//!
//! An order is `CALL send_canary_NAME`. Begin at [`InjectionText::all`] and [`orders`].

mod texts;

mod obedient_reader;

pub use obedient_reader::{orders, part_ids, without_tags};
pub use texts::InjectionText;
