//! The documentation that is part of the program: a page for each error code, and the documents that messages name.
//!
//! Begin at [`ExplainTopic::read`]; `library` holds the texts, `page_text` lays them out. `typed_commands` is what is said
//! after a command line that does not exist, `model_mends` after a model that does not
//! answer.

mod library;
mod topic;
mod page_text;
mod typed_commands;
mod model_mends;

pub use model_mends::{
    MissingKey, mend_of_known, mend_of_try, mend_without_key, missing_key, model_names, unlisted_model,
};
pub use page_text::page_text;
pub use topic::{ExplainTopic, UnknownTopic, topic_names};
pub use typed_commands::{INCOMPLETE_COMMANDS, TYPED_COMMANDS};
