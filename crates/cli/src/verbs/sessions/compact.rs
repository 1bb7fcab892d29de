//! `palyra sessions compact`: a summary in the place of older runs.

use palyra_client::Client;
use palyra_run_view::{compaction_lines, compaction_note};
use palyra_terminal::{NoteKind, Output};
use palyra_wire::json::to_json;
use palyra_wire::v1;

use super::NamedSession;
use crate::exit::Exit;
use crate::failure::Failure;

/// What to sum up, take back or list.
#[derive(Debug, clap::Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    named: NamedSession,
    /// Take the summary back that is read now; the runs themselves are read again
    #[arg(long, conflicts_with = "list")]
    revert: bool,
    /// List the summaries so far, with their texts
    #[arg(long)]
    list: bool,
}

impl CompactArgs {
    /// Returns what names the session.
    pub(super) fn session(&self) -> &str {
        &self.named.session
    }
}

/// Runs the verb.
pub(super) async fn run(output: &Output, client: &Client, args: CompactArgs) -> Result<Exit, Failure> {
    let session_id = args.named.id(client).await?.to_string();
    let made = if args.list {
        client.call(v1::ListCompactionsRequest { session_id }).await?.compactions
    } else if args.revert {
        let request = v1::RevertCompactionRequest { session_id, compaction: 0 };
        client.call(request).await?.compaction.into_iter().collect()
    } else {
        output.progress("summing up");
        client.call_slowly(v1::CompactSessionRequest { session_id }).await?.compaction.into_iter().collect()
    };
    for one in &made {
        if args.named.json {
            output.json(&to_json(one))?;
        } else if args.list {
            compaction_lines(one).try_for_each(|line| output.line(&line))?;
        } else {
            output.note(NoteKind::Good, &compaction_note(one));
        }
    }
    if made.is_empty() && !args.named.json {
        output.note(NoteKind::Info, "the session has no summary");
    }
    Ok(Exit::Done)
}
