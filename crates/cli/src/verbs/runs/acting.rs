//! The newest run that called a tool: what a person means by "that" after runs that only answered.

use palyra_client::Client;
use palyra_wire::v1;

use super::erased::is_erased;
use crate::failure::Failure;

/// Runs that are looked at, the newest first.
const RUNS_LOOKED_AT_MAX: u32 = 50;

/// Returns the newest of the runs that called a tool, where the last one of them, which is named, called none. The request
/// says of which session or folder they are.
pub(crate) async fn acting_before(
    client: &Client,
    last: &str,
    among: v1::ListRunsRequest,
) -> Result<Option<v1::Run>, Failure> {
    let request = v1::ListRunsRequest { page_size: RUNS_LOOKED_AT_MAX, ..among };
    let mut runs = client.call(request).await?.runs.into_iter();
    if !runs.next().is_some_and(|run| run.run_id == last && run.tool_calls == 0) {
        return Ok(None);
    }
    for run in runs.filter(|run| run.tool_calls > 0) {
        // A person cannot mean a run of which nothing is left.
        if !is_erased(client, &run.run_id).await? {
            return Ok(Some(run));
        }
    }
    Ok(None)
}
