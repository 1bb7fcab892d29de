//! Where the pages, forms and streams are that several files name.

/// The first screen.
pub(crate) const HOME_PATH: &str = "/console";
/// Ends the session.
pub(crate) const SIGN_OUT_PATH: &str = "/console/sign-out";
/// The rows of a run.
pub(crate) const RUN_EVENTS_PATH: &str = "/console/runs/{run_id}/events";
/// A run as a file.
pub(crate) const RUN_EXPORT_PATH: &str = "/console/runs/{run_id}/export";
/// Usage of models as a file.
pub(crate) const USAGE_EXPORT_PATH: &str = "/console/usage/export";
/// The list of attention.
pub(crate) const ATTENTION_PATH: &str = "/console/events";
/// Begins a conversation.
pub(crate) const START_PATH: &str = "/console/chat/start";
/// Continues a conversation with a message to its newest run.
pub(crate) const SEND_PATH: &str = "/console/runs/{run_id}/send";
/// What is behind the path of a form, for a page that shows what it would do.
pub(crate) const PREVIEW_SUFFIX: &str = "/preview";
/// Models and their servers.
pub(crate) const MODELS_PATH: &str = "/console/models";
/// Adds a server of models.
pub(crate) const ADD_MODEL_PATH: &str = "/console/models/add";
/// What to ask first.
pub(crate) const FIRST_STEPS_PATH: &str = "/console/start";
/// The hashes between two sizes of the journal.
pub(crate) const CONSISTENCY_PATH: &str = "/console/proofs/consistency";
/// The proof of one entry.
pub(crate) const ENTRY_PROOF_PATH: &str = "/console/proofs/entry";
/// The cards of a conversation, alone.
pub(crate) const ASKED_PATH: &str = "/console/sessions/{session_id}/asked";
/// Schedules.
pub(crate) const SCHEDULES_PATH: &str = "/console/schedules";
/// Makes a schedule.
pub(crate) const NEW_SCHEDULE_PATH: &str = "/console/schedules/new";
/// Replaces a schedule.
pub(crate) const EDIT_SCHEDULE_PATH: &str = "/console/schedules/{schedule_id}/edit";
/// Pauses all schedules.
pub(crate) const PAUSE_SCHEDULES_PATH: &str = "/console/schedules/pause";
/// Ends the pause of all schedules.
pub(crate) const RESUME_SCHEDULES_PATH: &str = "/console/schedules/resume";
/// What was learned.
pub(crate) const LEARNING_PATH: &str = "/console/learning";
/// What self-healing found.
pub(crate) const INCIDENTS_PATH: &str = "/console/incidents";
/// Sets what self-healing does in a domain.
pub(crate) const HEALING_MODE_PATH: &str = "/console/incidents/mode";
