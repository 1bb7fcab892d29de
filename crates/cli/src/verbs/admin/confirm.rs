//! `palyra admin confirm`: a one-time code with which an owner confirms a change over the network.

use palyra_wire::json::to_json;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::NoteKind;

/// Print a one-time code that confirms one change over the network
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra admin confirm")]
pub(crate) struct ConfirmArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(super) async fn run(context: &Context, args: &ConfirmArgs) -> Result<Exit, Failure> {
    let made = context.connect().await?.call(v1::CreateConfirmationRequest {}).await?;
    if args.json {
        context.output.json(&to_json(&made))?;
        return Ok(Exit::Done);
    }
    context.output.exact_line(&made.code)?;
    let message = format!("it confirms one change within {} seconds", made.seconds);
    context.output.note(NoteKind::Info, &message);
    Ok(Exit::Done)
}
