//! `palyra journal rebuild --offline`: rebuilding what is derived from the log, by the next start.
//!
//! Owns the order that is left for it. The daemon carries it out, because nobody else writes the journal.

use palyra_backup::leave_order;
use palyra_client::ClientError;
use palyra_types::state_dir::REBUILD_FILE_NAME;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::number_of_entries;
use palyra_terminal::NoteKind;

pub(super) async fn offline(context: &Context, format: OutputFormat) -> Result<Exit, Failure> {
    context.require_local("palyra journal rebuild --offline")?;
    let state = context.state_dir()?;
    match context.connect_running().await {
        Ok(client) => context.waiting("waiting for what runs to finish", client.stop_daemon()).await?,
        Err(Failure::Client(ClientError::NotRunning { .. })) => {}
        Err(failure) => return Err(failure),
    }
    leave_order(&state, REBUILD_FILE_NAME, "rebuild")?;
    let client = context.connect_to_inspect().await?;
    let status = client.journal_status().await?;
    match format {
        OutputFormat::Json => context.output.json(&serde_json::json!({ "folded": status.entries }))?,
        OutputFormat::Text => {
            let message = format!("rebuilt from {}", number_of_entries(status.entries));
            context.output.note(NoteKind::Good, &message);
        }
    }
    Ok(Exit::Done)
}
