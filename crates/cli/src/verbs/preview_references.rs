//! `palyra run --preview-references`: what the references of a text become and cost, without a run.

use palyra_client::Client;
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::reference_cost;
use palyra_screen_text::clean_line;
use palyra_terminal::NoteKind;

const WRITTEN_CHARS_MAX: usize = 80;
const NOTHING: &str = "the text has no reference, such as @file:PATH, @folder:PATH, @diff or @url:ADDRESS";

/// Shows each reference of what would be started.
pub(super) async fn show(
    context: &Context,
    client: &Client,
    start: v1::StartRunRequest,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let request = v1::PreviewContextReferencesRequest { start: Some(start) };
    let preview = client.call_slowly(request).await?;
    let v1::PreviewContextReferencesResponse { references, tokens_shown, surplus } = preview;
    if surplus > 0 {
        let note = format!("{surplus} further references stay plain text: an input has 8 at most");
        context.output.note(NoteKind::Doubt, &note);
    }
    if tokens_shown > 0 {
        let note = format!("about {tokens_shown} tokens would be shown to the model");
        context.output.note(NoteKind::Info, &note);
    }
    context.list(format, references, NOTHING, ["REFERENCE", "CALL", "TOKENS"], |reference| {
        let tool = if reference.tool.is_empty() { "none" } else { &reference.tool };
        [clean_line(&reference.written, WRITTEN_CHARS_MAX), tool.to_owned(), reference_cost(&reference)]
    })
}
