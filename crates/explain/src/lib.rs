//! The documentation that is part of the program: a page for each error code, and the documents that messages name.
//!
//! Begin at [`ExplainTopic::read`]; `library` holds the texts, `page_text` lays them out. `typed_commands`, `typed_options` and `command_tips` are what is said
//! after a command line that does not exist, `model_mends` after a model that does not
//! answer, `key_mends` after a key that its server refuses, `kept_daemon` where a daemon with another model stays, `unused_variables` where variables name a model that is not asked, `plain_hosts` after a secret was bound to a host
//! without TLS, `refusal_mends` after a refusal whose code does not say what helps, `chat_mends` in a chat.
//! `named_server` completes what a command line names of a model server, `default_place` says what names the default model, `other_file` that
//! the running daemon reads another configuration file, `run_words` reads the words of a question, `completion` has the lines by which shells complete.

mod environment;
mod library;
mod topic;
mod completion;
mod page_text;
mod typed_commands;
mod typed_options;
mod command_tips;
mod key_mends;
mod kept_daemon;
mod model_mends;
mod unused_variables;
mod plain_hosts;
mod refusal_mends;
mod chat_mends;
mod named_server;
mod other_file;
mod default_place;
mod run_words;

pub use chat_mends::{MODEL_ADDED_ELSEWHERE, mend_in_chat, mend_of_address, model_to_add};
pub use command_tips::{UnknownWord, with_tip};
pub use completion::{CandidateKind, CompletedWord, bash_lines, completed_words, fish_lines, zsh_script};
pub use default_place::{default_model_place, mend_of_server, place_of_environment_model};
pub use environment::ENVIRONMENT;
pub use kept_daemon::{ENVIRONMENT_PROVIDER, KeptModel, is_same_model, runs_of_stopped};
pub use key_mends::mend_of_refused_key;
pub use model_mends::{
    MissingKey, keyless_notice, mend_of_model, mend_of_test, mend_of_try, mend_without_key, missing_key,
    model_names, replaced_key, stopped_notice, unlisted_model, vault_key_untested,
};
pub use named_server::{NamedServer, ServerVariables, TypedServer, UnnamedServer};
pub use other_file::{OtherFile, OwnFile};
pub use page_text::page_text;
pub use plain_hosts::{PlainHostNote, is_same_host};
pub use refusal_mends::{mend_of_locked_vault, mend_of_refusal};
pub use run_words::{file_after_attach, joined_input, verb_of_runs};
pub use topic::{ExplainTopic, UnknownTopic, nothing_called, topic_names};
pub use typed_commands::{
    TYPED_COMMANDS, branch_at_entry, completed_command, explained_call, is_like_id, known_command,
    plain_words, text_of_chat,
};
pub use typed_options::with_meant_option;
pub use unused_variables::{SERVER_VARIABLE, UNSET_COMMAND, settings_not_used, variables_not_used};
