//! Runs that take no answer because they wait for something else, or for their turn.

use palyra_client::{Client, ClientError};
use palyra_run_view::{how_to_go_on, queued_run};
use palyra_terminal::{NoteKind, Output};
use palyra_types::RunId;
use palyra_wire::v1;

/// Says what a queued run waits behind; nothing where the run is not queued.
pub(super) async fn note_turn(output: &Output, client: &Client, run: &v1::Run) -> Result<(), ClientError> {
    if let Some(turn) = turn_of(client, run).await? {
        output.note(NoteKind::Info, &turn);
    }
    Ok(())
}

/// Returns what lets a run go on that takes no words now; `None` where that is not known.
pub(super) async fn waits_otherwise(client: &Client, run: RunId) -> Option<String> {
    let run = client.get_run(run).await.ok()?;
    if run.phase() == v1::RunPhase::Waiting {
        return how_to_go_on(&run).map(|how| format!("the run waits for something else: {how}"));
    }
    turn_of(client, &run).await.ok().flatten()
}

async fn turn_of(client: &Client, run: &v1::Run) -> Result<Option<String>, ClientError> {
    if run.phase() != v1::RunPhase::Queued {
        return Ok(None);
    }
    let session = v1::SessionSelector { session_id: run.session_id.clone(), ..Default::default() };
    let active = client.active_run(&session).await?;
    Ok(active.map(|active| queued_run(&active.run, active.approval.as_deref())))
}
