//! `palyra admin incidents`: what self-healing found, and what it does in each domain.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use palyra_client::Client;
use palyra_run_view::{healing_mode_row, incident_lines, incident_row};
use palyra_terminal::{NoteKind, Output};
use palyra_types::IncidentId;
use palyra_wire::json::to_json;
use palyra_wire::v1::{self, HealingDomain, HealingMode};
use serde_json::json;

use crate::answers::ListForm;
use crate::verb_end::{BackgroundVerbEnd, BackgroundVerbError};

const INCIDENTS: ListForm<v1::Incident, 7> = ListForm {
    none: "no open incidents",
    head: ["INCIDENT", "SEVERITY", "CAUSE", "SUBJECT", "OPENED", "STAGE", "NEXT"],
    row: incident_row,
    json: to_json,
};
const MODES: ListForm<v1::HealingDomainMode, 4> = ListForm {
    none: "no domains",
    head: ["DOMAIN", "MODE", "FROM", "WATCHED"],
    row: healing_mode_row,
    json: to_json,
};

/// Lists incidents.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  palyra admin incidents mode runs auto"
)]
pub struct IncidentsArgs {
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

impl IncidentsArgs {
    pub(crate) fn is_inspection(&self) -> bool {
        !matches!(self.verb, Some(IncidentsVerb::Mode { domain: Some(_), .. }))
    }
}

/// Runs the verb.
pub(crate) async fn run(
    output: &Output,
    client: &Client,
    args: IncidentsArgs,
) -> Result<BackgroundVerbEnd, BackgroundVerbError> {
    match args.verb {
        None => {
            let request = v1::ListIncidentsRequest { all: args.all, ..Default::default() };
            let incidents = client.call(request).await?.incidents;
            INCIDENTS.print(output, args.json.into(), incidents)
        }
        Some(IncidentsVerb::Show { incident, json }) => {
            let request = v1::GetIncidentRequest { incident_id: incident.to_string() };
            let incident = client.call(request).await?.incident.unwrap_or_default();
            if json {
                output.json(&to_json(&incident))?;
            } else {
                for line in incident_lines(&incident) {
                    output.line(&line)?;
                }
            }
            Ok(BackgroundVerbEnd::Done)
        }
        Some(IncidentsVerb::Mode { domain: None, json, .. }) => {
            let domains = client.call(v1::ListIncidentsRequest::default()).await?.domains;
            MODES.print(output, json.into(), domains)
        }
        Some(IncidentsVerb::Mode { domain: Some(domain), mode, json }) => {
            let mode = mode.unwrap_or_default();
            let request = v1::SetHealingModeRequest { domain: domain.into(), mode: mode.into() };
            client.call(request).await?;
            if json {
                output.json(&json!({ "recorded": true }))?;
            } else {
                output.note(NoteKind::Good, "recorded; `palyra admin incidents mode` shows all");
            }
            Ok(BackgroundVerbEnd::Done)
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
