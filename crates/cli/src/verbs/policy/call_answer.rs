//! The answer of a person to the question about a call.

use palyra_client::Client;
use palyra_wire::v1;

use crate::failure::Failure;
use palyra_run_view::{approval_state_name, date, decider};
use palyra_screen_text::clean_line;

const APPROVALS_READ_MAX: u32 = 500;
const NOTE_CHARS_MAX: usize = 240;

/// Returns who answered the last question about a call, when, and with which reason; nothing where none was asked.
pub(super) async fn call_answer(client: &Client, run: &str, effect: u32) -> Result<Option<String>, Failure> {
    let request = v1::ListApprovalsRequest {
        run_id: run.to_owned(),
        only: v1::ApprovalFilter::All.into(),
        page_size: APPROVALS_READ_MAX,
        ..Default::default()
    };
    let approvals = client.call(request).await?.approvals.into_iter();
    let last =
        approvals.filter(|approval| approval.effect_id == effect).max_by_key(|approval| approval.tape_seq);
    Ok(last.map(|approval| in_words(&approval)))
}

fn in_words(approval: &v1::Approval) -> String {
    let state = approval_state_name(approval.state());
    let by = match approval.decided_by.as_str() {
        "" => String::new(),
        _ => format!(" by {}", decider(approval)),
    };
    let when = approval.decided.map_or_else(String::new, |_| format!(", {}", date(approval.decided)));
    let note = clean_line(&approval.note, NOTE_CHARS_MAX);
    let why = if note.is_empty() { note } else { format!(": {note}") };
    format!("the question: {state}{by}{when}{why}")
}
