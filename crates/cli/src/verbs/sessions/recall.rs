//! `palyra sessions recall`: whether the runs of a session are given items of memory unasked.

use palyra_client::{Client, ClientError};
use palyra_run_view::{recall_note, recall_switch_of};
use palyra_terminal::{NoteKind, Output};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use super::NamedSession;
use crate::exit::Exit;
use crate::failure::Failure;

/// A session, and what it says.
#[derive(Debug, clap::Args)]
pub(crate) struct RecallArgs {
    #[command(flatten)]
    named: NamedSession,
    /// on, off, or inherit: as its agent says, or else the configuration
    #[arg(value_parser = ["on", "off", "inherit"])]
    switch: String,
}

impl RecallArgs {
    /// Returns what names the session.
    pub(super) fn session(&self) -> &str {
        &self.named.session
    }
}

/// Runs the verb.
pub(super) async fn run(output: &Output, client: &Client, args: RecallArgs) -> Result<Exit, Failure> {
    let session_id = args.named.id(client).await?.to_string();
    let session = set_recall(client, session_id, &args.switch).await?;
    if args.named.json {
        output.json(&to_json_with_defaults(&session))?;
    } else {
        output.note(NoteKind::Good, recall_note(&session));
    }
    Ok(Exit::Done)
}

/// Sets what a session says about recall.
pub(crate) async fn set_recall(
    client: &Client,
    session_id: String,
    switch: &str,
) -> Result<v1::Session, Failure> {
    let wrong = || Failure::Usage("write on, off or inherit".to_owned());
    let recall = recall_switch_of(switch).ok_or_else(wrong)?.into();
    let answer = client.call(v1::SetSessionRecallRequest { session_id, recall }).await?;
    Ok(answer.session.ok_or(ClientError::Protocol { what: "a session was not described" })?)
}
