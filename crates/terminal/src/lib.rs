//! A person's terminal: what may be written to it, lines typed at it, Ctrl-C.
//!
//! Owns the two streams, the line that is open on each, prompts that no earlier input answers, and the keyboard.
//! Knows nothing of runs, of the daemon, or of what is asked. Invariant: on a terminal only a question begins with the
//! sign of one. Begin at [`Output`].

mod output_error;
mod command_options;
mod output;
mod report_form;
mod pager;
mod typed_lines;
mod interrupts;
mod prompt_gate;
mod prompt_reader;
mod keyboard;
mod line_editor;
mod line_history;
mod unseen;

pub use command_options::CommandOptions;
pub use interrupts::{INTERRUPTED_EXIT, InterruptListener};
pub use keyboard::{AsItIs, Keyboard};
pub use line_editor::{CompletionSource, LineEditor, LineOutcome, WordSuggestions, goes_on, joined};
pub use line_history::{HISTORY_FILE_NAME, forget_lines};
pub use output::{ErrorFormat, NoteKind, Output};
pub use output_error::{OutputError, error_json, error_lines};
pub use pager::Pager;
pub use prompt_reader::{PromptReader, PromptReply, ReadingMode, unread_input_note};
pub use report_form::ReportForm;
pub use typed_lines::TypedLines;
pub use unseen::{AskCount, HiddenAnswer, ask_unseen};

#[cfg(any(test, feature = "capture"))]
pub use output::captured::{CapturedKind, captured};
