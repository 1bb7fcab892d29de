//! The person's end: what may be written to a terminal, lines typed, Ctrl-C.

mod answer;
mod output;
mod typed_lines;
mod interrupts;
mod prompt_gate;
mod prompt_reader;
mod keyboard;
mod line_editor;
mod line_history;
mod unseen;

pub(crate) use answer::{Answer, AnswerForm, GrantSpan, SessionOffer, is_risky, place_of};
pub(crate) use interrupts::Interrupts;
pub(crate) use keyboard::{AsItIs, Keyboard};
pub(crate) use line_editor::{LineEditor, Suggestions, Typed, goes_on, joined};
pub(crate) use line_history::{HISTORY_FILE_NAME, forget_lines};
pub(crate) use output::{ErrorFormat, Mark, Output};
pub(crate) use palyra_screen_text::{clean_line, clean_text, escape_json};
pub(crate) use prompt_reader::{PromptReader, PromptReply, Reading};
pub(crate) use typed_lines::TypedLines;
pub(crate) use unseen::{Times, Unseen, ask_unseen};

#[cfg(test)]
pub(crate) use output::tests::captured;
