//! `palyra admin incidents`: what self-healing found, and what it does in each domain.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use palyra_run_view::{healing_mode_row, incident_lines, incident_row};
use palyra_terminal::NoteKind;
use palyra_types::IncidentId;
use palyra_wire::json::to_json;
use palyra_wire::v1::{self, HealingDomain, HealingMode};
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Lists incidents.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  palyra admin incidents mode runs auto"
)]
pub(crate) struct IncidentsArgs {
    #[command(subcommand)]
    verb: Option<IncidentsVerb>,
    /// Also those that are over
    #[arg(long)]
    all: bool,
    /// One line of JSON each
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum IncidentsVerb {
    /// Show an incident with its evidence and its next remedy
    #[command(after_help = "Example:\n  palyra admin incidents show 01JGFJJZ00FE6VV7Z4V1SP3JT5")]
    Show {
        /// Its id, as the list shows it
        incident: IncidentId,
        /// The incident as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the mode of each domain, or set one
    #[command(after_help = "Example:\n  palyra admin incidents mode runs auto")]
    Mode {
        /// The domain
        #[arg(value_parser = domains(), requires = "mode")]
        domain: Option<HealingDomain>,
        /// What self-healing does there; `configured` for the setting healing.DOMAIN
        #[arg(value_parser = modes())]
        mode: Option<HealingMode>,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: IncidentsArgs) -> Result<Exit, Failure> {
    match args.verb {
        None => {
            let client = context.connect_to_inspect().await?;
            let request = v1::ListIncidentsRequest { all: args.all, ..Default::default() };
            let incidents = client.call(request).await?.incidents;
            let head = ["INCIDENT", "SEVERITY", "CAUSE", "SUBJECT", "OPENED", "STAGE", "NEXT"];
            context.list(args.json.into(), incidents, "no open incidents", head, incident_row)
        }
        Some(IncidentsVerb::Show { incident, json }) => {
            let client = context.connect_to_inspect().await?;
            let request = v1::GetIncidentRequest { incident_id: incident.to_string() };
            let incident = client.call(request).await?.incident.unwrap_or_default();
            if json {
                context.output.json(&to_json(&incident))?;
            } else {
                for line in incident_lines(&incident) {
                    context.output.line(&line)?;
                }
            }
            Ok(Exit::Done)
        }
        Some(IncidentsVerb::Mode { domain: None, json, .. }) => {
            let client = context.connect_to_inspect().await?;
            let domains = client.call(v1::ListIncidentsRequest::default()).await?.domains;
            let head = ["DOMAIN", "MODE", "FROM", "WATCHED"];
            context.list(json.into(), domains, "no domains", head, healing_mode_row)
        }
        Some(IncidentsVerb::Mode { domain: Some(domain), mode, json }) => {
            let mode = mode.unwrap_or_default();
            let client = context.connect().await?;
            let request = v1::SetHealingModeRequest { domain: domain.into(), mode: mode.into() };
            client.call(request).await?;
            if json {
                context.output.json(&json!({ "recorded": true }))?;
            } else {
                context.output.note(NoteKind::Good, "recorded; `palyra admin incidents mode` shows all");
            }
            Ok(Exit::Done)
        }
    }
}

fn domains() -> impl TypedValueParser<Value = HealingDomain> {
    let words = PossibleValuesParser::new(HealingDomain::SHORT_NAMES);
    words.map(|word| HealingDomain::from_short_name(&word).unwrap_or_default())
}

fn modes() -> impl TypedValueParser<Value = HealingMode> {
    let words = HealingMode::SHORT_NAMES.iter().copied().chain(["configured"]);
    let words = PossibleValuesParser::new(words);
    words.map(|word| HealingMode::from_short_name(&word).unwrap_or_default())
}
