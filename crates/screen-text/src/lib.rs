//! Text for a terminal: harmless characters, rows between words, Markdown as styles, and the colors of it all.
//!
//! Pure: it computes strings and knows no stream. Begin at [`Markdown::piece`] for a model's text, at
//! [`document`] for a page of the documentation, and at [`clean_line`] for text that others wrote.

mod amounts;
mod clean;
mod diff;
mod document;
mod markdown;
mod page_parts;
mod palette;
mod prose;
mod rows;
mod shell_word;
mod short_id;
mod table;
mod typed_address;

pub use amounts::{bytes, coarse_span, count, span};
pub use clean::{TextCleaner, clean_line, clean_styled, clean_text, escape_json};
pub use diff::{LineLook, StyledLine, diff_lines};
pub use document::document;
pub use markdown::Markdown;
pub use page_parts::{PageHeading, headings, section, with_commands};
pub use palette::{ATTENTION, BAD, GOOD, PLAIN, USUAL};
pub use prose::{RowFrame, StyleMode};
pub use rows::{
    AmbiguousWidth, MODEL_MARK, MarkedRows, RowWidth, TOOL_MARK, diff_rows, indented_rows, styled_rows,
};
pub use shell_word::shell_word;
pub use short_id::short_id;
pub use table::table;
pub use typed_address::{
    addresses, authority_of_url, host_of_url, is_same_server, is_server_name, server_name_like,
};
