//! The command line: verbs over the client library.
//!
//! Owns what is printed where, exit codes, prompts and Ctrl-C. Knows the wire and the client, never the
//! runtime; `serve` is handed in by the program. Text of models goes to standard output, all else to
//! standard error, and nothing that could steer a terminal reaches one.
//!
//! Begin at [`run`]; each verb is a file in `verbs`.

mod failure;
mod run_folder;

mod daemon_hooks;
mod context;
mod drive;

mod verbs;
mod command_line;
mod help;
mod entry;

pub use command_line::{definition, refusal_of};
pub use daemon_hooks::{ConfigMistake, ConfigVerdict, DaemonHooks, PolicyReport, PolicyWork, ServeArgs};
pub use entry::run;
pub use palyra_client::OwnModel;
pub use palyra_explain::TYPED_COMMANDS;
use palyra_run_view::exit;
