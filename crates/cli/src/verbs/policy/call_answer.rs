//! The answer of a person to the question about a call.

use palyra_client::Client;
use palyra_wire::v1;

use crate::failure::Failure;
use palyra_run_view::answered_question;

const APPROVALS_READ_MAX: u32 = 500;

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
    Ok(last.as_ref().map(answered_question))
}
