//! `palyra model list`.

use palyra_client::AskProviders;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::NoteKind;

/// List the models the daemon can ask.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra model list --ask")]
pub(crate) struct ListArgs {
    /// Ask the providers which models they have
    #[arg(long)]
    ask: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: ListArgs) -> Result<Exit, Failure> {
    let ask = if args.ask { AskProviders::Yes } else { AskProviders::No };
    let client = context.connect().await?;
    let models = context.waiting("asking the providers", client.list_models(ask)).await?;
    if args.json {
        context.output.json(&to_json_with_defaults(&models))?;
        return Ok(Exit::Done);
    }
    let default = models.default_model.as_str();
    let row = |model: v1::Model| {
        let mark = if model.model == default { "*" } else { "" };
        let note = if model.error.is_empty() { model.note } else { model.error };
        // A provider whose models are not known yet.
        let name = if model.model.contains('/') { model.model } else { format!("{}/*", model.model) };
        [mark.to_owned(), name, window(model.context_tokens), note]
    };
    let rows = models.models.into_iter().map(row).collect();
    context.table(["", "MODEL", "WINDOW", "NOTE"], rows)?;
    for suggestion in &models.suggestions {
        context.output.note(NoteKind::Info, suggestion);
    }
    Ok(Exit::Done)
}

/// Returns a model's window; the provider may not say it.
fn window(tokens: u64) -> String {
    if tokens == 0 { "-".to_owned() } else { tokens.to_string() }
}
