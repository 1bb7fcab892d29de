//! What a person sees of a run: its entries as lines, the questions it asks, and the answers that a typed line gives.
//!
//! Pure: messages of the daemon in, lines and answers out. Knows no stream, no daemon and no verb. Begin at
//! [`RunView`], which takes entry after entry; [`question`] and [`AnswerForm`] are the approval and its answer.

mod answer;
mod approval;
mod names;
mod model_advice;
mod model_question;
mod printed;
mod result_line;
mod run_view;
mod tape_view;
mod times;

pub use answer::{AnswerForm, SessionOffer, TypedAnswer, is_risky, place_of};
pub use approval::{
    PreviewDetail, approval_state_name, changes, decider, outcome, question, repeated, short_folder, summary,
    time_left,
};
pub use model_question::model_question;
pub use names::{ERASED_MARK, branch_origin, is_named, run_state, run_state_name, session_title};

pub use run_view::{EchoMode, RunView, ShownLine, TextFlow, how_to_resolve};
pub use tape_view::used_by_run;
pub use times::{age, date};
