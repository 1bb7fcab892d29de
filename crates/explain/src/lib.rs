//! The documentation that is part of the program: a page for each error code, and the documents that messages name.
//!
//! Begin at [`ExplainTopic::read`]; `library` holds the texts, `page_text` lays them out. `typed_commands`, `typed_options` and `command_tips` are what is said
//! after a command line that does not exist, `model_mends` after a model that does not
//! answer, `key_mends` after a key that its server refuses, `unused_variables` where variables name a model that is not asked, `plain_hosts` after a secret was bound to a host
//! without TLS, `refusal_mends` after a refusal whose code does not say what helps, `chat_mends` in a chat.
//! `named_server` completes what a command line names of a model server, `default_place` says what names the default model.

mod environment;
mod library;
mod topic;
mod page_text;
mod typed_commands;
mod typed_options;
mod command_tips;
mod key_mends;
mod model_mends;
mod unused_variables;
mod plain_hosts;
mod refusal_mends;
mod chat_mends;
mod named_server;
mod default_place;

pub use chat_mends::{mend_in_chat, mend_of_address};
pub use command_tips::{UnknownWord, with_tip};
pub use default_place::{default_model_place, mend_of_server};
pub use environment::ENVIRONMENT;
pub use key_mends::mend_of_refused_key;
pub use model_mends::{
    MissingKey, keyless_notice, mend_of_model, mend_of_test, mend_of_try, mend_without_key, missing_key,
    model_names, replaced_key, stopped_notice, unlisted_model, vault_key_untested,
};
pub use named_server::{NamedServer, ServerVariables, TypedServer, UnnamedServer};
pub use page_text::page_text;
pub use plain_hosts::{PlainHostNote, is_same_host};
pub use refusal_mends::{mend_of_locked_vault, mend_of_refusal};
pub use topic::{ExplainTopic, UnknownTopic, nothing_called, topic_names};
pub use typed_commands::{
    TYPED_COMMANDS, branch_at_entry, completed_command, explained_call, is_like_id, known_command,
    plain_words, text_of_chat,
};
pub use typed_options::with_meant_option;
pub use unused_variables::{SERVER_VARIABLE, UNSET_COMMAND, variables_not_used};
