//! `palyra config`: the configuration in force.

use clap::Subcommand;
use palyra_wire::json::to_json_with_defaults;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Look at the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Show every setting in force; secrets are references
    Show {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
        /// As JSON, with origins
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: ConfigVerb) -> Result<Exit, Failure> {
    let ConfigVerb::Show { origin, json } = verb;
    let config = context.connect().await?.config().await?;
    if json {
        context.output.json(&to_json_with_defaults(&config))?;
        return Ok(Exit::Done);
    }
    let lines: Vec<_> =
        config.values.iter().map(|value| format!("{} = {}", value.key, value.value)).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).min(60);
    for (line, value) in lines.iter().zip(&config.values) {
        if origin {
            context.output.line(&format!("{line:<width$}  # {}", value.origin))?;
        } else {
            context.output.line(line)?;
        }
    }
    Ok(Exit::Done)
}
