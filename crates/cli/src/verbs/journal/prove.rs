//! `palyra journal prove` and `checkpoint`: what others can hold the journal to.

use palyra_client::{Client, ProvedEntry};
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;
use serde_json::json;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::{NoteKind, Output};

/// Prove that the journal holds an entry
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra journal prove 42")]
pub(crate) struct ProveArgs {
    /// The entry, as `palyra journal show` numbers it
    seq: u64,
    /// The proof as JSON, hashes in base64
    #[arg(long)]
    json: bool,
}

/// Print a signed head of the journal, for `palyra-verify --since`
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra journal checkpoint > head\n  palyra journal checkpoint --rotate-key"
)]
pub(crate) struct CheckpointArgs {
    /// Only the newest there is, without signing what came since
    #[arg(long, conflicts_with = "rotate_key")]
    newest: bool,
    /// Begin a new signing key, signed by the old one, which is destroyed
    #[arg(long)]
    rotate_key: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn prove(context: &Context, client: &Client, args: ProveArgs) -> Result<Exit, Failure> {
    let proved = client.prove_entry(args.seq).await?;
    match OutputFormat::from(args.json) {
        OutputFormat::Json => context.output.json(&to_json_with_defaults(&proved.proof))?,
        OutputFormat::Text => show_proof(&context.output, &proved)?,
    }
    Ok(Exit::Done)
}

fn show_proof(output: &Output, proved: &ProvedEntry) -> Result<(), Failure> {
    for (name, value) in [
        ("entry", format!("{} ({})", proved.seq, proved.proof.kind)),
        ("leaf", proved.leaf.clone()),
        ("root", proved.root.clone()),
        ("tree", format!("{} entries of log {}", proved.size, proved.log_id)),
        ("path", format!("{} hashes, checked here", proved.proof.hashes.len())),
    ] {
        output.line(&format!("{name:<6}{value}"))?;
    }
    Ok(())
}

pub(crate) async fn checkpoint(
    context: &Context,
    client: &Client,
    args: CheckpointArgs,
) -> Result<Exit, Failure> {
    let checkpoint = if args.newest {
        client.checkpoint().await?
    } else {
        let request = v1::GetCheckpointRequest { sign_now: true, rotate_key: args.rotate_key };
        Some(client.sign_checkpoint(request).await?)
    };
    match (checkpoint, OutputFormat::from(args.json)) {
        (Some(checkpoint), OutputFormat::Json) => context.output.json(&to_json_with_defaults(&checkpoint))?,
        (Some(checkpoint), OutputFormat::Text) => context.output.verbatim(&checkpoint.note)?,
        (None, OutputFormat::Json) => context.output.json(&json!({}))?,
        (None, OutputFormat::Text) => context.output.note(NoteKind::Info, "nothing is signed yet"),
    }
    Ok(Exit::Done)
}
