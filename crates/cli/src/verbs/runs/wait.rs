//! `palyra runs wait`: blocks until a run ends or asks.

use palyra_client::{Client, FollowEvent, RunFollower};
use palyra_types::RunId;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use super::{queued, standing, waiting};
use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{EchoMode, RunView, TextFlow, run_state};
use palyra_terminal::NoteKind;

/// Waits until the run ends or waits for a person. Leaving with Ctrl-C does not stop the run.
pub(super) async fn wait(
    context: &Context,
    client: &Client,
    run: RunId,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    if format == OutputFormat::Text {
        queued::note_turn(&context.output, client, &client.get_run(run).await?).await?;
    }
    let (known, exit) = until_it_rests(context, client, run).await?;
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(&known))?;
        return Ok(exit);
    }
    context.output.line(&format!("{} {}", known.run_id, standing(&known)))?;
    if known.phase() == v1::RunPhase::Waiting {
        waiting::show_question(context, client, &known).await?;
    }
    Ok(exit)
}

/// Follows the run's tape until there is nothing more to wait for.
async fn until_it_rests(context: &Context, client: &Client, run: RunId) -> Result<(v1::Run, Exit), Failure> {
    let mut follower = RunFollower::attach(client, run, 0);
    let mut view = RunView::new(EchoMode::No, TextFlow::Whole);
    let mut caught_up = false;
    while let Some(event) = follower.next().await? {
        match event {
            FollowEvent::Entry(entry) => drop(view.absorb(&entry)),
            FollowEvent::CaughtUp => caught_up = true,
            FollowEvent::Lost => context.output.note(NoteKind::Doubt, "the daemon is gone; looking for it"),
            FollowEvent::Reattached => context.output.note(NoteKind::Info, "the daemon is back; going on"),
            FollowEvent::Ended(end) => {
                return Ok((client.get_run(run).await?, Exit::of_view(&view, run_state(end.state))));
            }
            FollowEvent::Opened(_) | FollowEvent::CancelTaken | FollowEvent::InputAccepted(_) => {}
        }
        if caught_up && view.may_wait() {
            let known = client.get_run(run).await?;
            if known.phase() == v1::RunPhase::Waiting {
                return Ok((known, Exit::Withheld));
            }
        }
    }
    let known = client.get_run(run).await?;
    let exit = Exit::of_view(&view, run_state(known.state));
    Ok((known, exit))
}
