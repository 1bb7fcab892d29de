//! The documentation that is part of the program: a page for each error code, and the documents that messages name.
//!
//! Begin at [`ExplainTopic::read`]; `library` holds the texts, `page_text` lays them out.

mod library;
mod topic;
mod page_text;

pub use page_text::page_text;
pub use topic::{ExplainTopic, UnknownTopic, topic_names};
