//! `palyra journal accept-rollback`: going on with a journal that has lost its end.
//!
//! Owns the order that is left for the next start, and that this account gives up a signed head which the log does not
//! continue. The daemon carries the order out, because nobody else writes the journal.

use palyra_backup::leave_order;
use palyra_client::{ClientError, GivenUpHead};
use palyra_types::state_dir::ACCEPT_ROLLBACK_FILE_NAME;
use palyra_wire::json::to_json_with_defaults;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::NoteKind;

/// Go on with a journal that is shorter than it was: begin a new log over what is left
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra journal accept-rollback --yes")]
pub(crate) struct AcceptRollbackArgs {
    /// Do it; without this the command only says what it would do
    #[arg(long)]
    yes: bool,
    /// The new journal's state as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn accept_rollback(context: &Context, args: AcceptRollbackArgs) -> Result<Exit, Failure> {
    context.require_local("palyra journal accept-rollback")?;
    if !args.yes {
        return Err(Failure::Usage(
            "this ends the present log and begins a new one over the entries that are left; runs that are open \
             then wait for you. Where this account has seen more entries signed than are left, it gives that signed head \
             up. Bring back a newer copy of the state directory instead if you have one. \
             Repeat it with --yes to go on"
                .to_owned(),
        ));
    }
    let state = context.state_dir()?;
    match context.connect_running().await {
        Ok(client) => context.waiting("waiting for what runs to finish", client.stop_daemon()).await?,
        Err(Failure::Client(ClientError::NotRunning { .. })) => {}
        Err(failure) => return Err(failure),
    }
    leave_order(&state, ACCEPT_ROLLBACK_FILE_NAME, "rollback_accepted")?;
    let client = context.connect_to_inspect().await?;
    let heads = context.heads_folder()?;
    let given_up = match heads {
        Some(heads) => client.give_up_kept_head(&heads).await?,
        None => None,
    };
    if let Some(GivenUpHead { log_id, known, entries }) = given_up {
        let message = format!(
            "gave up the signed head of {known} entries that this account has seen of log {log_id}; its newest signed \
             head has {entries}, and what came after the entries that both have in common is not proved any more"
        );
        context.output.note(NoteKind::Doubt, &message);
    }
    let status = client.journal_status().await?;
    match OutputFormat::from(args.json) {
        OutputFormat::Json => context.output.json(&to_json_with_defaults(&status))?,
        OutputFormat::Text => {
            let message = format!("log {} goes on with {} entries", status.log_id, status.entries);
            context.output.note(NoteKind::Good, &message);
        }
    }
    Ok(Exit::Done)
}
