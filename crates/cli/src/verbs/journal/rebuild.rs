//! `palyra journal rebuild --offline`: rebuilding what is derived from the log, by the next start.
//!
//! Owns the order that is left for it. The daemon carries it out, because nobody else writes the journal.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use palyra_client::ClientError;
use palyra_types::ErrorCode;
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
    leave_order(&state)?;
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

fn leave_order(state: &Path) -> Result<(), Failure> {
    let path = state.join(REBUILD_FILE_NAME);
    let written =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path).and_then(
            |mut file| {
                file.write_all(b"rebuild\n")?;
                file.sync_all()
            },
        );
    written.map_err(|error| {
        Failure::local(ErrorCode::StateDirUnusable, format!("{} cannot be written: {error}", path.display()))
    })
}
