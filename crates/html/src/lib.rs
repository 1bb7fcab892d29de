//! What a person would read of a web page, as Markdown.
//!
//! Read [`page`] first: it says in which order a page is parsed, stripped and written.

pub mod limits;
pub mod page;

mod hidden;
mod parsing;
mod visible_text;

pub use limits::{PageError, PageExtent, PageLimits};
pub use page::{TextPage, read_page};
pub use visible_text::visible;
