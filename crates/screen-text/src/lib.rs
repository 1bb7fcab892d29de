//! Text for a terminal: harmless characters, rows between words, Markdown as styles, and the colors of it all.
//!
//! Pure: it computes strings and knows no stream. Begin at [`Markdown::piece`] for a model's text, at
//! [`document`] for a page of the documentation, and at [`clean_line`] for text that others wrote.

mod clean;
mod document;
mod markdown;
mod palette;
mod prose;
mod rows;

pub use clean::{Cleaner, clean_line, clean_styled, clean_text, escape_json};
pub use document::document;
pub use markdown::Markdown;
pub use palette::{ATTENTION, BAD, GOOD, PLAIN, USUAL};
pub use prose::{RowFrame, Styles};
pub use rows::{Ambiguous, MODEL_MARK, MarkedRows, RowWidth, TOOL_MARK, indented_rows, styled_rows};
