//! `palyra usage`: what models used, and what it cost.

use palyra_client::Client;
use palyra_wire::json::to_json;
use palyra_wire::v1;

use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::typed_day;
use palyra_screen_text::AmbiguousWidth;
use palyra_terminal::{NoteKind, Output};
use palyra_usage_view::{EXPORT_ROWS_MAX, GROUPING_NAMES, TableStyle, grouping_named, usage_csv, usage_text};

/// Show what models used and cost, with a bar for each row
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Days are days of UTC. A bar shows the cost, or the tokens where no prices are set:\n\
                  `palyra explain docs/usage.md`.\n\n\
                  Examples:\n  palyra usage\n  palyra usage --since 7d --by model\n  palyra usage --by session --csv > usage.csv"
)]
pub(crate) struct UsageArgs {
    /// The first day, such as today, 7d or 2026-01-31 [default: 29 days before the last]
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// The last day [default: today]
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    /// One row for each day, model, session, surface or agent
    #[arg(long, default_value = "day", value_name = "WHAT", value_parser = GROUPING_NAMES, hide_possible_values = true)]
    by: String,
    /// As JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// As CSV
    #[arg(long)]
    csv: bool,
}

/// Runs the verb.
pub(crate) async fn run(output: &Output, client: &Client, args: UsageArgs) -> Result<Exit, Failure> {
    let by = grouping_named(&args.by);
    let is_export = args.json || args.csv;
    let request = v1::GetUsageRequest {
        from: args.since.as_deref().map(day).transpose()?,
        until: args.until.as_deref().map(day).transpose()?,
        // Remarks name models.
        group_by: if is_export { vec![by.into()] } else { with_models(by) },
        rows_max: if is_export { EXPORT_ROWS_MAX } else { 0 },
    };
    let usage = client.call(request).await?;
    if args.json {
        output.json(&to_json(&usage))?;
    } else if args.csv {
        output.verbatim(&usage_csv(&usage))?;
    } else {
        let ambiguous = AmbiguousWidth::of(|name| std::env::var(name).ok());
        let text = usage_text(&usage, by, TableStyle { columns: output.columns(), ambiguous });
        text.lines.iter().try_for_each(|line| output.exact_line(line))?;
        text.notes.iter().for_each(|note| output.note(NoteKind::Info, note));
    }
    Ok(Exit::Done)
}

fn with_models(by: v1::UsageGrouping) -> Vec<i32> {
    let mut groupings = vec![by.into(), v1::UsageGrouping::Model.into()];
    groupings.dedup();
    groupings
}

fn day(text: &str) -> Result<prost_types::Timestamp, Failure> {
    typed_day(text, jiff::Timestamp::now().as_second()).map_err(Failure::Usage)
}
