//! What a person sees of a run: its entries as lines, the questions it asks, and the answers that a typed line gives.
//!
//! Pure: messages of the daemon in, lines and answers out. Knows no stream, no daemon and no verb. Begin at
//! [`RunView`], which takes entry after entry; [`question`] and [`AnswerForm`] are the approval and its answer.

mod acting_run;
mod answer;
mod approval;
mod approval_row;
mod attach_line;
mod attachment_remarks;
mod call_progress;
mod chat_line;
mod chosen_model;
mod agent_lines;
mod compaction_view;
mod component_words;
mod effect_row;
mod entry_table;
mod erasure_words;
mod deferred_output;
mod grant_lines;
mod names;
mod budget_prompt;
mod budget_rows;
mod budget_words;
pub mod exit;
mod incident_text;
mod task_row;
mod learning_row;
mod memory_row;
mod model_advice;
mod model_question;
mod person_row;
mod policy_words;
mod posture_line;
mod printed;
mod project_rules;
mod named_other;
mod listed_name;
mod queued_input;
mod recall_words;
mod reference_rows;
mod result_line;
mod run_view;
mod search_match;
mod secret_words;
mod schedule_rows;
mod schedule_words;
mod session_lines;
mod conversation_entries;
mod tape_view;
mod times;
mod undo_changes;
mod undone_files;
mod unkinded_files;
mod unread_references;
mod unused_server;
mod waiting_work;

pub use acting_run::instead_of_last;
pub use agent_lines::{agent_lines, agent_named, agent_row};
pub use answer::{AnswerForm, GrantSession, OfferScope, SessionOffer, TypedAnswer, is_risky};
pub use approval::{
    PreviewDetail, answered_question, approval_state_name, call_line, changes, decider, is_said_by_tape,
    outcome, question, repeated, short_folder, summary, time_left, with_edited,
};
pub use approval_row::{approval_row, time_to_answer, who_decides};
pub use attach_line::{absent_files_note, at_home, attached_files};
pub use attachment_remarks::attachment_remarks;
pub use budget_prompt::{BUDGET_PROMPT, BudgetAnswer};
pub use budget_rows::{budget_notes, budget_rows, goes_on_words};
pub use budget_words::{BudgetWords, budget_amount, budget_remarks, budget_request};
pub use call_progress::CallProgress;
pub use chat_line::{
    ChatLine, chat_command_of, chat_command_rest, chat_help, is_bare_answer, line_behind_others,
    nearest_chat_command, once_over, read_chat_line, shell_command_of, suggest_in_chat,
};
pub use chosen_model::{ModelStanding, chosen_model, model_standing, model_window};
pub use compaction_view::{compaction_lines, compaction_note};
pub use component_words::{component_capability, effect_contract};
pub use deferred_output::DeferredOutput;
pub use effect_row::effect_row;
pub use entry_table::entry_table;
pub use erasure_words::{
    ErasureTime, PlanRanges, copies_left, erased_how, erased_lines, erasure_of_entries, erasure_plan_lines,
    listed_plan_lines, lost_undo, number_of_entries,
};
pub use grant_lines::{emptied_grants, grant_lines, revoked_line};
pub use incident_text::{healing_mode_row, incident_lines, incident_row};
pub use learning_row::{learning_head, learning_lines, learning_row, review_done};
pub use memory_row::memory_row;
pub use model_question::{model_question, open_question_of, waits_for_words};
pub use names::{ERASED_MARK, branch_origin, is_named, run_state, run_state_name, session_title, standing};
pub use task_row::{queued_task_row, task_row};

pub use conversation_entries::{last_answer, listed_entries};
pub use listed_name::{ListedName, listed_name};
pub use named_other::{as_bookmark, entry_expected, mend_of_bookmark, mend_of_erased_session, named_other};
pub use person_row::person_row;
pub use policy_words::{
    ComparedRules, difference_text, edited_rules_note, explanation_lines, how_in_force, judged_again_text,
    tried_out_text,
};
pub use posture_line::posture_line;
pub use project_rules::{accepted_digest, accepted_file_lines, project_file_lines};
pub use queued_input::{
    NOTHING_TO_APPROVE, end_of_open, how_to_go_on, mend_of_open, otherwise_waiting, queued_input, queued_run,
};
pub use recall_words::{recall_note, recall_switch_of};
pub use reference_rows::{reference_notes, reference_row, unknown_reference};
pub use run_view::{EchoMode, RunView, ShownLine, TextFlow, how_to_resolve};
pub use schedule_rows::{occurrence_row, schedule_lines, schedule_preview_lines, schedule_row};
pub use schedule_words::{ScheduleWords, schedule_draft};
pub use search_match::{
    SearchMatch, SearchedSessions, no_match_note, no_runs_note, no_session_note, shows_match, surface_named,
};
pub use secret_words::{saved_secret_note, secret_row, still_named_secret, vault_line};
pub use session_lines::{ChatFolder, chat_command_in, session_lines, way_on_of, ways_on_in};
pub use tape_view::{used_by_run, used_so_far};
pub use times::{age, date, typed_day, typed_time};
pub use undo_changes::{OtherRuns, UndoChanges};
pub use undone_files::{
    UndoExtent, is_back, mend_of_skipped, newest_undo, undo_outcome, undo_summary, undone_by_path,
};
pub use unkinded_files::{InputPlace, unkinded_files};
pub use unread_references::unread_references;
pub use unused_server::{UnusedServer, unused_server};
pub use waiting_work::{WaitingCounts, WaitingWork};
