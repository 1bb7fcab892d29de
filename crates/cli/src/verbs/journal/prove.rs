//! `palyra journal prove` and `checkpoint`: what others can hold the journal to.

use std::str::FromStr;

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
#[command(after_help = "Examples:\n  palyra journal prove 42\n  palyra journal prove last")]
pub(crate) struct ProveArgs {
    /// The entry, as `palyra journal show` numbers it, or `last`
    seq: EntryNumber,
    /// The proof as JSON, hashes in base64
    #[arg(long)]
    json: bool,
}

/// The number of an entry of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryNumber {
    /// The one with this number.
    Exact(u64),
    /// The newest one.
    Last,
}

impl FromStr for EntryNumber {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(number) => Ok(Self::Exact(number)),
            Err(_) if text == "last" => Ok(Self::Last),
            Err(_) => {
                Err("an entry is named by its number, which `palyra journal show` lists, or `last`"
                    .to_owned())
            }
        }
    }
}

impl EntryNumber {
    /// Returns the number; the newest entry is looked up.
    pub(super) async fn resolve(self, client: &Client) -> Result<u64, Failure> {
        Ok(match self {
            Self::Exact(seq) => seq,
            // They are numbered from 0.
            Self::Last => client.journal_status().await?.entries.saturating_sub(1),
        })
    }
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
    let proved = client.prove_entry(args.seq.resolve(client).await?).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_named_by_its_number_or_as_the_last() {
        assert_eq!("42".parse(), Ok(EntryNumber::Exact(42)));
        assert_eq!("last".parse(), Ok(EntryNumber::Last));
        for wrong in ["last~1", "-1", "X4H9"] {
            assert!(wrong.parse::<EntryNumber>().unwrap_err().contains("`palyra journal show`"), "{wrong}");
        }
    }
}
