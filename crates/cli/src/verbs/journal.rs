//! `palyra journal`: the record as a whole.

mod accept_rollback;
mod erase;
mod export;
mod prove;
mod rebuild;
mod typed_lines;

use clap::Subcommand;
use palyra_client::{Client, JournalStep};
use palyra_types::ErrorCode;
use palyra_wire::json::{to_json, to_json_with_defaults};
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::number_of_entries;
use palyra_screen_text::{bytes, count};
use palyra_terminal::{NoteKind, Output};

/// Verify, prove, export, erase, rebuild and look at the journal.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalVerb {
    /// Check every entry; exits with 1 when one does not verify
    #[command(after_help = "Example:\n  palyra journal verify")]
    Verify {
        /// The report as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the journal's state and counters
    #[command(after_help = "Example:\n  palyra journal status")]
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// List entries, without their content
    #[command(
        after_help = "Examples:\n  palyra journal show last\n  palyra journal show --from 100 --limit 20"
    )]
    Show {
        /// This entry only: its number, or `last`
        #[arg(value_name = "SEQ", conflicts_with_all = ["from", "limit"])]
        entry: Option<prove::EntryNumber>,
        /// From this entry on [default: the newest ones]
        #[arg(long, value_name = "SEQ")]
        from: Option<u64>,
        /// At most so many
        #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Rebuild what is derived from the log
    #[command(after_help = "Examples:\n  palyra journal rebuild\n  palyra journal rebuild --offline")]
    Rebuild {
        /// Stop the daemon and let the next start do it: also where the daemon cannot serve, or not write
        #[arg(long)]
        offline: bool,
        /// The result as JSON
        #[arg(long)]
        json: bool,
    },
    Prove(prove::ProveArgs),
    Checkpoint(prove::CheckpointArgs),
    Export(export::ExportArgs),
    AcceptRollback(accept_rollback::AcceptRollbackArgs),
    Erase(erase::EraseArgs),
    Scrub(erase::ScrubArgs),
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: JournalVerb) -> Result<Exit, Failure> {
    if let JournalVerb::AcceptRollback(args) = verb {
        return accept_rollback::accept_rollback(context, args).await;
    }
    if let JournalVerb::Rebuild { offline: true, json } = verb {
        return rebuild::offline(context, json.into()).await;
    }
    let client = context.connect_to_inspect().await?;
    match verb {
        JournalVerb::Prove(args) => prove::prove(context, &client, args).await,
        JournalVerb::Checkpoint(args) => prove::checkpoint(context, &client, args).await,
        JournalVerb::Export(args) => export::export(context, &client, args).await,
        JournalVerb::AcceptRollback(args) => accept_rollback::accept_rollback(context, args).await,
        JournalVerb::Erase(args) => erase::erase(context, &client, args).await,
        JournalVerb::Scrub(args) => erase::scrub(context, &client, args).await,
        JournalVerb::Verify { json } => verify(context, &client, json.into()).await,
        JournalVerb::Status { json } => status(context, &client, json.into()).await,
        JournalVerb::Show { entry, from, limit, json } => {
            let (from, limit) = match entry {
                Some(entry) => (Some(entry.resolve(&client).await?), 1),
                None => (from, limit),
            };
            let shown = list(context, &client, from, limit, json.into()).await?;
            if let (Some(shown), None) = (shown, entry) {
                context.output.note(NoteKind::Info, &shown);
            }
            Ok(Exit::Done)
        }
        JournalVerb::Rebuild { json, .. } => rebuild(context, &client, json.into()).await,
    }
}

fn progress(output: &Output, what: &str, progress: &v1::JournalProgress) {
    let percent = (progress.done.min(progress.total) * 100).checked_div(progress.total).unwrap_or(0);
    output.progress(&format!("{what} {percent}% ({} of {})", progress.done, progress.total));
}

async fn verify(context: &Context, client: &Client, format: OutputFormat) -> Result<Exit, Failure> {
    let mut watch = client.verify_journal().await?;
    let report = loop {
        match watch.next().await? {
            JournalStep::Progress(step) => progress(&context.output, "verifying", &step),
            JournalStep::Done(report) => break report,
        }
    };
    match format {
        OutputFormat::Json => context.output.json(&to_json_with_defaults(&report))?,
        OutputFormat::Text if report.ok => {
            context.output.line(&format!(
                "ok: {}, head {}",
                number_of_entries(report.entries),
                report.head
            ))?;
            for line in verified(&report) {
                context.output.line(&line)?;
            }
        }
        OutputFormat::Text => {
            let message = format!("entry {} does not verify: {}", report.first_bad_seq, report.fault);
            context.output.error(ErrorCode::JournalCorrupt, &message);
        }
    }
    Ok(if report.ok { Exit::Done } else { Exit::Failed })
}

/// Says what a good report covers.
fn verified(report: &v1::JournalReport) -> [String; 3] {
    let unsigned = report.entries.saturating_sub(report.signed_entries);
    let covered = match unsigned {
        0 => format!("all {}", number_of_entries(report.entries)),
        more => format!(
            "{}; {} after it not signed yet",
            number_of_entries(report.signed_entries),
            number_of_entries(more)
        ),
    };
    let signed = match report.signed_heads {
        0 => "no head is signed yet".to_owned(),
        heads => format!("{} with valid signatures, the newest over {covered}", count(heads, "signed head"),),
    };
    [
        "  entries     each hash, the chain and every stored content".to_owned(),
        "  tree        computed again from the entries; it is the stored one".to_owned(),
        format!("  signatures  {signed}"),
    ]
}

async fn rebuild(context: &Context, client: &Client, format: OutputFormat) -> Result<Exit, Failure> {
    let mut watch = client.rebuild_journal().await?;
    let folded = loop {
        match watch.next().await? {
            JournalStep::Progress(step) => progress(&context.output, "rebuilding", &step),
            JournalStep::Done(folded) => break folded,
        }
    };
    match format {
        OutputFormat::Json => context.output.json(&serde_json::json!({ "folded": folded }))?,
        OutputFormat::Text => context.output.line(&format!("rebuilt from {}", number_of_entries(folded)))?,
    }
    Ok(Exit::Done)
}

async fn status(context: &Context, client: &Client, format: OutputFormat) -> Result<Exit, Failure> {
    let status = client.journal_status().await?;
    if format == OutputFormat::Json {
        context.output.json(&to_json_with_defaults(&status))?;
        return Ok(Exit::Done);
    }
    let health = match status.cause_name().as_ref() {
        "" if status.health() == v1::JournalHealth::EndingsOnly => {
            "disk too full for new runs; open runs can still record how they end".to_owned()
        }
        "" => status.health_name().into_owned(),
        cause => format!("{}: {}", status.health_name(), cause_text(cause)),
    };
    let verified = match status.integrity() {
        v1::JournalIntegrity::Holds => "every entry holds".to_owned(),
        v1::JournalIntegrity::Faulty => {
            format!("entry {} does not verify: {}", status.first_bad_seq, status.fault)
        }
        v1::JournalIntegrity::TableDiffers => format!(
            "every entry holds, but the derived table `{}` is not what they say; run `palyra journal rebuild`",
            status.fault
        ),
        v1::JournalIntegrity::NotChecked | v1::JournalIntegrity::Unspecified => {
            "not yet since the daemon started".to_owned()
        }
    };
    let signed = match &status.checkpoint {
        Some(checkpoint) if checkpoint.size == status.entries => {
            format!("all {}", number_of_entries(status.entries))
        }
        Some(checkpoint) => format!("the first {} of {}", checkpoint.size, number_of_entries(status.entries)),
        None => "nothing yet".to_owned(),
    };
    for (name, value) in [
        ("log", status.log_id.clone()),
        ("start", format!("number {}", status.epoch)),
        ("health", health),
        ("verified", verified),
        ("signed", signed),
        ("entries", status.entries.to_string()),
        (
            "written",
            format!(
                "{}, {}, {}",
                count(status.commits, "commit"),
                count(status.rows, "row"),
                bytes(status.bytes)
            ),
        ),
        (
            "on disk",
            format!("{} and {} not yet merged", bytes(status.database_bytes), bytes(status.wal_bytes)),
        ),
    ] {
        context.output.line(&format!("{name:<10}{value}"))?;
    }
    Ok(Exit::Done)
}

/// Returns why the journal is read-only, in words.
fn cause_text(cause: &str) -> &str {
    match cause {
        "io_error" => "an I/O error; the next start repairs what it can",
        "newer_entries" => "a newer version wrote entries that this one does not know",
        "tail_disagrees" => "its end, its tree and its newest signed head contradict each other",
        "behind_anchor" => "it is shorter than a head it has signed (`palyra journal accept-rollback`)",
        "files_gone" => "a file of it was removed, replaced or cut while it was in use",
        "key_lost" => "the key that should sign it is gone (`palyra journal accept-rollback`)",
        other => other,
    }
}

/// Lists entries; returns what is said of them where there are others.
async fn list(
    context: &Context,
    client: &Client,
    from: Option<u64>,
    limit: u32,
    format: OutputFormat,
) -> Result<Option<String>, Failure> {
    let total = client.journal_status().await?.entries;
    let from = from.unwrap_or_else(|| total.saturating_sub(limit.into()));
    let listed = client.list_entries(from, limit).await?;
    let shown = listed.len() as u64;
    let inside = match listed.as_slice() {
        [erasure] if format == OutputFormat::Text => client.entries_inside(erasure).await?,
        _ => Vec::new(),
    };
    show(&context.output, &listed, &inside, format)?;
    if format == OutputFormat::Json || shown == total {
        return Ok(None);
    }
    if shown == 0 {
        let message = format!("the journal has {}, numbered from 0", number_of_entries(total));
        context.output.note(NoteKind::Info, &message);
        return Ok(None);
    }
    let range = format!("entries {from} to {} of {}", from + shown - 1, number_of_entries(total));
    Ok(Some(format!("{range}; --from and --limit show others")))
}

fn show(
    output: &Output,
    entries: &[v1::JournalEntry],
    inside: &[v1::JournalEntry],
    format: OutputFormat,
) -> Result<Exit, Failure> {
    if format == OutputFormat::Json {
        entries.iter().try_for_each(|entry| output.json(&to_json(entry)))?;
        return Ok(Exit::Done);
    }
    let erasure =
        if let [entry] = entries { palyra_run_view::erasure_of_entries(entry, inside) } else { None };
    for line in palyra_run_view::entry_table(entries, output.columns()) {
        output.exact_line(&line)?;
    }
    if let Some(erasure) = erasure {
        output.line(&erasure)?;
    }
    Ok(Exit::Done)
}
