//! `palyra run --preview-references`: what the references of a text become and cost, without a run.

use palyra_client::Client;
use palyra_wire::v1;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{reference_notes, reference_row, unknown_reference};
use palyra_terminal::NoteKind;

const NOTHING: &str = "the text has no reference, such as @file:PATH, @folder:PATH, @diff or @url:ADDRESS";

/// Shows each reference of what would be started.
pub(super) async fn show(
    context: &Context,
    client: &Client,
    start: v1::StartRunRequest,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    if let Some(note) = unknown_reference(&start.input) {
        context.output.note(NoteKind::Doubt, &note);
    }
    let request = v1::PreviewContextReferencesRequest { start: Some(start) };
    let preview = client.call_slowly(request).await?;
    reference_notes(&preview).for_each(|(kind, note)| context.output.note(kind, &note));
    context.list(format, preview.references, NOTHING, ["REFERENCE", "CALL", "TOKENS"], reference_row)
}
