//! One answer to every call that waits in this folder: no.
//!
//! Invariant: nothing is denied that was not listed before. There is no yes of this kind.

use palyra_client::Client;
use palyra_wire::v1;

use super::answer::{folder_of, send};
use super::no;
use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run_folder::current_folder;
use palyra_run_view::approval_row;
use palyra_screen_text::count;
use palyra_terminal::{NoteKind, OutputError, PromptReader, ReadingMode};

/// Denied by one command, at most; a second one denies more.
const DENIED_MAX: u32 = 500;

/// How everything is denied.
pub(super) struct DenyAllOrder {
    pub(super) confirmation: ConfirmationSource,
    /// The reason that the model gets.
    pub(super) note: String,
}

/// Where the confirmation is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfirmationSource {
    /// From the person at the terminal.
    Prompt,
    /// From the command line.
    Given,
}

/// Lists what waits in this folder, and denies it once that is confirmed.
pub(super) async fn run(
    context: &Context,
    client: &Client,
    order: DenyAllOrder,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    context.require_local("approve no --all")?;
    let request = v1::ListApprovalsRequest { page_size: DENIED_MAX, ..Default::default() };
    let approvals = client.call(request).await?.approvals;
    let all = approvals.len();
    let waiting = of_this_folder(client, approvals).await;
    if waiting.is_empty() {
        let elsewhere = match all {
            0 => String::new(),
            all => {
                format!("; `palyra approve` asks about the {} of other folders", count(all as u64, "call"))
            }
        };
        context
            .output
            .note(NoteKind::Info, &format!("nothing waits for an approval in this folder{elsewhere}"));
        return Ok(Exit::Done);
    }
    waiting.iter().for_each(|approval| context.output.row(&approval_row(approval).join("  ")));
    if order.confirmation == ConfirmationSource::Prompt && !confirmed(context, waiting.len()).await? {
        context.output.note(NoteKind::Info, "nothing was denied");
        return Ok(Exit::Cancelled);
    }
    let mut exit = Exit::Done;
    for approval in waiting {
        let sent = send(context, client, no(approval.approval_id, order.note.clone()), format).await?;
        if sent != Exit::Done {
            exit = sent;
        }
    }
    Ok(exit)
}

/// Returns whether one of these approvals waits for a run of this folder.
pub(super) async fn waits_here(client: &Client, approvals: &[v1::Approval]) -> bool {
    let here = current_folder();
    for approval in approvals.iter().filter(|approval| approval.state() == v1::ApprovalState::Pending) {
        if !here.is_empty() && folder_of(client, &approval.run_id).await == here {
            return true;
        }
    }
    false
}

async fn of_this_folder(client: &Client, approvals: Vec<v1::Approval>) -> Vec<v1::Approval> {
    let here = current_folder();
    let mut waiting = Vec::new();
    for approval in approvals {
        if !here.is_empty() && folder_of(client, &approval.run_id).await == here {
            waiting.push(approval);
        }
    }
    waiting
}

async fn confirmed(context: &Context, number: usize) -> Result<bool, Failure> {
    let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
        let message = "no terminal to ask at; add --yes to deny all calls that are listed above";
        return Err(Failure::Usage(message.to_owned()));
    };
    let question = format!("? deny {}? [y/N]", count(number as u64, "call"));
    let answer =
        reader.ask(&question, ReadingMode::Shown).await.map_err(OutputError::Failed)?.unwrap_or_default();
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
