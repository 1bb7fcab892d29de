//! What waits for a person, as the daemon says.

use std::path::Path;

use palyra_client::Client;
use palyra_run_view::WaitingWork;
use palyra_wire::v1;

use crate::failure::Failure;
use crate::verbs::open_questions::open_question;
use palyra_screen_text::short_id;

/// Asks the daemon. Without a folder, as over TCP, all of it is elsewhere.
pub(super) async fn look_for_work(client: &Client, folder: Option<&Path>) -> Result<WaitingWork, Failure> {
    let workspace_root = folder.map(|folder| folder.display().to_string()).unwrap_or_default();
    let items = client.call(v1::ListAttentionRequest { workspace_root }).await?.items;
    let newest = items.iter().find(|item| item.kind() == v1::AttentionKind::Question);
    let question = match newest.and_then(|item| item.run_id.parse().ok()) {
        Some(id) => {
            let run = client.get_run(id).await?;
            open_question(client, &run).await?.map(|asked| (short_id(&run.run_id), asked))
        }
        None => None,
    };
    Ok(WaitingWork { question, ..WaitingWork::counted(&items) })
}
