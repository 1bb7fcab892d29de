//! Domain values to wire messages, and back.
//!
//! Total functions without side effects. Begin at `entry.rs` for tapes, `selector.rs` for requests.

mod entry;
mod event;

mod approval;

mod client_tools;
pub(crate) mod references;

mod routing;

mod records;

mod journal_entry;

mod selector;

mod page;

mod ids;

mod kept;

mod names;

mod plain;

pub(crate) use approval::{approval, argument_rule_from, effect, effect_resolution, grant, undone_file};
pub(crate) use entry::page_to_wire;
pub use entry::tape_entry;
pub(crate) use event::{attachment_info, project_file};
pub use ids::id;
pub(crate) use ids::{InvalidId, InvalidValue, agent_name, model, token_days};
pub(crate) use journal_entry::{journal_entry, journal_kind};
pub(crate) use kept::kept_file;
pub(crate) use names::{
    approval_filter, approvers, check_level, decision_reason, effect_contract, effect_filter, journal_health,
    model_source, read_only_cause, recall_change, risk, run_filter, session_filter, verdict,
};
pub(crate) use page::{page_rows, run_cursor, session_cursor, sessions_cursor_after, tape_rows};
pub use plain::run_state;
pub(crate) use plain::{digest, hex, hex_or_empty, surface, surface_filter, time, timestamp, token_usage};
pub(crate) use records::{agent, run, run_undo, session};
pub use selector::input_delivery;
pub(crate) use selector::{
    absolute_path, branch_point, idempotency_key, input_delivery_to_wire, response_format, session_selector,
    workspace_root,
};
