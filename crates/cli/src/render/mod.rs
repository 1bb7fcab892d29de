//! Pure pictures of what the daemon says: a run as it unfolds, tables, amounts, times.

mod amounts;
mod diff;
mod approval;
mod table;
mod names;
mod printed;
mod run_view;
mod tape_view;

pub(crate) use amounts::{age, bytes, count, date, span};
pub(crate) use approval::{
    Detail, approval_state_name, changes, decider, outcome, question, summary, time_left,
};
pub(crate) use diff::diff_lines;
pub(crate) use names::{ERASED_MARK, branch_origin, run_state, run_state_name, session_title, short_id};
pub(crate) use run_view::{Echo, Flow, RunView, Shown, how_to_resolve};
pub(crate) use table::table;
pub(crate) use tape_view::used_by_run;
