//! `palyra model list`.

use palyra_client::AskProviders;
use palyra_types::ErrorCode;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::model_window;
use palyra_screen_text::clean_line;
use palyra_terminal::NoteKind;

const NAME_CHARS_MAX: usize = 80;

/// List the models the daemon can ask.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  palyra model list --ask\n  palyra model list demo")]
pub(crate) struct ListArgs {
    /// Only the models of this server
    server: Option<String>,
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
    let mut models = context.waiting("asking the providers", client.list_models(ask)).await?;
    if let Some(named) = &args.server {
        keep_server(&mut models, named)?;
    }
    if args.json {
        context.output.json(&to_json_with_defaults(&models))?;
        return Ok(Exit::Done);
    }
    let default = models.default_model.as_str();
    let row = |model: v1::Model| {
        let mark = if model.model == default { "*" } else { "" };
        let note = if model.error.is_empty() { &model.note } else { &model.error };
        let note = context.output.completed(note);
        // A provider whose models are not known yet.
        let name = if model.model.contains('/') { model.model } else { format!("{}/*", model.model) };
        [mark.to_owned(), name, model_window(model.context_tokens), note]
    };
    let rows = models.models.into_iter().map(row).collect();
    context.table(["", "MODEL", "WINDOW", "NOTE"], rows)?;
    for suggestion in &models.suggestions {
        context.output.note(NoteKind::Info, suggestion);
    }
    Ok(Exit::Done)
}

/// Keeps the models of the server that is named, also by one of its models.
fn keep_server(listed: &mut v1::ListModelsResponse, named: &str) -> Result<(), Failure> {
    let server = named.split('/').next().unwrap_or_default();
    listed.models.retain(|model| model.model.split('/').next() == Some(server));
    listed.suggestions.clear();
    if !listed.models.is_empty() {
        return Ok(());
    }
    Err(Failure::Input {
        code: ErrorCode::InvalidArgument,
        message: format!("there is no server `{}`", clean_line(server, NAME_CHARS_MAX)),
        mend: "`palyra model list` lists every server, `palyra model add` adds one".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_alone_or_with_a_model() {
        for (named, expect) in
            [("box", &["box/a", "box/b"][..]), ("box/a", &["box/a", "box/b"]), ("late", &["late"])]
        {
            let model = |name: &str| v1::Model { model: name.to_owned(), ..Default::default() };
            let models = ["demo/demo", "box/a", "box/b", "late"].map(model).into();
            let mut listed = v1::ListModelsResponse { models, ..Default::default() };
            keep_server(&mut listed, named).unwrap();
            let kept: Vec<&str> = listed.models.iter().map(|model| model.model.as_str()).collect();
            assert_eq!(kept, expect, "{named}");
            assert!(keep_server(&mut listed, "none").unwrap_err().lines()[1].contains("palyra model list"));
        }
    }
}
