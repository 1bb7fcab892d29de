//! What is said of a run whose content was erased: when, by whom and why.

use palyra_client::{Client, ClientError};
use palyra_types::RunId;
use palyra_wire::v1;

use crate::failure::Failure;
use palyra_run_view::erased_how;
use palyra_screen_text::short_id;
use palyra_terminal::{NoteKind, Output};

/// Returns whether the content of a run was erased.
pub(crate) async fn is_erased(client: &Client, run: &str) -> Result<bool, Failure> {
    Ok(erased_beginning(client, run).await?.is_some())
}

/// Says that a branch of a run begins without what was said, where that was erased.
pub(crate) async fn note_erased_origin(output: &Output, client: &Client, run: &str) -> Result<(), Failure> {
    if is_erased(client, run).await? {
        let run = short_id(run);
        let note =
            format!("the content of run {run} was erased: the branch begins without what was said there");
        output.note(NoteKind::Doubt, &note);
    }
    Ok(())
}

async fn erased_beginning(client: &Client, run: &str) -> Result<Option<v1::TapeEntry>, Failure> {
    let Ok(id) = run.parse::<RunId>() else { return Ok(None) };
    let first = client.read_tape(id, 0, 1).await?.entries.into_iter().next();
    Ok(first.filter(|entry| entry.erased))
}

/// Returns what became of a run's content; `None` while it is there.
pub(super) async fn describe(client: &Client, run: &v1::Run) -> Result<Option<String>, Failure> {
    let Some(first) = erased_beginning(client, &run.run_id).await? else { return Ok(None) };
    let how = match client.erasure_of(first.seq).await {
        Ok(Some(erasure)) => erased_how(&erasure),
        // Only the owner may look at the journal as a whole.
        Ok(None) | Err(ClientError::Refused { .. }) => String::new(),
        Err(error) => return Err(error.into()),
    };
    Ok(Some(format!("was erased{how}")))
}
